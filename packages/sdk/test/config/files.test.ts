// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the references of configuration files look like that.
/** Files as a whole: broken, missing, several, hostile, and where they are looked for. */
import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeProblem, knownFiles, readServers, requireServers } from '../../src/config/index.js';
import { folderWith, read } from '../support/config.js';

describe('one bad server', () => {
  it('D-2: one bad server beside a good one: the good one is read, the bad one reported with reason', async () => {
    const folder = folderWith({
      '.mcp.json': `{
  "mcpServers": {
    "bad": { "command": "npx", "env": { "KEY": "\${NOT_SET}" } },
    "good": { "command": "npx" }
  }
}`,
    });
    const file = join(folder, '.mcp.json');
    expect(await readServers(file, { env: {} })).toEqual({
      servers: {
        good: {
          kind: 'command',
          name: 'good',
          command: 'npx',
          args: [],
          env: {},
          cwd: folder,
          source: { file, line: 4, key: 'mcpServers.good' },
        },
      },
      problems: [
        {
          severity: 'error',
          file,
          line: 3,
          column: 41,
          key: 'mcpServers.bad.env.KEY',
          message: 'the variable NOT_SET is not set',
          hint: 'set NOT_SET in the environment, or write ${NOT_SET:-DEFAULT}',
          missing: 'NOT_SET',
          server: 'bad',
        },
      ],
      gateway: {},
    });
  });

  it.each<[string, string]>([
    ['', 'the name of a server cannot be empty'],
    ['  ', 'the name of a server cannot be empty'],
    ['x'.repeat(129), 'the name of a server cannot be longer than 128 characters'],
    ['a\u0007b', 'the name of a server cannot contain unprintable characters'],
    ['a\u202eb', 'the name of a server cannot contain unprintable characters'],
    ['__proto__', 'is not allowed as the name of a server'],
  ])('cannot be called %j', async (name, message) => {
    const text = `{ "mcpServers": { ${JSON.stringify(name)}: { "command": "c" }, "ok": { "command": "c" } } }`;
    const { servers, problems } = await read(text);
    expect(Object.keys(servers)).toEqual(['ok']);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(message);
    expect(Object.prototype).not.toHaveProperty('command');
  });

  it('may be called anything else', async () => {
    const names = ['constructor', 'toString', 'x'.repeat(128), 'wetter 🌦 für Köln', 'a.b/c'];
    const servers = Object.fromEntries(names.map((name) => [name, { command: 'c' }]));
    const seen = await read(JSON.stringify({ mcpServers: servers }));
    expect(seen.problems).toEqual([]);
    expect(Object.keys(seen.servers)).toEqual(names);
    expect(seen.servers['valueOf']).toBeUndefined();
  });

  it('cannot reach a prototype by any key', async () => {
    const { servers, problems } = await read(
      '{ "__proto__": { "polluted": 1 }, "mcpServers": { "x": { "command": "c", "__proto__": { "polluted": 1 }, "env": { "__proto__": "v" } } } }',
    );
    expect(problems).toEqual([]);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(Object.entries((servers['x'] as { env: object }).env)).toEqual([['__proto__', 'v']]);
  });

  it('defined twice in one file is told, and the last one counts', async () => {
    const { servers, problems } = await read(
      '{ "mcpServers": {\n "x": { "command": "a" },\n "x": { "command": "b" } } }',
    );
    expect(servers['x']).toMatchObject({ command: 'b', source: { line: 3 } });
    expect(problems).toEqual(['warning 3:2 mcpServers.x: is defined twice; the last definition counts']);
  });
});

