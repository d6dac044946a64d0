// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the references of configuration files look like that.
/** `isthmus config import`: the servers of other applications in one file. */
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readServers } from '@isthmus/sdk/internal/config/index.js';
import { describe, expect, it } from 'vitest';
import { importServers, writeDocument } from '../../src/config/import-servers.js';
import { renderImport } from '../../src/config/render.js';
import { createStyle } from '../../src/terminal/terminal.js';
import { folderOf, isthmusIn } from '../support/config-folder.js';

const PLAIN = createStyle(false, {});

function whereIn(folder: string) {
  return { cwd: folder, home: join(folder, 'home'), env: {}, platform: 'linux' as const };
}

describe('an import', () => {
  it('has every server under our names, with its references as they are', async () => {
    const folder = folderOf({
      'home/.codex/config.toml': `
[mcp_servers.docs]
command = "npx"
args = ["-y", "docs"]
env_vars = ["PASSED"]
tool_timeout_sec = 20
disabled_tools = ["rm"]
required = false
[mcp_servers.web]
url = "https://mcp.example/mcp"
bearer_token_env_var = "WEB_TOKEN"
env_http_headers = { "X-B" = "B_VALUE" }
`,
      'home/.codeium/windsurf/mcp_config.json': {
        mcpServers: { surf: { serverUrl: 'https://surf.example/mcp', headers: { A: '${env:SURF_KEY}' } } },
      },
      'home/.config/zed/settings.json': {
        context_servers: {
          zed: { command: { path: 'z', args: ['-v'], env: { A: '1' } }, timeout: 90 },
          ext: { source: 'extension', settings: {} },
        },
      },
      '.vscode/mcp.json': {
        inputs: [
          { id: 'token', type: 'promptString', password: true },
          { id: 'other', type: 'promptString' },
        ],
        servers: {
          here: {
            type: 'stdio',
            command: './run',
            args: ['${workspaceFolder}/x', '$${A}', '${A:-b}'],
            dev: {},
          },
          sub: { command: 'run', cwd: 'sub', env: { T: '${input:token}' } },
          fast: { type: 'http', url: 'https://fast.example' },
        },
      },
    });
    const { document, skipped, missing } = await importServers([], whereIn(folder));
    expect(document).toEqual({
      inputs: [{ id: 'token', type: 'promptString', password: true }],
      mcpServers: {
        docs: {
          command: 'npx',
          args: ['-y', 'docs'],
          env_vars: ['PASSED'],
          timeoutMs: 20_000,
          tools: { deny: ['rm'] },
          needed: false,
        },
        web: {
          url: 'https://mcp.example/mcp',
          headers: { Authorization: 'Bearer ${WEB_TOKEN}', 'X-B': '${B_VALUE}' },
        },
        surf: { url: 'https://surf.example/mcp', headers: { A: '${env:SURF_KEY}' } },
        zed: { command: 'z', args: ['-v'], env: { A: '1' }, timeoutMs: 90_000 },
        here: { command: './run', args: [`${folder}/x`, '$${A}', '${A:-b}'], cwd: folder },
        sub: { command: 'run', cwd: join(folder, 'sub'), env: { T: '${input:token}' } },
        fast: { type: 'http', url: 'https://fast.example' },
      },
    });
    expect(missing).toEqual(['B_VALUE', 'WEB_TOKEN', 'SURF_KEY', 'input:token']);
    expect(skipped.map(({ name, application, reason }) => `${name}, ${application}: ${reason}`)).toEqual([
      'ext, Zed: comes from a Zed extension; only Zed can start it',
    ]);
  });

  it('means the same as the files that it came from, wherever it is', async () => {
    const folder = folderOf({
      '.mcp.json': {
        mcpServers: {
          a: { command: './run', args: ['${workspaceFolderBasename}', '${KEY}'], env: { N: 1 }, timeout: 60 },
          b: { httpUrl: 'https://b.example', enabled: false, lifecycle: 'ephemeral' },
        },
      },
      'elsewhere/nothing': '',
    });
    const env = { KEY: 'k' };
    const { document } = await importServers([], { ...whereIn(folder), env });
    const file = join(folder, 'elsewhere', 'all.json');
    writeFileSync(file, JSON.stringify(document));
    const [before, after] = await Promise.all(
      [join(folder, '.mcp.json'), file].map(async (each) => {
        const { servers, problems } = await readServers(each, { env });
        expect(problems).toEqual([]);
        return Object.values(servers).map(({ source, ...rest }) => rest);
      }),
    );
    expect(after).toEqual(before);
  });

  it('calls a server whose name is taken NAME-HOST, and takes the same one once', async () => {
    const server = (command: string) => ({ mcpServers: { fs: { command } } });
    const folder = folderOf({
      'home/.cursor/mcp.json': server('one'),
      'home/.codeium/windsurf/mcp_config.json': server('one'),
      'home/.config/Code/User/mcp.json': {
        servers: { fs: { command: 'two' }, 'fs-cursor': { command: 'x' } },
      },
      'home/.gemini/settings.json': server('two'),
      '.cursor/mcp.json': server('three'),
    });
    const report = await importServers([], whereIn(folder));
    expect(Object.entries(report.document.mcpServers).map(([name, { command }]) => [name, command])).toEqual([
      ['fs', 'one'],
      ['fs-gemini', 'two'],
      ['fs-cursor', 'x'],
      ['fs-cursor-2', 'three'],
    ]);
    const home = join(folder, 'home');
    expect(renderImport(report, PLAIN)).toEqual([
      `fs  from Cursor (${home}/.cursor/mcp.json:3); the same in Windsurf (${home}/.codeium/windsurf/mcp_config.json:3)`,
      `fs-gemini  from Gemini CLI (${home}/.gemini/settings.json:3), renamed from fs: that name was taken; the same in VS Code (${home}/.config/Code/User/mcp.json:3)`,
      `fs-cursor  from VS Code (${home}/.config/Code/User/mcp.json:6)`,
      `fs-cursor-2  from Cursor (${folder}/.cursor/mcp.json:3), renamed from fs: that name was taken`,
    ]);
  });

  it('leaves out what cannot be used anywhere, and Isthmus itself, and says so', async () => {
    const folder = folderOf({
      '.mcp.json': {
        mcpServers: {
          none: {},
          off: { disabled: true, command: 'c', args: 'a b' },
          self: { command: 'npx', args: ['-y', 'isthmus', 'attach', 'weather'] },
          also: { command: '/usr/bin/isthmus', args: ['serve', '--listen', 'stdio'] },
          other: { command: 'isthmus', args: ['demo'], env: { LEVEL: 'debug' } },
        },
      },
      '.cursor/mcp.json': '{',
    });
    const report = await importServers([], whereIn(folder));
    expect(Object.keys(report.document.mcpServers)).toEqual(['other']);
    expect(renderImport(report, PLAIN)).toEqual([
      `warning: ${folder}/.cursor/mcp.json:1:2: expected a comma or a closing }`,
      `other  from Claude Code (${folder}/.mcp.json:26)`,
      `skipped: none of Claude Code (${folder}/.mcp.json:3): has neither command nor url`,
      `skipped: off of Claude Code (${folder}/.mcp.json:4): must be a list of strings, not a string`,
      `skipped: self of Claude Code (${folder}/.mcp.json:9): is Isthmus itself`,
      `skipped: also of Claude Code (${folder}/.mcp.json:18): is Isthmus itself`,
      'note: copied unchanged, including any secrets: env and headers of other',
    ]);
  });

  it('pins what Claude Code keeps for this project to it', async () => {
    const folder = folderOf({});
    const state = {
      mcpServers: { all: { command: 'a' } },
      projects: { [folder]: { mcpServers: { one: { command: 'o' } } } },
    };
    writeFileSync(join(folder, 'home', '.claude.json'), JSON.stringify(state));
    const { document } = await importServers(['claude-code'], whereIn(folder));
    expect(document.mcpServers).toEqual({ all: { command: 'a' }, one: { command: 'o', cwd: folder } });
  });

  it('takes only the hosts that are named, however they are spelt', async () => {
    const server = (name: string) => ({ mcpServers: { [name]: { command: 'c' } } });
    const folder = folderOf({
      '.cursor/mcp.json': server('cursor'),
      '.mcp.json': server('code'),
      '.vscode/mcp.json': { servers: { vs: { command: 'c' } } },
    });
    const names = async (...hosts: string[]) =>
      Object.keys((await importServers(hosts, whereIn(folder))).document.mcpServers);
    expect(await names('cursor')).toEqual(['cursor']);
    expect(await names('vs-code', 'Claude Code')).toEqual(['vs', 'code']);
    expect(await names('zed')).toEqual([]);
    await expect(names('curser')).rejects.toMatchObject({ exitCode: 2, hint: 'Did you mean cursor?' });
  });
});

