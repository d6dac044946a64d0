import type { Snippet } from '@isthmus/console';
import { invalid } from '@isthmus/console/internal/http/console-error.js';
import type { SnippetFacts } from '@isthmus/console/internal/inspect/inspect-options.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { type CommandTarget, commandLineFor, quote } from '../target.js';
import { curlSnippet } from './curl-snippet.js';

/** A line or a program that does the same as a call. Values of variables and headers become the names of variables. */
export function snippetFor(facts: SnippetFacts, target: CommandTarget): Snippet {
  switch (facts.kind) {
    case 'cli':
      return cliSnippet(facts, target);
    case 'curl':
      return curlSnippet(facts, target);
    case 'test':
      return testSnippet(facts, target);
    case 'config':
      return configSnippet(target);
    case 'json':
      return {
        text: `{"jsonrpc":"2.0","id":1,"method":${JSON.stringify(facts.method)},"params":${facts.params}}`,
        needs: [],
      };
  }
}

function cliSnippet({ method, params, args: text }: SnippetFacts, target: CommandTarget): Snippet {
  const words = wordsFor(method, objectIn(params), text);
  const [name, ...rest] = words as [string, ...string[]];
  const typed = rest.map(quote);
  if (target.files) return { text: commandLineFor(name, target.files, target.name, ...typed), needs: [] };
  const { options, needs } = optionsOf(target);
  const behind = target.kind === 'command' ? ['--', ...[target.command, ...target.args].map(quote)] : [];
  const address =
    target.kind === 'command' ? [] : [quote(target.kind === 'url' ? target.url : target.address)];
  return { text: ['isthmus', name, ...address, ...typed, ...options, ...behind].join(' '), needs };
}

/** The subcommand and its arguments. */
function wordsFor(method: string, params: JsonObject, text: string | undefined): string[] {
  const { name, uri } = params;
  const args = text === undefined || text === '{}' ? [] : ['--args', text];
  if (method === 'tools/call') return ['call', String(name), ...args];
  if (method === 'resources/read') return ['read', String(uri)];
  if (method === 'prompts/get') {
    const given = isJsonObject(params['arguments']) ? params['arguments'] : {};
    return [
      'prompt',
      String(name),
      ...Object.entries(given).map(([key, value]) => `${key}=${String(value)}`),
    ];
  }
  const list = /^(tools|resources|prompts)\/list$/.exec(method)?.[1];
  if (list !== undefined) return ['list', list];
  if (method === 'resources/templates/list') return ['list', 'templates'];
  throw invalid(`There is no command for ${method}; copy it as JSON instead`);
}

/** Variables and headers of the command line. Their values are not repeated. */
function optionsOf(target: CommandTarget): { readonly options: string[]; readonly needs: string[] } {
  if (target.kind === 'command') {
    const needs = Object.keys(target.env);
    return { options: needs.flatMap((name) => ['--env', name]), needs };
  }
  if (target.kind === 'socket') return { options: [], needs: [] };
  const needs = variablesOf(target.headers);
  const options = Object.keys(target.headers).map((name, at) => `--header '${name}: \${${needs[at]}}'`);
  return { options, needs };
}

/** A variable for each header: `authorization` becomes AUTHORIZATION. */
export function variablesOf(headers: Readonly<Record<string, string>>): string[] {
  return Object.keys(headers).map((name) => name.toUpperCase().replace(/[^A-Z0-9]/g, '_'));
}

function testSnippet(facts: SnippetFacts, target: CommandTarget): Snippet {
  const { needs } = optionsOf(target);
  const { imports, connector } = connectorCode(target);
  const text = `${imports}
import { connect } from 'isthmus/client';
import { expect, it } from 'vitest';

it(${JSON.stringify(`answers ${facts.method}`)}, async () => {
  const client = await connect(${connector});
  try {
    const result = ${callCode(facts)};
    expect(result).toBeDefined();
  } finally {
    await client.close();
  }
});
`;
  return { text, needs };
}

