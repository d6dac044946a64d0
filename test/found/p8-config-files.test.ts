// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the references of configuration files look like that.
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { parseEnv } from '@isthmus/sdk/internal/config/documents/env-file.js';
import { knownFiles, type ServersChange, watchServers } from '@isthmus/sdk/internal/config/index.js';
import { importServers } from 'isthmus/internal/config/import-servers.js';
import { listFiles } from 'isthmus/internal/config/render.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { folderWith, read } from '../../packages/sdk/test/support/config.js';

const CONTINUE = `name: Local Assistant
version: 1.0.0
schema: v1
mcpServers:
  - name: sqlite
    command: uvx
    args: ["mcp-server-sqlite", "--db-path", ./test.db]
    env:
      LEVEL: 3
  - name: docs
    type: streamable-http
    url: https://docs.example/mcp
    requestOptions:
      headers:
        Authorization: Bearer \${TOKEN}
  - uses: anthropic/memory-mcp
`;

const GOOSE = `GOOSE_PROVIDER: anthropic
extensions:
  developer:
    bundled: true
    enabled: true
    name: developer
    type: builtin
  github:
    name: GitHub
    type: stdio
    cmd: npx
    args: [-y, "@modelcontextprotocol/server-github"]
    enabled: true
    envs: { REGION: eu }
    env_keys: [GITHUB_TOKEN]
    timeout: 300
  far:
    type: streamable_http
    uri: https://far.example/mcp
    headers: { X-Key: k }
    enabled: false
`;

const OPENCODE = `{
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    // A comment: it is JSONC.
    "local": {
      "type": "local",
      "command": ["bun", "x", "my-mcp"],
      "environment": { "KEY": "{env:KEY}" },
      "enabled": true,
    },
    "remote": { "type": "remote", "url": "https://r.example/mcp", "headers": { "A": "Bearer {env:KEY}" } },
    "jira": { "enabled": true },
  },
}`;

