// biome-ignore-all lint/suspicious/noTemplateCurlyInString: headers name variables like that.
/** Options of other programs become options of ours. */
import { writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { addAttachOptions, authModeOf } from '../../src/attach/attach-options.js';
import { CliError } from '../../src/cli-error.js';
import { attachCommand } from '../../src/commands/attach.js';
import { listCommand } from '../../src/commands/list.js';
import { serveCommand } from '../../src/commands/serve.js';
import { toOurOptions } from '../../src/compat/to-our-options.js';
import { splitAtDashes } from '../../src/target.js';
import { freeFolder } from '../support/isthmus.js';

const COMMANDS = { serve: serveCommand, attach: attachCommand, list: listCommand };

/** The translated arguments; the command is after `--`. */
async function ours(name: keyof typeof COMMANDS, ...typed: string[]): Promise<string[]> {
  const { head: args, behind: afterDashes } = splitAtDashes(typed);
  const line = await toOurOptions(name, COMMANDS[name](undefined), { args, afterDashes });
  return [...line.args, ...(line.afterDashes ? ['--', ...line.afterDashes] : [])];
}

async function refusal(name: keyof typeof COMMANDS, ...typed: string[]): Promise<string> {
  const error = await ours(name, ...typed).catch((each: unknown) => each);
  if (!(error instanceof CliError)) throw new Error(`not refused: ${String(error)}`);
  expect(error.exitCode).toBe(2);
  return `${error.message} | ${error.hint}`;
}

describe('what users of supergateway type', () => {
  it.each<[string[], string[]]>([
    [
      ['--stdio', 'npx -y some-server "a b"'],
      ['--', 'npx', '-y', 'some-server', 'a b'],
    ],
    [
      ['--stdio', 'KEY=1 some-server'],
      ['--', '/bin/sh', '-c', 'KEY=1 some-server'],
    ],
    [
      ['--stdio', 'some-server $HOME/x'],
      ['--', '/bin/sh', '-c', 'exec some-server $HOME/x'],
    ],
    [
      ['--stdio=s', '--outputTransport', 'streamableHttp', '--port', '0'],
      ['--port', '0', '--', 's'],
    ],
    [
      ['--stdio', 's', '--outputTransport=stdio'],
      ['--listen', 'stdio', '--', 's'],
    ],
    [
      ['--sse', 'https://a.example/sse'],
      ['--upstream', 'https://a.example/sse', '--transport', 'sse-only', '--listen', 'stdio'],
    ],
    [
      ['--streamableHttp', 'https://a.example/mcp', '--oauth2Bearer', 'T0ken'],
      ['--upstream', 'https://a.example/mcp', '--header', 'Authorization: Bearer T0ken', '--listen', 'stdio'],
    ],
    [
      ['--streamable-http', 'https://a.example/mcp', '--output-transport', 'sse'],
      ['--upstream', 'https://a.example/mcp'],
    ],
    [
      ['--sse', 'https://a.example/sse', '-p8000'],
      ['--upstream', 'https://a.example/sse', '--transport', 'sse-only', '-p8000'],
    ],
    [
      ['--streamableHttpPath', '/x', '--logLevel', 'none'],
      ['--path', '/x', '--log-level', 'silent'],
    ],
    [
      ['--stateful', '--sessionTimeout', '60000'],
      ['--processes', 'per-conversation', '--session-timeout', '60000'],
    ],
    [['--cors'], ['--allow-origin', '*']],
    [
      ['--cors', 'https://a.example', 'https://b.example/', '--port', '1'],
      ['--allow-origin', 'https://a.example', '--allow-origin', 'https://b.example', '--port', '1'],
    ],
    [
      ['--healthEndpoint', '/up', '--ssePath', '/a', '--messagePath', '/b'],
      ['--health-path', '/up', '--sse-path', '/a', '--message-path', '/b'],
    ],
    [['--baseUrl', 'http://localhost:8000'], []],
    [
      ['--baseUrl', 'https://mcp.example.com'],
      ['--allow-host', 'mcp.example.com'],
    ],
    [
      ['--protocolVersion', '2025-06-18'],
      ['--era', '2025-06-18'],
    ],
  ])('%j', async (typed, expected) => {
    expect(await ours('serve', ...typed)).toEqual(expected);
  });
});

describe('what users of mcp-proxy (npm) type', () => {
  it.each<[string[], string[]]>([
    [
      ['--port', '9000', 'node', 'server.js', '-y'],
      ['--port', '9000', '--', 'node', 'server.js', '-y'],
    ],
    [
      ['--shell', '--', 'echo', '$A'],
      ['--', '/bin/sh', '-c', 'exec echo $A'],
    ],
    [
      ['--server', 'stream', '--endpoint', '/x'],
      ['--no-sse', '--path', '/x'],
    ],
    [
      ['--endpoint', '/x', '--server=sse'],
      ['--sse-path', '/x'],
    ],
    [
      ['--streamEndpoint', '/y', '--sseEndpoint', '/z'],
      ['--path', '/y', '--sse-path', '/z'],
    ],
    [
      ['--requestTimeout', '5', '--connectionTimeout', '6', '--gracefulShutdownTimeout', '7'],
      ['--timeout', '5', '--connect-timeout', '6', '--grace', '7'],
    ],
    [
      ['--sessionIdleTimeout', '8', '--maxBodySize', '9', '--apiKey', 'k'],
      ['--session-timeout', '8', '--max-body', '9', '--api-key', 'k'],
    ],
    [
      ['--no-eventStore', '--modern'],
      ['--resumable-events', '0'],
    ],
    [
      ['--eventStoreMaxEvents=10', '--eventStore'],
      ['--resumable-events', '10'],
    ],
    [
      ['--corsAddAllowedHeader', 'X-A'],
      ['--allow-header', 'X-A'],
    ],
    [
      ['--upstreamProtocol', 'auto', '--stateless=true'],
      ['--era', 'auto', '--stateless'],
    ],
    [['--debug=false', '--modern=false'], []],
  ])('%j', async (typed, expected) => {
    expect(await ours('serve', ...typed)).toEqual(expected);
  });
});

describe('what users of mcp-proxy (PyPI) type', () => {
  it.each<[string[], string[]]>([
    [
      ['--named-server', 'a', 'uvx server-a', '--named-server', 'b=uvx server-b'],
      ['--named-server', 'a=uvx server-a', '--named-server', 'b=uvx server-b'],
    ],
    [
      ['--named-server-config', 'f.json'],
      ['--config', 'f.json'],
    ],
    [['--pass-environment', '--no-stateless'], ['--pass-environment']],
    [['--no-pass-environment', '--no-debug'], []],
    [
      ['--allow-origin', 'https://a.example', '*'],
      ['--allow-origin', 'https://a.example', '--allow-origin', '*'],
    ],
    [
      ['--transport', 'streamablehttp', '--headers', 'X-A', 'b c', 'http://h:1/mcp'],
      ['--transport', 'http-only', '--header', 'X-A: b c', '--upstream', 'http://h:1/mcp'],
    ],
    [
      ['-H', 'Authorization', 'Bearer T0ken', 'http://h:1/sse'],
      ['--header', 'Authorization: Bearer T0ken', '--upstream', 'http://h:1/sse'],
    ],
    [
      ['-H', 'X-A: b'],
      ['--header', 'X-A: b'],
    ],
    [
      ['-e', 'A', '1', '--env', 'B', '2', '--', 'x'],
      ['--env', 'A=1', '--env', 'B=2', '--', 'x'],
    ],
    [
      ['-e', 'A', '1', 'node', 'server.js'],
      ['--env', 'A=1', '--', 'node', 'server.js'],
    ],
    [
      ['--env', 'A', '--', 'x'],
      ['--env', 'A', '--', 'x'],
    ],
    [
      ['--sse-port', '1', '--sse-host', '::1', '--log-level', 'WARNING'],
      ['--port', '1', '--host', '::1', '--log-level', 'warn'],
    ],
    [['--expose-header', 'Mcp-Session-Id', '--verify-ssl'], []],
  ])('%j', async (typed, expected) => {
    expect(await ours('serve', ...typed)).toEqual(expected);
  });
});

describe('what users of mcp-remote type', () => {
  it.each<[string[], string[]]>([
    [['https://a.example/mcp', '--allow-http', '--silent'], ['https://a.example/mcp']],
    [
      ['https://a.example/mcp', '--header', 'Authorization:${AUTH}', '--transport', 'sse-first'],
      ['https://a.example/mcp', '--header', 'Authorization:${AUTH}', '--transport', 'sse-first'],
    ],
    [
      ['https://a.example/mcp', '--protocol', 'auto'],
      ['https://a.example/mcp', '--era', 'auto'],
    ],
    [['https://a.example/mcp', '--enable-proxy', '--disable-cookies'], ['https://a.example/mcp']],
    [
      ['--transport', 'sse', 'http://h/sse'],
      ['--transport', 'sse-only', 'http://h/sse'],
    ],
  ])('%j', async (typed, expected) => {
    expect(await ours('attach', ...typed)).toEqual(expected);
  });

  it('headers of a file are sent, and are in no list of processes', async () => {
    const file = `${freeFolder()}/headers`;
    writeFileSync(file, '# ours\nAuthorization: Bearer s3cret\n\nX-A:b\n');
    expect(await ours('attach', 'http://h/mcp', '--header-file', file)).toEqual([
      'http://h/mcp',
      ...['--header', 'Authorization: Bearer s3cret', '--header', 'X-A:b'],
    ]);
    writeFileSync(file, 'X-A: b\nBearer s3cret\n');
    const why = await refusal('serve', '--header-file', file, 'http://h/mcp');
    expect(why).toBe(`Line 2 of ${file} is not a header | Write Name: value, one per line`);
  });
});

describe('values are left alone', () => {
  it.each<[keyof typeof COMMANDS, string[]]>([
    ['serve', ['--name', '--apiKey', '--', '--stdio', '--camelCase']],
    ['serve', ['--separator=--camelCase', '--', 'x']],
    ['serve', ['--cwd', '-e', '--', 'x', '-H', 'a', 'b']],
    ['list', ['http://h/mcp', '--header', '--fooBar']],
    ['attach', ['name', '--config', '--streamableHttp']],
  ])('%s %j', async (name, typed) => {
    expect(await ours(name, ...typed)).toEqual(typed);
  });

  it('options of ours are taken in camelCase, by every command', async () => {
    expect(await ours('serve', '--maxBody', '1', '--logFormat=json')).toEqual([
      '--max-body',
      '1',
      '--log-format=json',
    ]);
    expect(await ours('attach', 'x', '--passEnvironment')).toEqual(['x', '--pass-environment']);
  });

  it('an unknown option stays as it was typed, for the error message', async () => {
    expect(await ours('serve', '--quiteUnheardOf')).toEqual(['--quiteUnheardOf']);
    expect(await refusal('serve', '--outputTransprt', 'sse')).toBe(
      'There is no option --outputTransprt | Did you mean --output-transport?',
    );
  });
});

describe('a command without its --', () => {
  it('is taken where nothing else can be meant', async () => {
    expect(await ours('serve', '-q', 'node', '--inspect', 'x.js')).toEqual([
      '-q',
      '--',
      'node',
      '--inspect',
      'x.js',
    ]);
  });

  it.each<[string, string[]]>([
    ['an option behind it may be ours', ['node', 'x.js', '--port', '1']],
    ['also one that others have', ['node', 'x.js', '--outputTransport', 'sse']],
    ['there is no such program', ['no-such-program-at-all']],
    ['there is another after --', ['node', '--', 'x']],
  ])('is left where it is when %s', async (_why, typed) => {
    expect(await ours('serve', ...typed)).toEqual(typed);
  });

  it('a second address is not lost', async () => {
    expect(await ours('serve', 'http://a/', 'http://b/')).toEqual(['--upstream', 'http://a/', 'http://b/']);
  });
});

describe('what is not done is refused with the reason and the next step', () => {
  it.each<[keyof typeof COMMANDS, string[], string]>([
    ['serve', ['--stdio', 's', '--outputTransport', 'ws'], 'Use streamableHttp or sse'],
    ['serve', ['--stdio', 'a', '--stdio', 'b'], '--named-server NAME COMMAND'],
    ['serve', ['--stdio', 'a', '--', 'b'], 'Two commands: a, and the one after --'],
    ['serve', ['--stdio', ' '], '--stdio has no command'],
    ['serve', ['--cors', '/x/'], 'Name each origin'],
    ['serve', ['--baseUrl', 'https://h/prefix'], 'Let the proxy forward requests without this path'],
    ['serve', ['--server', 'ws'], 'Write sse or stream'],
    ['serve', ['--streamableHttpPath', 'mcp'], 'A path starts with /'],
    ['serve', ['--tunnel'], 'Start a tunnel of your own'],
    ['serve', ['--sslCert', 'x'], 'Give the certificate to Caddy, nginx or the like'],
    ['serve', ['--no-modern'], 'isthmus always serves clients of both eras'],
    ['serve', ['--maxBodySize', '0'], '--max-body 1073741824'],
    ['serve', ['--sessionIdleTimeout', '0'], '--session-timeout 86400000'],
    ['serve', ['--keepAliveTimeout', '5'], '--session-timeout MS'],
    ['serve', ['--shell'], '--shell needs a command'],
    ['serve', ['--expose-header', 'X-A'], 'Leave it out'],
    ['serve', ['--no-verify-ssl'], 'NODE_EXTRA_CA_CERTS=ca.pem'],
    ['serve', ['--verify-ssl', '/ca.pem'], 'NODE_EXTRA_CA_CERTS=/ca.pem'],
    ['serve', ['--env', 'TOKEN', 'some-server'], 'Write --env TOKEN=VALUE'],
    ['serve', ['--named-server', 'a'], '--named-server a has no command'],
    ['attach', ['https://h/mcp', '--static-oauth-client-info', '{"client_secret":"s3cret"}'], 'no client_id'],
    ['attach', ['https://h/mcp', '--static-oauth-client-info', 's3cret'], 'is not a JSON object'],
    ['attach', ['https://h/mcp', '--auth-success-url', 'https://h/done'], 'always that of Isthmus'],
    ['attach', ['https://h/mcp', '--use-id-token'], 'is not an access token'],
    ['attach', ['https://h/mcp', '--debug'], 'isthmus probe URL'],
    ['attach', ['https://h/mcp', '--keep-alive'], 'the next call opens a new session'],
    ['attach', ['https://h/mcp', '--body-timeout', '0'], 'Use --timeout MS'],
    ['attach', ['https://h/mcp', '--ipv4'], '--dns-result-order=ipv4first'],
    ['attach', ['https://h/mcp', '--protocol', 'newest'], 'Write auto, legacy or modern'],
  ])('%s %j', async (name, typed, words) => {
    const why = await refusal(name, ...typed);
    expect(why).toContain(words);
    expect(why).not.toContain('s3cret');
  });
});

describe('the login of mcp-remote', () => {
  it.each<[string[], string[]]>([
    [['3334'], ['--callback-port', '3334']],
    [
      ['--host', 'localhost', '--callback-path', '/done'],
      ['--callback-host', 'localhost', '--callback-path', '/done'],
    ],
    [
      ['--resource', 'https://h/', '--authorize-param', 'prompt=login'],
      ['--resource', 'https://h/', '--authorize-param', 'prompt=login'],
    ],
    [['--disable-resource-parameter'], ['--no-resource']],
    [
      ['--auth-timeout', '60'],
      ['--login-timeout', '60s'],
    ],
    [['--device-code'], ['--device']],
    [
      ['--client-metadata-url', 'https://h/client.json'],
      ['--client-metadata-url', 'https://h/client.json'],
    ],
    [
      ['--static-oauth-client-info', '{"client_id":"c","client_secret":"s"}'],
      ['--client-id', 'c', '--client-secret', 's'],
    ],
    [
      ['--static-oauth-client-metadata', '{"scope":"a b","client_name":"x"}'],
      ['--scope', 'a b'],
    ],
    [
      ['--client-credentials', '--token-endpoint', 'https://a/token'],
      ['--auth', 'client-credentials', '--token-endpoint', 'https://a/token'],
    ],
    [
      ['--client-id', 'c', '--client-secret', 's', '--token-url', 'https://a/token'],
      [
        ...['--client-id', 'c', '--client-secret', 's'],
        ...['--auth', 'client-credentials', '--token-endpoint', 'https://a/token'],
      ],
    ],
  ])('%j', async (typed, expected) => {
    expect(await ours('attach', 'https://h/mcp', ...typed)).toEqual(['https://h/mcp', ...expected]);
  });

  it.each<[string[], string[], string | undefined]>([
    [['https://h/mcp'], [], 'browser'],
    [['https://h/mcp'], ['--auth', 'stored'], 'stored'],
    [[], ['--url', 'https://h/mcp'], undefined],
    [[], ['--url', 'https://h/mcp', '--callback-port', '1'], 'browser'],
    [[], ['--url', 'https://h/mcp', '--no-browser'], 'browser'],
    [['weather'], [], undefined],
  ])('%j %j: the mode is %s', (words, typed, mode) => {
    const command = addAttachOptions(new Command())
      .argument('[args...]')
      .action(() => {});
    command.parse([...words, ...typed], { from: 'user' });
    expect(authModeOf(words, command.opts())).toBe(mode);
  });
});