describe('a file that cannot be parsed', () => {
  it.each<[string, string, string]>([
    ['.mcp.json', '', 'error 1:1 : the file is empty; expected an object with mcpServers'],
    ['.mcp.json', '{ "a": 1\n  "b": 2 }', 'error 2:3 : expected a comma'],
    ['.mcp.json', '{ "a": [1 2] }', 'error 1:11 : expected a comma'],
    ['.mcp.json', '{\n  "a" 1 }', 'error 2:7 : expected a colon'],
    ['.mcp.json', '{ "a": }', 'error 1:8 : expected a value'],
    ['.mcp.json', '{ a: 1 }', 'error 1:3 : expected a value: text needs double quotes'],
    ['.mcp.json', '{ "a": 1', 'error 1:9 : expected a comma or a closing }'],
    [
      '.mcp.json',
      '{ "a": "C:\\x" }',
      'error 1:8 : expected a valid escape: a backslash in a string is written \\\\',
    ],
    ['.mcp.json', '{ "a": "open }', 'error 1:8 : expected the closing quote of a string'],
    ['.mcp.json', '{} {}', 'error 1:4 : expected the end of the file'],
    ['.mcp.json', '[]', 'error 1:1 : must be an object with mcpServers, not a list'],
    ['.mcp.json', '{ "mcpServers": [] }', 'error 1:3 mcpServers: must be an object of servers, not a list'],
    ['config.toml', 'a = 1\nb = secret', 'error 2:5 : expected TOML: invalid value'],
    [
      'config.toml',
      '[a]\n[a]',
      'error 2:2 : expected TOML: trying to redefine an already defined table or value',
    ],
  ])('%s %j', async (as, text, problem) => {
    expect((await read(text, { as })).problems).toEqual([problem]);
  });

  it('nested too deeply is an error like any other', async () => {
    const { problems } = await read(`${'['.repeat(200_000)}${']'.repeat(200_000)}`);
    expect(problems).toEqual(['error 1:1 : expected fewer levels of nesting']);
  });

  it('without servers is a warning, since files of others may have none', async () => {
    expect((await read('{ "theme": "dark" }')).problems).toEqual([
      'warning 1:1 : names no servers; expected one of mcpServers, servers, mcp_servers, context_servers',
    ]);
    expect((await read('model = "x"', { as: 'config.toml' })).problems).toHaveLength(1);
    expect((await read('{ "a": { "command": "x" } }')).problems).toEqual([
      'warning 1:1 : has servers without "mcpServers": write {"mcpServers": {"NAME": {…}}}',
    ]);
    expect((await read('{ "mcpServer": {} }')).problems).toEqual([
      'warning 1:3 mcpServer: is not known; did you mean mcpServers?',
    ]);
  });

  it('may have a byte order mark, comments and trailing commas', async () => {
    const { servers, problems } = await read(
      '\uFEFF// hello\r\n{ /* x */ "mcpServers": {\r\n  "x": { "command": "c", "args": ["a",], },\r\n}, }\r\n',
    );
    expect(problems).toEqual([]);
    expect(servers['x']).toMatchObject({ args: ['a'], source: { line: 3 } });
  });

  it('is not text', async () => {
    expect((await read(new Uint8Array([0x7b, 0xff, 0x7d]))).problems).toEqual([
      'error 0:0 : the file cannot be read: it is not UTF-8 text',
    ]);
  });
});

describe('a file that cannot be read', () => {
  it('is an error, and does not cost the servers of another', async () => {
    const folder = folderWith({ 'a.json': '{ "mcpServers": { "x": { "command": "c" } } }' });
    const { servers, problems } = await readServers(['none.json', 'a.json', '.'], { cwd: folder });
    expect(Object.keys(servers)).toEqual(['x']);
    expect(problems.map(describeProblem)).toEqual([
      `${join(folder, 'none.json')}: the file cannot be read: there is no such file`,
      `${folder}: the file cannot be read: it is a folder`,
    ]);
  });

  it('may be skipped when it is not there', async () => {
    expect(await readServers('/no/such/file', { skipMissing: true })).toEqual({
      servers: {},
      problems: [],
      gateway: {},
    });
  });

  it('is read and never written', async () => {
    const folder = folderWith({ 'a.json': '{ "mcpServers": { "x": { "comand": "c" } } } // kept' });
    const file = join(folder, 'a.json');
    chmodSync(file, 0o444);
    const before = statSync(file).mtimeMs;
    await readServers(file);
    expect(readFileSync(file, 'utf8')).toBe('{ "mcpServers": { "x": { "comand": "c" } } } // kept');
    expect(statSync(file).mtimeMs).toBe(before);
  });

  it('may be a pipe', async () => {
    const folder = folderWith({ 'a.json': '{ "mcpServers": { "x": { "command": "c" } } }' });
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    execFileSync('sh', ['-c', 'cat a.json > pipe & '], { cwd: folder, stdio: 'ignore' });
    const { servers } = await readServers('pipe', { cwd: folder });
    expect(Object.keys(servers)).toEqual(['x']);
  });
});

describe('several files', () => {
  it('override each other by name, and remember whom', async () => {
    const folder = folderWith({
      'a.json': '{ "mcpServers": {\n "x": { "command": "a" }, "only": { "command": "a" } } }',
      'b.json': '{ "servers": {\n\n "x": { "command": "b" } } }',
      'c.toml': '[mcp_servers.x]\ncommand = "c"',
    });
    const { servers } = await readServers(['a.json', 'b.json', 'c.toml'], { cwd: folder });
    expect(servers['only']).not.toHaveProperty('overrides');
    expect(servers['x']).toMatchObject({
      command: 'c',
      source: { file: join(folder, 'c.toml'), line: 1, key: 'mcp_servers.x' },
      overrides: [
        { file: join(folder, 'b.json'), line: 3, key: 'servers.x' },
        { file: join(folder, 'a.json'), line: 2, key: 'mcpServers.x' },
      ],
    });
  });

  it('override also with a definition that is wrong: the earlier one is not what was asked for', async () => {
    const folder = folderWith({
      'a.json': '{ "mcpServers": { "x": { "command": "a" } } }',
      'b.json': '{ "mcpServers": { "x": { "command": 7 } } }',
    });
    const { servers, problems } = await readServers(['a.json', 'b.json'], { cwd: folder });
    expect(Object.keys(servers)).toEqual([]);
    expect(problems).toHaveLength(1);
  });
});