describe('the files of other applications', () => {
  it('P8: reads config.yaml of Continue, a list of servers', async () => {
    const { servers, problems } = await read(CONTINUE, { as: 'config.yaml', env: { TOKEN: 't' } });
    expect(servers['sqlite']).toMatchObject({
      command: 'uvx',
      args: ['mcp-server-sqlite', '--db-path', './test.db'],
      env: { LEVEL: '3' },
    });
    expect(servers['docs']).toMatchObject({
      kind: 'url',
      url: 'https://docs.example/mcp',
      transport: 'http',
      headers: { Authorization: 'Bearer t' },
    });
    expect(problems).toEqual([
      'warning 16:5 mcpServers[2]: is a block of the Continue hub; only Continue can use it',
    ]);
  });

  it('P8: reads config.yaml of Goose: extensions that are servers, with seconds as their unit', async () => {
    const { servers, problems } = await read(GOOSE, { as: 'config.yaml', env: { GITHUB_TOKEN: 'g' } });
    expect(Object.keys(servers)).toEqual(['github', 'far']);
    expect(servers['github']).toMatchObject({
      command: 'npx',
      args: ['-y', '@modelcontextprotocol/server-github'],
      env: { REGION: 'eu', GITHUB_TOKEN: 'g' },
      timeoutMs: 300_000,
    });
    expect(servers['far']).toMatchObject({
      url: 'https://far.example/mcp',
      transport: 'http',
      disabled: true,
    });
    expect(problems).toEqual([]);
  });

  it('P8: reads settings.json of Amp', async () => {
    const text = '{ "amp.mcpServers": { "pw": { "command": "npx", "args": ["-y", "@playwright/mcp"] } } }';
    const { servers, problems } = await read(text, { as: '.amp/settings.json' });
    expect(servers['pw']).toMatchObject({ command: 'npx', args: ['-y', '@playwright/mcp'] });
    expect(problems).toEqual([]);
  });

  it('P8: reads opencode.jsonc, in its first and in its second form', async () => {
    const { servers, problems } = await read(OPENCODE, { as: 'opencode.jsonc', env: { KEY: 'k' } });
    expect(servers['local']).toMatchObject({ command: 'bun', args: ['x', 'my-mcp'], env: { KEY: 'k' } });
    expect(servers['remote']).toMatchObject({ url: 'https://r.example/mcp', headers: { A: 'Bearer k' } });
    expect(Object.keys(servers)).toEqual(['local', 'remote']);
    expect(problems).toEqual([]);
    const second =
      '{ "mcp": { "servers": { "s": { "type": "local", "command": ["npx", "s"], "environment": { "A": "b" } } } } }';
    expect((await read(second, { as: 'opencode.json' })).servers['s']).toMatchObject({
      command: 'npx',
      args: ['s'],
      env: { A: 'b' },
    });
  });

  it('P8: broken YAML is told by line and column, without a word of the file', async () => {
    const { problems } = await read('mcpServers:\n  a: [secret-value\n', { as: 'config.yaml' });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^error \d+:\d+ : expected YAML: /);
    expect(problems[0]).not.toContain('secret-value');
  });

  it('P8: aliases are followed, and a bomb of aliases is refused', async () => {
    const shared = 'x: &x { command: node }\nmcpServers:\n  a: *x\n';
    expect((await read(shared, { as: 'a.yml' })).servers['a']).toMatchObject({ command: 'node' });
    const levels = Array.from(
      { length: 12 },
      (_, at) => `a${at + 1}: &a${at + 1} [${Array(10).fill(`*a${at}`).join(', ')}]`,
    );
    const bomb = `a0: &a0 [x]\n${levels.join('\n')}\nmcpServers: {}\n`;
    expect((await read(bomb, { as: 'a.yaml' })).problems[0]).toContain('expected fewer than 100000 values');
  });

  it('P8: a second YAML document is refused, and the error says where it begins and what to do', async () => {
    const two = 'mcpServers:\n  a: { command: node }\n---\nmcpServers:\n  b: { command: secret-value }\n';
    const { servers, problems } = await read(two, { as: 'a.yaml' });
    expect(servers).toEqual({});
    expect(problems).toEqual([
      'error 3:1 : expected one YAML document; put the part after "---" into another file',
    ]);
    const one = '---\nmcpServers:\n  a: { command: node }\n...\n# the end\n';
    expect((await read(one, { as: 'a.yaml' })).servers['a']).toMatchObject({ command: 'node' });
  });

  it('P8: merge keys of YAML are followed: own keys win, then the first table of a list', async () => {
    const text = `base: &base { command: node, args: [a], cwd: /base }
more: &more { cwd: /more, env: { A: "1" } }
mcpServers:
  one: { args: [own], <<: *base }
  two: { <<: [*more, *base], args: [two] }
  three: { <<: *base, "<<": in quotes }
`;
    const { servers, problems } = await read(text, { as: 'a.yaml' });
    expect(servers['one']).toMatchObject({ command: 'node', args: ['own'], cwd: '/base' });
    expect(servers['two']).toMatchObject({ command: 'node', args: ['two'], cwd: '/more', env: { A: '1' } });
    expect(servers['three']).toMatchObject({ command: 'node', args: ['a'] });
    expect(problems).toEqual([]);
  });

  it.each(['text', '[1, 2]', '~'])('P8: a merge key with %s is refused', async (value) => {
    const { problems } = await read(`mcpServers:\n  a:\n    <<: ${value}\n    command: node\n`, {
      as: 'a.yaml',
    });
    expect(problems).toEqual([
      'error 3:5 : expected an alias of a table, or a list of those, under the merge key "<<"',
    ]);
  });

  it('P8: a merge key that leads back to its own table is refused', async () => {
    const { problems } = await read('mcpServers: &m\n  <<: *m\n', { as: 'a.yaml' });
    expect(problems[0]).toMatch(/expected fewer (levels of nesting|than 100000 values)/);
  });

  it('P7: YAML in a file of another name is told as such', async () => {
    const { problems } = await read('mcpServers:\n  a:\n    command: node\n', { as: 'servers.conf' });
    expect(problems[0]).toContain(
      'this looks like YAML, which is read from files whose name ends in .yaml or .yml',
    );
  });
});