describe('isthmus config import', () => {
  const files = { '.cursor/mcp.json': { mcpServers: { x: { command: 'c', env: { K: '${KEY}' } } } } };

  it('prints the document on stdout, and what was found on stderr', async () => {
    const folder = folderOf(files);
    const { code, stdout, stderr } = await isthmusIn(folder, 'config', 'import', '--from', 'cursor', 'zed');
    expect([code, stderr]).toEqual([
      0,
      'x  from Cursor (.cursor/mcp.json:3)\nnot set here: KEY; set them where the servers run\n',
    ]);
    // N13: no path of this machine, since the file may be shared.
    expect(JSON.parse(stdout)).toEqual({
      mcpServers: { x: { command: 'c', env: { K: '${KEY}' }, cwd: folder } },
    });
  });

  it('writes a new file instead, and tells programs in JSON', async () => {
    const folder = folderOf(files);
    const { code, stdout } = await isthmusIn(folder, 'config', 'import', '-o', 'new.json', '--json');
    const { document, imported } = JSON.parse(stdout);
    expect([code, imported]).toMatchObject([0, [{ name: 'x', application: 'Cursor' }]]);
    expect(readFileSync(join(folder, 'new.json'), 'utf8')).toBe(`${JSON.stringify(document, null, 2)}\n`);
    expect(await isthmusIn(folder, 'config', 'import', '-o', 'new.json')).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'isthmus: new.json already exists\nhint: Use another name, or --force to replace it\n(isthmus config import --help explains the options)\n',
    });
  });
});

