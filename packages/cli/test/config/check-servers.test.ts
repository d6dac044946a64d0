// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the references of configuration files look like that.
/** `isthmus config check`: what the servers of files are, and what is wrong with them here. */
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkServers, findProgram } from '../../src/config/check-servers.js';
import { renderCheck } from '../../src/config/render.js';
import { createStyle } from '../../src/terminal/terminal.js';
import { folderOf, isthmusIn } from '../support/config-folder.js';

const PLAIN = createStyle(false, {});

describe('isthmus config check', () => {
  it('says for each server what it is, where it is defined, what is wrong and what to do', async () => {
    const folder = folderOf({
      'a.json': `{
  "$schema": "x",
  "mcpServers": {
    "good": { "command": "node", "args": ["server.js", "--token", "s3cret"] },
    "unset": { "command": "node", "env": { "KEY": "\${ONE_KEY} \${OTHER_KEY}" } },
    "lost": { "command": "no-such-program", "cwd": "nowhere" },
    "remote": { "url": "https://mcp.example/s3cret?key=s3cret", "disabled": true, "headrs": {} },
    "old": { "url": "https://mcp.example/mcp", "protocolVersion": "2024-01-01" }
  }
}`,
    });
    expect(await isthmusIn(folder, 'config', 'check', 'a.json')).toEqual({
      code: 2,
      stderr: '',
      stdout: `good    ok        a.json:4  runs node
unset   broken    a.json:5  runs node
  error: a.json:5:44 mcpServers.unset.env.KEY: the variable ONE_KEY is not set
    hint: set ONE_KEY in the environment, or write \${ONE_KEY:-DEFAULT}
  error: a.json:5:44 mcpServers.unset.env.KEY: the variable OTHER_KEY is not set
    hint: set OTHER_KEY in the environment, or write \${OTHER_KEY:-DEFAULT}
lost    broken    a.json:6  runs no-such-program
  error: a.json:6:45 mcpServers.lost.cwd: there is no folder ${join(folder, 'nowhere')}
    hint: create it, or set another cwd
  error: a.json:6:15 mcpServers.lost.command: no-such-program is not in PATH
    hint: install it, or write the full path: /…/no-such-program
remote  disabled  a.json:7  at https://mcp.example
  warning: a.json:7:83 mcpServers.remote.headrs: is not known; did you mean headers?
old     broken    a.json:8  at https://mcp.example
  error: a.json:8:5 mcpServers.old: needs an unknown revision; known revisions: 2024-11-05 (session), 2025-03-26 (session), 2025-06-18 (session), 2025-11-25 (session), 2026-03-26 (session, interim draft), 2026-07-28 (stateless)
a.json: 5 servers, 1 can be used, 5 errors, 1 warning
`,
    });
  });

  it('ends with 0 when there are only warnings, and tells programs in JSON', async () => {
    const folder = folderOf({
      'a.json': { mcpServers: { x: { command: 'node', evn: {} } } },
      'b.json': { gateway: { drainMs: 5 }, mcpServers: { x: { command: 'node' } } },
    });
    const { code, stdout } = await isthmusIn(
      folder,
      'config',
      'check',
      'a.json',
      'b.json',
      '--json',
      '--input',
      'a=b',
    );
    expect(code).toBe(0);
    const [a, b] = [join(folder, 'a.json'), join(folder, 'b.json')];
    expect(JSON.parse(stdout)).toEqual({
      ok: true,
      files: [
        { file: a, servers: 1 },
        { file: b, servers: 1 },
      ],
      servers: [
        {
          name: 'x',
          state: 'ok',
          kind: 'command',
          what: 'node',
          program: expect.stringMatching(/node$/),
          source: { file: b, line: 6, key: 'mcpServers.x' },
          replaces: [{ file: a, line: 3, key: 'mcpServers.x' }],
          missing: [],
          problems: [
            {
              severity: 'warning',
              file: a,
              line: 5,
              column: 7,
              key: 'mcpServers.x.evn',
              message: 'is not known; did you mean env?',
              server: 'x',
            },
          ],
        },
      ],
      gateway: { drainMs: 5 },
      problems: [],
    });
  });

  it('without a file looks at those of the known hosts that are there', async () => {
    const folder = folderOf({
      '.mcp.json': { mcpServers: { here: { command: 'node' } } },
      'home/.cursor/mcp.json': { mcpServers: { mine: { command: 'node' } } },
    });
    expect((await isthmusIn(folder, 'config', 'check')).stdout).toBe(
      `mine  ok  ${join(folder, 'home')}/.cursor/mcp.json:3  runs node\n`.replace(`${folder}/`, '') +
        `here  ok  .mcp.json:3              runs node\n2 files: 2 servers, 2 can be used, 0 errors, 0 warnings\n`,
    );
  });

  it('tells what is wrong with a file as a whole, and does not end with 0', async () => {
    const folder = folderOf({ 'a.json': '{', 'b.json': '{ "gateway": { "separator": " " } }' });
    const report = await checkServers(['a.json', 'b.json', 'c.json'], { cwd: folder });
    expect(report).toMatchObject({ ok: false, servers: [] });
    expect(renderCheck(report, PLAIN)).toBe(
      `error: ${folder}/a.json:1:2: expected a comma or a closing }
error: ${folder}/b.json:1:16 gateway.separator: must be 1 to 8 of the characters A-Z a-z 0-9 _ - . /
error: ${folder}/c.json: the file cannot be read: there is no such file
3 files: 0 servers, 0 can be used, 3 errors, 0 warnings
`,
    );
  });

  it('names what an editor would ask for, until it is given', async () => {
    const folder = folderOf({
      'a.json': { mcpServers: { x: { command: 'node', args: ['${input:token}'] } } },
    });
    const asked = await checkServers(['a.json'], { cwd: folder });
    expect(asked.servers).toMatchObject([{ state: 'broken', missing: ['input:token'] }]);
    expect(await checkServers(['a.json'], { cwd: folder, inputs: { token: 'x' } })).toMatchObject({
      ok: true,
    });
  });

  it('never shows a value', async () => {
    const secret = 'hunter2';
    const folder = folderOf({
      'a.json': {
        mcpServers: {
          x: { command: 'no-such', args: [secret, '${S}'], env: { A: secret, B: '${S}' } },
          y: { url: `https://mcp.example/${secret}`, headers: { A: secret, B: '${S}' } },
          z: { url: `ftp://${secret}`, headers: { A: secret, B: `${secret}\n` } },
        },
      },
    });
    const report = await checkServers(['a.json'], { cwd: folder, env: { S: secret } });
    expect(report.servers.map(({ state }) => state)).toEqual(['broken', 'ok', 'broken']);
    const shown = JSON.stringify({ ...report, servers: report.servers.map(({ what, ...rest }) => rest) });
    expect(shown).not.toContain(secret);
  });

  it('explains itself, with examples', async () => {
    const { code, stderr } = await isthmusIn(folderOf({}), 'config');
    expect(code).toBe(2);
    expect(stderr).toContain('isthmus config check .mcp.json ');
  });
});

