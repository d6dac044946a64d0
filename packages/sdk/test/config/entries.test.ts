// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the references of configuration files look like that.
/** What a server may look like, and what is said when it does not. */
import { describe, expect, it } from 'vitest';
import { read, readOne, server } from '../support/config.js';

const COMMAND = { kind: 'command', name: 'x', command: 'c', args: [], env: {} };
const URL_ENTRY = { kind: 'url', name: 'x', url: 'https://a.example/mcp', headers: {} };

describe('a command', () => {
  it.each<[unknown, Record<string, unknown>]>([
    [{ command: 'c' }, COMMAND],
    [
      { command: 'c', args: ['a', 1, true] },
      { ...COMMAND, args: ['a', '1', 'true'] },
    ],
    [{ command: ['c', 'a', 'b'] }, { ...COMMAND, args: ['a', 'b'] }],
    [
      { command: ['c', 'a'], args: ['b'] },
      { ...COMMAND, args: ['a', 'b'] },
    ],
    [{ command: { path: 'c', args: ['a'], env: { A: '1' } } }, { ...COMMAND, args: ['a'], env: { A: '1' } }],
    [
      { command: 'c', env: { A: '', N: 8080, T: true, GONE: null } },
      { ...COMMAND, env: { A: '', N: '8080', T: 'true' } },
    ],
    [{ command: 'c', type: 'stdio' }, COMMAND],
    [{ command: 'c', type: 'stdio', url: 'ignored' }, COMMAND],
    [{ command: 'c', autoApprove: ['x'], description: 'd', model: 'm', node: 1 }, COMMAND],
    [{ command: 'c', args: null, env: null }, COMMAND],
  ])('%j', async (given, entry) => {
    expect(await readOne(given, { workspaceFolder: '/w' })).toEqual({ ...entry, cwd: '/w' });
  });

  it.each<[Record<string, unknown>, { command: string; cwd: string }]>([
    [{ command: 'node' }, { command: 'node', cwd: '/w' }],
    [{ command: './server.js' }, { command: '/w/server.js', cwd: '/w' }],
    [{ command: 'bin/server' }, { command: '/w/bin/server', cwd: '/w' }],
    [
      { command: './s', cwd: 'sub' },
      { command: '/w/sub/s', cwd: '/w/sub' },
    ],
    [
      { command: '/abs/s', cwd: '../up' },
      { command: '/abs/s', cwd: '/up' },
    ],
    [
      { command: '~/s', cwd: '~' },
      { command: '/home/ada/s', cwd: '/home/ada' },
    ],
    [{ command: '~ada/s' }, { command: '/w/~ada/s', cwd: '/w' }],
    [{ command: 'C:\\tools\\s.exe' }, { command: 'C:\\tools\\s.exe', cwd: '/w' }],
  ])('%j is relative to the project', async (given, paths) => {
    expect(await readOne(given, { workspaceFolder: '/w' })).toMatchObject(paths);
  });

  it('keeps a home folder that looks like a reference', async () => {
    expect(await readOne({ command: '~/s' }, { home: '/h/${X}' })).toMatchObject({ command: '/h/${X}/s' });
  });
});

describe('a URL', () => {
  it.each<[unknown, string]>([
    [{ url: 'https://a.example/mcp' }, 'auto'],
    [{ serverUrl: 'https://a.example/mcp' }, 'auto'],
    [{ httpUrl: 'https://a.example/mcp' }, 'http'],
    [{ url: 'https://a.example/mcp', type: 'http' }, 'http'],
    [{ url: 'https://a.example/mcp', type: 'streamable-http' }, 'http'],
    [{ url: 'https://a.example/mcp', type: 'streamableHttp' }, 'http'],
    [{ url: 'https://a.example/mcp', type: 'sse' }, 'sse'],
    [{ url: 'https://a.example/mcp', transport: 'sse' }, 'sse'],
    [{ url: 'https://a.example/mcp', type: 'sse', command: 'ignored' }, 'sse'],
  ])('%j', async (given, transport) => {
    expect(await readOne(given)).toEqual({ ...URL_ENTRY, transport });
  });
});