describe('the output', () => {
  it('is for its owner only, and replaces a file only when told', async () => {
    const folder = folderOf({ 'taken.json': 'mine' });
    const file = join(folder, 'taken.json');
    const where = whereIn(folder);
    await writeDocument('new.json', 'text', false, where);
    expect(statSync(join(folder, 'new.json')).mode & 0o777).toBe(0o600);
    await expect(writeDocument('taken.json', 'text', false, where)).rejects.toMatchObject({ exitCode: 2 });
    expect(readFileSync(file, 'utf8')).toBe('mine');
    await writeDocument('taken.json', 'text', true, where);
    expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['text', 0o600]);
    expect(readdirSync(folder).sort()).toEqual(['home', 'new.json', 'taken.json']);
  });

  it('is never the file of another application, whatever is told', async () => {
    const folder = folderOf({ '.cursor/mcp.json': 'theirs' });
    symlinkSync(join('.cursor', 'mcp.json'), join(folder, 'link.json'));
    for (const output of [join('.cursor', 'mcp.json'), 'link.json', '.mcp.json']) {
      await expect(writeDocument(output, 'text', true, whereIn(folder))).rejects.toMatchObject({
        exitCode: 2,
        message: expect.stringContaining('isthmus does not write it'),
      });
    }
    expect(readFileSync(join(folder, '.cursor', 'mcp.json'), 'utf8')).toBe('theirs');
    expect(existsSync(join(folder, '.mcp.json'))).toBe(false);
  });

  it('that cannot be written is told', async () => {
    const folder = folderOf({});
    await expect(writeDocument(join('none', 'a.json'), 'x', true, whereIn(folder))).rejects.toMatchObject({
      exitCode: 2,
      message: 'none/a.json cannot be written: there is no such folder',
    });
  });
});

describe('isthmus config list', () => {
  it('shows where the hosts keep their files, and the servers in them', async () => {
    const folder = folderOf({
      '.mcp.json': { mcpServers: { a: { command: 'c' }, b: {} } },
      '.zed/settings.json': {},
    });
    const { stdout } = await isthmusIn(folder, 'config', 'list');
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(30);
    expect(lines.at(-1)).toMatch(new RegExp(`^Claude Code +project +${folder}/.mcp.json +a, b$`));
    expect(lines.at(-2)).toMatch(/^Zed +project .* \(no servers\)$/);
    expect(lines[0]).toMatch(/^Claude Desktop +user .* -$/);
  });
});
