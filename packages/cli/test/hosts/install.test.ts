import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hostFile } from 'isthmus/internal/hosts/host-files.js';
import { describe, expect, it } from 'vitest';
import { ISTHMUS, startChild } from '../../../../test/support/child.js';
import { freeFolder } from '../support/isthmus.js';

/** A user with a home of their own, and `isthmus` in it. */
function user() {
  const home = freeFolder();
  const env = { PATH: process.env['PATH'] ?? '', HOME: home };
  const install = async (...args: string[]) => {
    const lines: string[] = [];
    const child = startChild(ISTHMUS, {
      args: ['install', ...args],
      env,
      onLine: (line) => lines.push(line),
    });
    child.end();
    const { code } = await child.exit();
    return { code, stdout: lines.join('\n'), stderr: child.stderr };
  };
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  };
  return { home, install, write, read: (path: string) => readFileSync(join(home, path), 'utf8') };
}

const CURSOR = '.cursor/mcp.json';

describe('N14: isthmus install', () => {
  it('N14: makes the file of a host where there is none, private to the user', async () => {
    const { home, install, read } = user();
    const { code, stderr } = await install(
      'files',
      '--in',
      'cursor',
      '--yes',
      '--cwd',
      '/srv',
      '--',
      'node',
      'f.js',
    );
    expect([code, stderr]).toEqual([0, expect.stringContaining('files is in Cursor now.')]);
    expect(JSON.parse(read(CURSOR))).toEqual({
      mcpServers: {
        files: { command: 'npx', args: ['-y', 'isthmus', 'attach', '--cwd', '/srv', '--', 'node', 'f.js'] },
      },
    });
    expect(statSync(join(home, CURSOR)).mode & 0o777).toBe(0o600);
  });

  it('N14: keeps comments and the other servers, shows the change, and keeps a copy', async () => {
    const { home, install, write, read } = user();
    const before = '{\n  // mine\n  "mcpServers": {\n    "old": { "command": "x" }\n  }\n}\n';
    write(CURSOR, before);
    const { stderr } = await install('web', '--in', 'Cursor', '--yes', '--url', 'https://example.com/mcp');
    expect(read(CURSOR)).toBe(`{
  // mine
  "mcpServers": {
    "old": { "command": "x" },
    "web": {
      "command": "npx",
      "args": [
        "-y",
        "isthmus",
        "attach",
        "--url",
        "https://example.com/mcp"
      ]
    }
  }
}
`);
    expect(stderr).toContain(
      '-     "old": { "command": "x" }\n+     "old": { "command": "x" },\n+     "web": {\n',
    );
    const [copy] = readdirSync(join(home, '.cursor')).filter((name) => name.startsWith('mcp.json.backup-'));
    expect(read(join('.cursor', copy!))).toBe(before);
    expect(readdirSync(join(home, '.cursor'))).toHaveLength(2);
    const again = await install('web', '--in', 'cursor', '--yes', '--url', 'https://example.com/mcp');
    expect(again.stderr).toBe('Cursor already has web like this; nothing was changed\n');
  });

  it('N14: refuses without a terminal, and changes nothing', async () => {
    const { install, write, read } = user();
    write(CURSOR, '{}');
    const { code, stderr } = await install('files', '--in', 'cursor', '--', 'node', 'f.js');
    expect(code).toBe(2);
    expect(stderr).toContain('isthmus: There is no terminal to ask on\nhint: --yes writes the file');
    expect(read(CURSOR)).toBe('{}');
  });

  it('N14: refuses a file that is not JSON', async () => {
    const { install, write, read } = user();
    write(CURSOR, '{ "mcpServers": ');
    const { code, stderr } = await install('files', '--in', 'cursor', '--yes', '--', 'node');
    expect(code).toBe(2);
    expect(stderr).toContain('mcp.json:1:17: expected a value');
    expect(read(CURSOR)).toBe('{ "mcpServers": ');
  });

  it('N14: a variable goes into the entry, and not into the arguments', async () => {
    const { install, read } = user();
    await install('files', '--in', 'cursor', '--yes', '--cwd', '/', '--env', 'KEY=s3cret', '--', 'node');
    expect(JSON.parse(read(CURSOR)).mcpServers.files).toEqual({
      command: 'npx',
      args: ['-y', 'isthmus', 'attach', '--cwd', '/', '--env', 'KEY', '--', 'node'],
      env: { KEY: 's3cret' },
    });
  });

  it('N14: --direct writes the command itself', async () => {
    const { install, read } = user();
    await install('files', '--in', 'vscode', '--direct', '--yes', '--', 'node', 'f.js');
    expect(JSON.parse(read('.config/Code/User/mcp.json'))).toEqual({
      servers: { files: { type: 'stdio', command: 'node', args: ['f.js'] } },
    });
  });

  it('N14: a configured server stays in its file', async () => {
    const { home, install, write, read } = user();
    write('mine.json', JSON.stringify({ mcpServers: { notes: { command: 'node', env: { K: 's3cret' } } } }));
    const file = join(home, 'mine.json');
    await install('notes', '--in', 'cursor', '--yes', '--config', file);
    expect(JSON.parse(read(CURSOR)).mcpServers.notes).toEqual({
      command: 'npx',
      args: ['-y', 'isthmus', 'attach', 'notes', '--config', file],
    });
    const same = await install('notes', '--in', 'cursor', '--yes', '--config', join(home, CURSOR));
    expect(same.stderr).toContain(`isthmus: notes is already in ${join(home, CURSOR)}`);
    const unknown = await install('note', '--in', 'cursor', '--yes', '--config', file);
    expect(unknown.stderr).toContain('hint: Did you mean notes?');
  });

  it('N14: writes the file itself where the path is a link', async () => {
    const { home, install, write, read } = user();
    write('dotfiles/mcp.json', '{}');
    mkdirSync(join(home, '.cursor'));
    symlinkSync(join(home, 'dotfiles/mcp.json'), join(home, CURSOR));
    await install('files', '--in', 'cursor', '--yes', '--', 'node');
    expect(JSON.parse(read('dotfiles/mcp.json'))).toHaveProperty('mcpServers.files');
    expect(readdirSync(join(home, '.cursor'))).toEqual(['mcp.json']);
  });

  it('N14: names a wrong host before it looks for a configured server', async () => {
    const { code, stderr } = await user().install('files', '--in', 'cursr');
    expect([code, stderr.split('\n')[0]]).toEqual([2, 'isthmus: "cursr" is not a known host']);
  });

  it('N14: names the hosts that it knows', async () => {
    const { install } = user();
    const typo = await install('files', '--in', 'cursr', '--', 'node');
    expect(typo).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean cursor?') });
    const toml = await install('files', '--in', 'codex', '--', 'node');
    expect(toml.stderr).toContain('isthmus does not write the TOML file of codex');
  });
});