describe('requireServers', () => {
  it('gives the servers, or throws one error that lists what is wrong', async () => {
    const folder = folderWith({
      'a.json': '{ "mcpServers": { "x": { "command": "c", "evn": {} } } }',
      'b.json': '{ "mcpServers": { "y": {}, "z": { "command": "${A}" } } }',
    });
    expect(Object.keys(await requireServers('a.json', { cwd: folder }))).toEqual(['x']);
    await expect(requireServers(['a.json', 'b.json'], { cwd: folder, env: {} })).rejects.toMatchObject({
      name: 'IsthmusError',
      code: 'INVALID_OPTION',
      evidence: [
        `${join(folder, 'b.json')}:1:19 mcpServers.y: has neither command nor url`,
        `${join(folder, 'b.json')}:1:35 mcpServers.z.command: the variable A is not set`,
      ],
    });
  });
});

describe('the workspace', () => {
  it.each<[string, string]>([
    ['p/.mcp.json', '/p'],
    ['p/servers.json', '/p'],
    ['p/.vscode/mcp.json', '/p'],
    ['p/.cursor/mcp.json', '/p'],
    ['p/.zed/settings.json', '/p'],
  ])('of %s is %s', async (as, project) => {
    const { folder, servers } = await read('{ "mcpServers": { "x": { "command": "c" } } }', { as });
    expect(servers['x']).toMatchObject({ cwd: `${folder}${project}` });
  });

  it('of a file that belongs to the user is the current folder', async () => {
    const home = folderWith({ '.cursor/mcp.json': '{ "mcpServers": { "x": { "command": "c" } } }' });
    const { servers } = await readServers(join(home, '.cursor/mcp.json'), { home, cwd: '/here' });
    expect(servers['x']).toMatchObject({ cwd: '/here' });
  });
});

describe('knownFiles', () => {
  const list = (...args: Parameters<typeof knownFiles>) =>
    knownFiles(...args).map(({ application, scope, path }) => `${application} ${scope} ${path}`);

  it('on Linux', () => {
    expect(list({ cwd: '/p', home: '/home/ada', env: {}, platform: 'linux' })).toEqual([
      'Claude Desktop user /home/ada/.config/Claude/claude_desktop_config.json',
      'Claude Code user /home/ada/.claude.json',
      'Codex user /home/ada/.codex/config.toml',
      'Cursor user /home/ada/.cursor/mcp.json',
      'Gemini CLI user /home/ada/.gemini/settings.json',
      'VS Code user /home/ada/.config/Code/User/mcp.json',
      'Cline user /home/ada/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
      'Roo Code user /home/ada/.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json',
      'Windsurf user /home/ada/.codeium/windsurf/mcp_config.json',
      'Zed user /home/ada/.config/zed/settings.json',
      'LM Studio user /home/ada/.lmstudio/mcp.json',
      'Kiro user /home/ada/.kiro/settings/mcp.json',
      'Continue user /home/ada/.continue/config.yaml',
      'Goose user /home/ada/.config/goose/config.yaml',
      'Amp user /home/ada/.config/amp/settings.json',
      'opencode user /home/ada/.config/opencode/opencode.json',
      'opencode user /home/ada/.config/opencode/opencode.jsonc',
      'Kiro project /p/.kiro/settings/mcp.json',
      'Amp project /p/.amp/settings.json',
      'opencode project /p/opencode.json',
      'opencode project /p/opencode.jsonc',
      'opencode project /p/.opencode/opencode.json',
      'opencode project /p/.opencode/opencode.jsonc',
      'Codex project /p/.codex/config.toml',
      'Cursor project /p/.cursor/mcp.json',
      'Gemini CLI project /p/.gemini/settings.json',
      'VS Code project /p/.vscode/mcp.json',
      'Roo Code project /p/.roo/mcp.json',
      'Zed project /p/.zed/settings.json',
      'Claude Code project /p/.mcp.json',
    ]);
  });

  it('on macOS and Windows', () => {
    const mac = list({ cwd: '/p', home: '/Users/ada', env: { XDG_CONFIG_HOME: '/x' }, platform: 'darwin' });
    expect(mac).toContain(
      'Claude Desktop user /Users/ada/Library/Application Support/Claude/claude_desktop_config.json',
    );
    expect(mac).toContain('Zed user /Users/ada/.config/zed/settings.json');
    const env = { APPDATA: 'C:\\Users\\ada\\AppData\\Roaming' };
    const windows = list({ cwd: 'C:\\p', home: 'C:\\Users\\ada', env, platform: 'win32' });
    expect(windows).toContain(
      'Claude Desktop user C:\\Users\\ada\\AppData\\Roaming\\Claude\\claude_desktop_config.json',
    );
    expect(windows).toContain('Zed user C:\\Users\\ada\\AppData\\Roaming\\Zed\\settings.json');
    expect(windows).toContain('Claude Code project C:\\p\\.mcp.json');
  });

  it('where variables say', () => {
    const env = { CODEX_HOME: '/codex', CLAUDE_CONFIG_DIR: '/claude', XDG_CONFIG_HOME: '/xdg' };
    const files = list({ cwd: '/p', home: '/home/ada', env, platform: 'linux' });
    expect(files).toContain('Codex user /codex/config.toml');
    expect(files).toContain('Claude Code user /claude/.claude.json');
    expect(files).toContain('Zed user /xdg/zed/settings.json');
  });
});