function callCode({ method, params, args = '{}' }: SnippetFacts): string {
  const { name, uri } = objectIn(params);
  const word = JSON.stringify(name ?? uri);
  if (method === 'tools/call') return `await client.callTool(${word}, ${args})`;
  if (method === 'resources/read') return `await client.readResource(${word})`;
  if (method === 'prompts/get') return `await client.getPrompt(${word}, ${args})`;
  if (method === 'tools/list') return 'await client.listTools()';
  if (method === 'resources/list') return 'await client.listResources()';
  if (method === 'resources/templates/list') return 'await client.listResourceTemplates()';
  if (method === 'prompts/list') return 'await client.listPrompts()';
  throw invalid(`There is no test for ${method}; copy it as JSON instead`);
}

function connectorCode(target: CommandTarget): { readonly imports: string; readonly connector: string } {
  const fromEnv = (names: readonly string[], keys: readonly string[]) =>
    keys
      .map((key, at) => `${JSON.stringify(key)}: process.env[${JSON.stringify(names[at])}] ?? ''`)
      .join(', ');
  if (target.kind === 'command') {
    const { command, args, env } = target;
    const names = Object.keys(env);
    const variables = names.length === 0 ? '' : `, env: { ${fromEnv(names, names)} }`;
    const what = `{ command: ${JSON.stringify(command)}, args: ${JSON.stringify(args)}${variables} }`;
    return { imports: "import { stdio } from 'isthmus/stdio';", connector: `stdio(${what})` };
  }
  if (target.kind === 'url') {
    const names = Object.keys(target.headers);
    const values = fromEnv(variablesOf(target.headers), names);
    const headers = names.length === 0 ? '' : `, { headers: { ${values} } }`;
    return {
      imports: "import { http } from 'isthmus/http';",
      connector: `http(${JSON.stringify(target.url)}${headers})`,
    };
  }
  const [, host = '', port = ''] = /^tcp:\/\/(.*):(\d+)$/.exec(target.address) ?? [];
  if (port !== '')
    return {
      imports: "import { tcp } from 'isthmus/socket';",
      connector: `tcp({ host: ${JSON.stringify(host.replace(/^\[|\]$/g, ''))}, port: ${port} })`,
    };
  const path = JSON.stringify(target.address.slice('unix:'.length));
  return { imports: "import { unixSocket } from 'isthmus/socket';", connector: `unixSocket(${path})` };
}

/** An entry for the file of a client, in the form that most of them read. */
function configSnippet(target: CommandTarget): Snippet {
  const { needs } = optionsOf(target);
  const entry = (value: object) =>
    `${JSON.stringify({ mcpServers: { [plainName(target.name)]: value } }, null, 2)}\n`;
  if (target.kind === 'command') {
    const { command, args, env } = target;
    const names = Object.keys(env);
    const variables = Object.fromEntries(names.map((name) => [name, `\${${name}}`]));
    return { text: entry({ command, args, ...(names.length > 0 && { env: variables }) }), needs };
  }
  if (target.kind === 'url') {
    const names = Object.keys(target.headers);
    const headers = Object.fromEntries(names.map((name, at) => [name, `\${${needs[at]}}`]));
    return { text: entry({ type: 'http', url: target.url, ...(names.length > 0 && { headers }) }), needs };
  }
  // A client cannot use a socket by itself.
  return {
    text: entry({ command: 'isthmus', args: ['serve', '--listen', 'stdio', '--upstream', target.address] }),
    needs,
  };
}

function objectIn(params: string): JsonObject {
  try {
    const value: unknown = JSON.parse(params);
    if (isJsonObject(value)) return value;
  } catch {
    // Below.
  }
  throw invalid('"params" must be a JSON object');
}

/** Some clients refuse spaces and slashes in names. */
function plainName(name: string): string {
  return name.replace(/[^\w.-]+/g, '-').replace(/^-+|-+$/g, '') || 'server';
}