describe('where applications keep their servers', () => {
  const ADDED = ['LM Studio', 'Kiro', 'Continue', 'Goose', 'Amp', 'opencode'];
  const places = (where: Parameters<typeof knownFiles>[0]) =>
    knownFiles(where)
      .filter(({ application }) => ADDED.includes(application))
      .map(({ scope, path }) => `${scope} ${path}`);

  it('P8: on Linux and macOS', () => {
    const linux = places({ cwd: '/p', home: '/h', env: {}, platform: 'linux' });
    expect(linux).toEqual([
      'user /h/.lmstudio/mcp.json',
      'user /h/.kiro/settings/mcp.json',
      'user /h/.continue/config.yaml',
      'user /h/.config/goose/config.yaml',
      'user /h/.config/amp/settings.json',
      'user /h/.config/opencode/opencode.json',
      'user /h/.config/opencode/opencode.jsonc',
      'project /p/.kiro/settings/mcp.json',
      'project /p/.amp/settings.json',
      'project /p/opencode.json',
      'project /p/opencode.jsonc',
      'project /p/.opencode/opencode.json',
      'project /p/.opencode/opencode.jsonc',
    ]);
    expect(places({ cwd: '/p', home: '/h', env: {}, platform: 'darwin' })).toEqual(linux);
  });

  it('P8: on Windows', () => {
    const env = { APPDATA: 'C:\\U\\AppData\\Roaming' };
    expect(places({ cwd: 'C:\\p', home: 'C:\\U', env, platform: 'win32' }).slice(0, 5)).toEqual([
      'user C:\\U\\.lmstudio\\mcp.json',
      'user C:\\U\\.kiro\\settings\\mcp.json',
      'user C:\\U\\.continue\\config.yaml',
      'user C:\\U\\AppData\\Roaming\\Block\\goose\\config\\config.yaml',
      'user C:\\U\\.config\\amp\\settings.json',
    ]);
  });

  it('P8: config list finds them, the blocks of a project of Continue too, and config import takes them', async () => {
    const folder = folderWith({
      'h/.lmstudio/mcp.json': '{ "mcpServers": { "lm": { "command": "lm" } } }',
      'h/.config/goose/config.yaml': GOOSE,
      'p/.continue/mcpServers/one.yaml': 'mcpServers:\n  - name: block\n    command: ./run\n',
      'p/.kiro/settings/mcp.json': '{ "mcpServers": { "kiro": { "command": "./k" } } }',
      'p/opencode.json': OPENCODE,
    });
    const where = { cwd: `${folder}/p`, home: `${folder}/h`, env: {}, platform: 'linux' as const };
    const listed = (await listFiles(where)).filter(({ there }) => there);
    expect(listed.map(({ application, servers }) => [application, ...servers])).toEqual([
      ['LM Studio', 'lm'],
      ['Goose', 'github', 'far'],
      ['Kiro', 'kiro'],
      ['Continue', 'block'],
      ['opencode', 'local', 'remote'],
    ]);
    const { document } = await importServers([], where);
    expect(document.mcpServers).toMatchObject({
      github: { command: 'npx', env: { REGION: 'eu' }, env_vars: ['GITHUB_TOKEN'], timeoutMs: 300_000 },
      block: { command: './run', cwd: `${folder}/p` },
      kiro: { command: './k', cwd: `${folder}/p` },
      local: { command: 'bun', env: { KEY: '${KEY}' } },
    });
  });
});