describe('the file of a host', () => {
  it.each([
    ['linux', '/home/ada/.config/Claude/claude_desktop_config.json'],
    ['darwin', '/home/ada/Library/Application Support/Claude/claude_desktop_config.json'],
    ['win32', '\\home\\ada\\AppData\\Roaming\\Claude\\claude_desktop_config.json'],
  ] as const)('N14: of Claude Desktop on %s', (platform, path) => {
    const where = { platform, home: '/home/ada', env: {}, cwd: '/home/ada' };
    expect(hostFile('claude-desktop', 'user', where).path).toBe(path);
  });

  it('N14: of a project', () => {
    const where = { platform: 'linux', home: '/home/ada', env: {}, cwd: '/work' } as const;
    expect(hostFile('claude-code', 'project', where).path).toBe('/work/.mcp.json');
    expect(hostFile('vscode', 'project', where)).toMatchObject({
      path: '/work/.vscode/mcp.json',
      table: ['servers'],
    });
    expect(() => hostFile('claude-desktop', 'project', where)).toThrow(
      'claude-desktop has no file of a project',
    );
  });

  it('N14: has the form of the host', () => {
    const where = { platform: 'linux', home: '/home/ada', env: {}, cwd: '/work' } as const;
    const server = { command: 'a', args: ['b'], env: { C: 'd' } };
    const entry = (host: string) => hostFile(host, 'user', where).entryOf(server);
    expect(entry('claude-desktop')).toEqual({ command: 'a', args: ['b'], env: { C: 'd' } });
    expect(entry('claude-code')).toEqual({ type: 'stdio', command: 'a', args: ['b'], env: { C: 'd' } });
    expect(entry('opencode')).toEqual({ type: 'local', command: ['a', 'b'], environment: { C: 'd' } });
  });
});