describe('what is wrong costs the server, and is named', () => {
  it.each<[unknown, string]>([
    [7, 'error 3:5 mcpServers.x: must be an object, not a number'],
    [{}, 'error 3:5 mcpServers.x: has neither command nor url'],
    [
      { command: 'c', url: 'https://a.example' },
      'error 3:5 mcpServers.x: has both command and url; set type to say which one counts',
    ],
    [
      { type: 'stdio', url: 'https://a.example' },
      'error 3:5 mcpServers.x: has no command, but its type needs one',
    ],
    [{ type: 'http', command: 'c' }, 'error 3:5 mcpServers.x: has no url, but its type needs one'],
    [
      { type: 'ws', url: 'ws://a' },
      'error 4:7 mcpServers.x.type: must be stdio, http, streamable-http or sse',
    ],
    [{ command: '' }, 'error 4:7 mcpServers.x.command: must be a string, not an empty string'],
    [{ command: [] }, 'error 4:7 mcpServers.x.command: must be a string, not an empty string'],
    [{ command: 7 }, 'error 4:7 mcpServers.x.command: must be a string, not a number'],
    [{ command: { args: [] } }, 'error 4:7 mcpServers.x.command.path: must be a string, not an empty string'],
    [{ command: 'c', args: 'a b' }, 'error 5:7 mcpServers.x.args: must be a list of strings, not a string'],
    [{ command: 'c', args: ['a', {}] }, 'error 7:9 mcpServers.x.args[1]: must be a string, not an object'],
    [{ command: 'c', args: ['a\0b'] }, 'error 6:9 mcpServers.x.args[0]: cannot contain the character NUL'],
    [{ command: 'c', env: ['A=1'] }, 'error 5:7 mcpServers.x.env: must be an object of strings, not a list'],
    [{ command: 'c', env: { A: [] } }, 'error 6:9 mcpServers.x.env.A: must be a string, not a list'],
    [{ command: 'c', env: { 'A=B': '' } }, 'error 6:9 mcpServers.x.env["A=B"]: is not a valid variable name'],
    [{ command: 'c', cwd: 7 }, 'error 5:7 mcpServers.x.cwd: must be a string, not a number'],
    [{ url: 'a.example' }, 'error 4:7 mcpServers.x.url: must be a URL that begins with http:// or https://'],
    [{ url: 'ftp://a' }, 'error 4:7 mcpServers.x.url: must be a URL that begins with http:// or https://'],
    [
      { url: 'https://a', headers: { 'a b': '' } },
      'error 6:9 mcpServers.x.headers["a b"]: is not a valid header name',
    ],
    [
      { url: 'https://me:pass@a.example' },
      'error 4:7 mcpServers.x.url: cannot contain a user name or password',
    ],
    [
      { url: 'https://a', headers: { A: 'x\u2713' } },
      'error 6:9 mcpServers.x.headers.A: has characters that a header cannot contain',
    ],
    [{ url: 'https://a', headers: { A: 'x\ny' } }, 'error 6:9 mcpServers.x.headers.A: must be a single line'],
    [
      { url: 'https://a', bearer_token_env_var: 'T' },
      'error 5:7 mcpServers.x.bearer_token_env_var: the variable T is not set',
    ],
  ])('%j', async (given, problem) => {
    const { servers, problems } = await read(server(given));
    expect(problems).toEqual([problem]);
    expect(Object.keys(servers)).toEqual([]);
  });

  it('says all of it at once', async () => {
    const { problems } = await read(server({ command: '${A}', args: ['${B}'], env: { C: '${C}' } }));
    expect(problems).toEqual([
      'error 4:7 mcpServers.x.command: the variable A is not set',
      'error 6:9 mcpServers.x.args[0]: the variable B is not set',
      'error 9:9 mcpServers.x.env.C: the variable C is not set',
    ]);
  });

  it('is only a warning when the server is disabled anyway', async () => {
    const { servers, problems } = await read(server({ command: '${A}', disabled: true }));
    expect(problems).toEqual(['warning 4:7 mcpServers.x.command: the variable A is not set']);
    expect(Object.keys(servers)).toEqual([]);
  });
});

describe('a key that is almost known', () => {
  it.each<[unknown, string]>([
    [{ comand: 'c', url: 'https://a' }, 'mcpServers.x.comand: is not known; did you mean command?'],
    [{ command: 'c', arg: [] }, 'mcpServers.x.arg: is not known; did you mean args?'],
    [{ command: 'c', evn: {} }, 'mcpServers.x.evn: is not known; did you mean env?'],
    [{ command: 'c', Args: [] }, 'mcpServers.x.Args: is not known; did you mean args?'],
    [{ command: 'c', environment: {} }, 'mcpServers.x.environment: is not known; did you mean env?'],
    [{ url: 'https://a', header: {} }, 'mcpServers.x.header: is not known; did you mean headers?'],
    [{ cmd: 'c', url: 'https://a' }, 'mcpServers.x.cmd: is not known; did you mean command?'],
    [{ command: 'c', maxQueu: 1 }, 'mcpServers.x.maxQueu: is not known; did you mean maxQueue?'],
  ])('%j', async (given, text) => {
    const { servers, problems } = await read(server(given));
    expect(problems.map((each) => each.replace(/^warning \d+:\d+ /, ''))).toEqual([text]);
    expect(Object.keys(servers)).toEqual(['x']);
  });

  it('is left alone when the known one is there too', async () => {
    const { problems } = await read(server({ command: 'c', args: [], arg: [], comand: 1, toString: 1 }));
    expect(problems).toEqual([]);
  });

  it('is named beside the error when nothing else is there', async () => {
    expect((await read(server({ comand: 'c' }))).problems).toEqual([
      'warning 4:7 mcpServers.x.comand: is not known; did you mean command?',
      'error 3:5 mcpServers.x: has neither command nor url',
    ]);
  });

  it('may be a command line in one string', async () => {
    const { servers, problems } = await read(server({ command: 'npx -y thing' }));
    expect(problems).toEqual([
      'warning 4:7 mcpServers.x.command: looks like a whole command line; put its arguments into args',
    ]);
    expect(servers['x']).toMatchObject({ command: 'npx -y thing' });
  });
});
