import type { Snippet } from '@isthmus/console';
import { invalid } from '@isthmus/console/internal/http/console-error.js';
import type { SnippetFacts } from '@isthmus/console/internal/inspect/inspect-options.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { type CommandTarget, quote } from '../target.js';
import { variablesOf } from './snippets.js';

/** The call for `curl`. A legacy server wants its handshake first, so that is in it, too. */
export function curlSnippet(facts: SnippetFacts, target: CommandTarget): Snippet {
  if (target.kind !== 'url')
    throw invalid('curl needs a server with a URL; copy the command of isthmus instead');
  const needs = variablesOf(target.headers);
  const own = Object.keys(target.headers).map((name, at) => `-H "${name}: $${needs[at]}"`);
  const head = [
    `curl -sS ${quote(target.url)}`,
    "-H 'Content-Type: application/json'",
    "-H 'Accept: application/json, text/event-stream'",
    ...own,
  ].join(' ');
  const lines = facts.era === 'modern' ? [modernLine(head, facts)] : legacyLines(head, facts);
  return { text: `${lines.join('\n')}\n`, needs };
}

function modernLine(head: string, { method, params, revision }: SnippetFacts): string {
  const { name, uri } = JSON.parse(params) as Record<string, unknown>;
  const about =
    method === 'resources/read' ? uri : /^(tools\/call|prompts\/get)$/.test(method) ? name : undefined;
  const headers = [
    `-H 'MCP-Protocol-Version: ${revision}'`,
    `-H ${quote(`Mcp-Method: ${method}`)}`,
    ...(about === undefined ? [] : [`-H ${quote(`Mcp-Name: ${String(about)}`)}`]),
  ];
  const meta = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientInfo': CLIENT,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  return `${head} ${headers.join(' ')} -d ${quote(request(2, method, withMeta(params, meta)))}`;
}

function legacyLines(head: string, { method, params, revision }: SnippetFacts): string[] {
  const hello = { protocolVersion: revision, capabilities: {}, clientInfo: CLIENT };
  const session = '-H "Mcp-Session-Id: $SESSION"';
  const version = `-H 'MCP-Protocol-Version: ${revision}'`;
  const initialize = quote(request(1, 'initialize', JSON.stringify(hello)));
  return [
    `SESSION=$(${head} -D - -o /dev/null -d ${initialize} | tr -d '\\r' | sed -n 's/^[Mm]cp-[Ss]ession-[Ii]d: //p')`,
    `${head} ${session} ${version} -d '{"jsonrpc":"2.0","method":"notifications/initialized"}'`,
    `${head} ${session} ${version} -d ${quote(request(2, method, params))}`,
  ];
}

function request(id: number, method: string, params: string): string {
  return `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${params}}`;
}

/** The text of the params stays as it was typed. */
function withMeta(params: string, meta: object): string {
  const given: unknown = JSON.parse(params);
  if (!isJsonObject(given)) throw invalid('"params" must be a JSON object');
  const rest = params.trim().slice(1).trim();
  const whole = isJsonObject(given['_meta'])
    ? JSON.stringify({ ...given, _meta: { ...given['_meta'], ...meta } })
    : undefined;
  return whole ?? `{"_meta":${JSON.stringify(meta)}${rest === '}' ? '' : ','}${rest}`;
}

const CLIENT = { name: 'curl', version: '0' };