describe('a program', () => {
  const folder = () => {
    const made = folderOf({ 'bin/tool': '#!/bin/sh\n', 'bin/data': 'x', 'tool.EXE': 'x' });
    chmodSync(join(made, 'bin', 'tool'), 0o755);
    chmodSync(join(made, 'tool.EXE'), 0o755);
    return made;
  };

  it('is looked for in the path of the process', async () => {
    const cwd = folder();
    const env = { PATH: `/nowhere:${cwd}/bin` };
    const path = join(cwd, 'bin', 'tool');
    expect(await findProgram('tool', { env, cwd })).toEqual({ kind: 'found', path });
    expect(await findProgram('tool', { env: { PATH: 'bin' }, cwd })).toEqual({ kind: 'found', path });
    expect(await findProgram(path, { env: {}, cwd })).toEqual({ kind: 'found', path });
  });

  it('on Windows may lack its suffix, and names of variables have no case', async () => {
    const cwd = folder();
    expect(await findProgram('tool', { env: { Path: cwd, PathExt: '.COM;.EXE' }, cwd }, 'win32')).toEqual({
      kind: 'found',
      path: join(cwd, 'tool.EXE'),
    });
  });

  it.each([
    ['data', 'data exists but is not executable'],
    ['bin', 'bin is not in PATH'],
    ['uvx', 'uvx is not in PATH'],
    ['/no/such/file', 'there is no file /no/such/file'],
  ])('%s: %s', async (command, message) => {
    const cwd = folder();
    const found = await findProgram(command, { env: { PATH: `${cwd}/bin:${cwd}` }, cwd });
    expect(found).toMatchObject({ kind: 'missing', message });
  });

  it('that is a whole command line is told how to write it', async () => {
    expect(await findProgram('node server.js -q', { env: { PATH: '/nowhere' }, cwd: '/' })).toMatchObject({
      message: 'node server.js -q is not in PATH',
      hint: 'write "command": "node", "args": ["server.js","-q"]',
    });
  });

  it('that comes with something else is told with it', async () => {
    expect(await findProgram('uvx', { env: { PATH: '/nowhere' }, cwd: '/' })).toMatchObject({
      hint: 'install uv, which includes it, or write the full path: /…/uvx',
    });
  });
});