describe('envFile', () => {
  const withFile = (envFile: string) =>
    JSON.stringify({ mcpServers: { a: { command: 'node', env: { OWN: 'env' }, envFile } } });

  it('P8: is read, relative to the project; env wins, and its values are not expanded', async () => {
    const folder = folderWith({
      'shop/.cursor/mcp.json': withFile('conf/.env'),
      'shop/conf/.env': 'TOKEN=a${HOME}b\nOWN=file\n',
    });
    const { readServers } = await import('@isthmus/sdk/internal/config/index.js');
    const options = { env: {}, home: '/home/ada', cwd: '/elsewhere' };
    const { servers, problems } = await readServers(`${folder}/shop/.cursor/mcp.json`, options);
    expect(problems).toEqual([]);
    expect(servers['a']).toMatchObject({ env: { TOKEN: 'a${HOME}b', OWN: 'env' } });
  });

  it.each([
    ['no/such.env', 'cannot be read: there is no such file'],
    ['.', 'cannot be read: it is a folder'],
  ])('P8: %s is an error that names the key', async (envFile, message) => {
    const { servers, problems } = await read(withFile(envFile));
    expect(servers).toEqual({});
    expect(problems[0]).toContain(`mcpServers.a.envFile: ${message}`);
  });

  it.runIf(process.platform !== 'win32')('P8: a pipe or a device is refused at once', async () => {
    const folder = folderWith({});
    execFileSync('mkfifo', [`${folder}/pipe`]);
    for (const envFile of [`${folder}/pipe`, '/dev/zero']) {
      const { servers, problems } = await read(withFile(envFile));
      expect(servers).toEqual({});
      expect(problems).toEqual([
        expect.stringContaining(
          'mcpServers.a.envFile: cannot be read: it is not a regular file but a pipe, a socket or a device',
        ),
      ]);
    }
  });

  it.each([
    ['as the system tells it', { lookMs: false as const }],
    ['at the next look', { lookMs: 20, watchFolder: () => () => {} }],
  ])('P8: is watched with the file that names it, %s', async (_, options) => {
    const cwd = folderWith({ 'a.json': withFile('conf/.env'), 'conf/.env': 'TOKEN=one\n' });
    const seen: unknown[] = [];
    const note = ({ servers }: ServersChange) => seen.push(servers.servers['a'] ?? 'gone');
    const watch = await watchServers(['a.json'], { env: {}, cwd, quietMs: 20, ...options }, note);
    onTestFinished(() => watch.close());
    expect(watch.current.servers.servers['a']).toMatchObject({ env: { TOKEN: 'one' } });
    writeFileSync(`${cwd}/conf/.env`, 'TOKEN=second\n');
    await expect.poll(() => seen.at(-1)).toMatchObject({ env: { TOKEN: 'second' } });
    rmSync(`${cwd}/conf/.env`);
    await expect.poll(() => seen.at(-1)).toBe('gone');
    writeFileSync(`${cwd}/conf/.env`, 'TOKEN=third\n');
    await expect.poll(() => seen.at(-1)).toMatchObject({ env: { TOKEN: 'third' } });
  });

  it('P8: that the file names only later is watched from then on', async () => {
    const cwd = folderWith({ 'a.json': withFile('one.env'), 'one.env': 'T=1\n', 'two.env': 'T=2\n' });
    const seen: unknown[] = [];
    const note = ({ servers }: ServersChange) => seen.push(servers.servers['a']);
    const options = { env: {}, cwd, quietMs: 20, lookMs: false as const };
    const watch = await watchServers(['a.json'], options, note);
    onTestFinished(() => watch.close());
    writeFileSync(`${cwd}/a.json`, withFile('two.env'));
    await expect.poll(() => seen.at(-1)).toMatchObject({ env: { T: '2' } });
    writeFileSync(`${cwd}/two.env`, 'T=22\n');
    await expect.poll(() => seen.at(-1)).toMatchObject({ env: { T: '22' } });
  });

  it('P8: stays a reference when the server is imported, so that no secret is copied', async () => {
    const folder = folderWith({ 'p/.cursor/mcp.json': withFile('.env'), 'p/.env': 'TOKEN=secret\n' });
    const where = { cwd: `${folder}/p`, home: `${folder}/h`, env: {}, platform: 'linux' as const };
    const { document } = await importServers([], where);
    expect(document.mcpServers['a']).toMatchObject({ envFile: `${folder}/p/.env`, env: { OWN: 'env' } });
    expect(JSON.stringify(document)).not.toContain('secret');
  });

  it('P8: has the syntax of dotenv', () => {
    const text = [
      '\uFEFF# a comment',
      '',
      'PLAIN=value # a comment',
      'HASH=a#b',
      'export EXPORTED = spaced  ',
      'EMPTY=',
      'NOTHING= # only a comment',
      `SINGLE='a "b" \\n # c' # comment`,
      'DOUBLE="line\\none \\"q\\" \\\\ end"',
      'LINES="first',
      'second"',
      'AFTER=`tick`\r',
      'URL=https://x/?a=b',
    ].join('\n');
    expect(parseEnv(text)).toEqual({
      kind: 'variables',
      variables: {
        PLAIN: 'value',
        HASH: 'a#b',
        EXPORTED: 'spaced',
        EMPTY: '',
        NOTHING: '',
        SINGLE: 'a "b" \\n # c',
        DOUBLE: 'line\none "q" \\ end',
        LINES: 'first\nsecond',
        AFTER: 'tick',
        URL: 'https://x/?a=b',
      },
    });
    expect(parseEnv('A=1\nsecret words\n')).toEqual({ kind: 'broken', reason: 'line 2 is not NAME=value' });
    expect(parseEnv('A="x\ny\n')).toEqual({ kind: 'broken', reason: 'line 1 has no closing quote' });
    expect(parseEnv('A="x\ny"\n=1')).toEqual({ kind: 'broken', reason: 'line 3 is not NAME=value' });
  });
});
