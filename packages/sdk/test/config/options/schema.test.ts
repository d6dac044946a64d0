// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the references of configuration files look like that.
/** `packages/cli/config.schema.json` and the reader: what an editor marks is what we do not take, and the other way round. */
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { TOP_KEYS } from '../../../src/config/find-servers.js';
import { GATEWAY_NAMES } from '../../../src/config/gateway/read-gateway.js';
import { type ConfigProblem, readServers } from '../../../src/config/index.js';
import { OPTION_NAMES, OPTIONS } from '../../../src/config/options/option-table.js';
import { KNOWN_KEYS } from '../../../src/config/options/read-options.js';
import { folderWith } from '../../support/config.js';

interface Schema {
  readonly properties: Record<string, { description?: string; $ref?: string; deprecated?: boolean }>;
  readonly $defs: Record<string, Schema>;
  readonly [keyword: string]: unknown;
}

const schema: Schema = JSON.parse(
  readFileSync(new URL('../../../../cli/config.schema.json', import.meta.url), 'utf8'),
);
const ajv = new Ajv2020({
  strictSchema: true,
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
});
const isValid = ajv.compile(schema);
const server = schema.$defs['server']!;

/** What costs a server, a file or a setting. A variable that is not set here says nothing about the file. */
function matters({ severity, message, missing }: ConfigProblem): boolean {
  return (severity === 'error' && missing === undefined) || message.includes('is not used');
}

async function judge(document: unknown): Promise<{ schema: boolean; reader: boolean }> {
  const folder = folderWith({ 'a.json': JSON.stringify(document) });
  const { problems } = await readServers('a.json', { cwd: folder, env: {} });
  return { schema: isValid(document), reader: !problems.some(matters) };
}

describe('the keys', () => {
  it('of a server are the same', () => {
    expect(Object.keys(server.properties).sort()).toEqual([...KNOWN_KEYS].sort());
  });

  it('of the block isthmus are the settings', () => {
    const block = server.properties['isthmus'] as unknown as Schema;
    expect(Object.keys(block.properties)).toEqual(OPTION_NAMES);
  });

  it('of the block gateway are the same', () => {
    expect(Object.keys(schema.$defs['gateway']!.properties)).toEqual(GATEWAY_NAMES);
  });

  it('at the top are the same', () => {
    expect(Object.keys(schema.properties)).toEqual(['$schema', ...TOP_KEYS, 'mcp', 'inputs', 'gateway']);
  });

  it('all say what they mean, and those of others what ours is', () => {
    const silent = Object.entries(server.properties).filter(([, { description = '' }]) => description === '');
    expect(silent.map(([name]) => name)).toEqual([]);
    const others = [...KNOWN_KEYS].filter((name) => server.properties[name]!.deprecated);
    for (const name of others.filter((each) => each !== 'envFile')) {
      expect(server.properties[name]!.description).toMatch(/ Ours: [\w.]+|^Ours: type/);
    }
    for (const name of OPTION_NAMES) {
      const { description } = server.properties[name]!;
      expect([name, /Only for commands\.$/.test(description!)]).toEqual([
        name,
        OPTIONS[name].onlyCommands === true,
      ]);
    }
  });
});

/** Everything that a value could be. */
const VALUES: readonly unknown[] = [
  ...[null, true, false, 0, 1, 0.4, 1.5, -1, 1000, 2 ** 31, 2 ** 53],
  ...[
    '',
    'x',
    'auto',
    'legacy',
    '2025-11-25',
    'stdio',
    'http',
    'lazy',
    'shared',
    'all',
    'keep-alive',
    'queue',
  ],
  ...['https://a.example', 'https://a@b.example/mcp', '${URL}', 'ftp://a', 'a\nb'],
  ...[[], ['a'], [''], [1], ['a', true], [{}], [{ name: 'A' }]],
  ...[
    {},
    { A: '1' },
    { A: 1, B: null },
    { 'A=B': '1' },
    { 'a b': '1' },
    { A: 'x\ny' },
    { A: [] },
    { A: 'x✓' },
  ],
  ...[
    { allow: ['a'] },
    { deny: 'a' },
    { pool: 1 },
    { pool: 0 },
    { attempts: 0 },
    { attempts: -1 },
    { jitter: 2 },
  ],
  ...[
    { maxQueue: 0 },
    { maxConcurrent: 0 },
    { closeMs: 5 },
    { everyMs: 0 },
    { mode: 'keep-alive' },
    { mode: 'x' },
  ],
  ...[
    { path: 'p', args: ['a'] },
    { path: '' },
    { idleTimeoutMs: 5 },
    { mode: 'keep-alive', idleTimeoutMs: -1 },
  ],
];

it('every key with every kind of value is judged alike', async () => {
  const base = (key: string) =>
    ['headers', 'auth', 'http_headers', 'env_http_headers', 'bearer_token_env_var'].includes(key)
      ? { url: 'https://a.example' }
      : { command: 'c' };
  const keys = [...KNOWN_KEYS].filter((key) => !['isthmus', 'envFile'].includes(key));
  const servers = new Map<string, unknown>();
  for (const key of keys) {
    for (const value of VALUES) {
      const alone = ['command', 'url', 'serverUrl', 'httpUrl'].includes(key);
      servers.set(`${key} ${JSON.stringify(value)}`, { ...(alone ? {} : base(key)), [key]: value });
    }
  }
  for (const name of OPTION_NAMES) {
    for (const value of VALUES) {
      servers.set(`isthmus.${name} ${JSON.stringify(value)}`, { command: 'c', isthmus: { [name]: value } });
    }
  }
  const folder = folderWith({ 'a.json': JSON.stringify({ mcpServers: Object.fromEntries(servers) }) });
  const { problems } = await readServers('a.json', { cwd: folder, env: {} });
  const bad = new Set(problems.filter(matters).map((problem) => problem.server));
  const differ = [...servers].flatMap(([name, value]) => {
    const marked = !isValid({ mcpServers: { x: value } });
    return marked === bad.has(name)
      ? []
      : [`${name}: ${marked ? 'only the schema' : 'only the reader'} minds`];
  });
  expect(differ).toEqual([]);
  expect(servers.size).toBeGreaterThan(3000);
});

const X = (value: unknown) => ({ mcpServers: { x: value } });
const U = (auth: unknown) => X({ url: 'https://a.example/mcp', auth });

describe('whole documents are judged alike', () => {
  it.each<[unknown]>([
    [{}],
    [{ $schema: 'x', mcpServers: {}, servers: {}, mcp_servers: {}, theme: 'dark' }],
    [
      X({
        command: 'npx',
        args: ['-y', 'x'],
        env: { KEY: '${KEY}' },
        cwd: '~/x',
        autoApprove: [1],
        made: { up: 1 },
      }),
    ],
    [X({ type: 'streamable-http', url: 'https://${HOST:-a.example}/mcp', headers: { A: 'Bearer ${T}' } })],
    [X({ type: 'stdio', command: 'c', url: 'https://ignored.example' })],
    [U('login')],
    [U({ mode: 'login', scopes: ['a'], resource: false })],
    [U({ mode: 'client-credentials', clientId: 'c', clientSecretFile: 's', issuer: 'https://i.example' })],
    [U({ mode: 'client-credentials', clientId: 'c', privateKeyFile: 'k' })],
    [
      U({
        mode: 'token-exchange',
        clientId: 'c',
        privateKeyFile: 'k',
        audience: 'a',
        issuer: 'https://i.example',
      }),
    ],
    [{ servers: { x: { command: 'c' } } }],
    [{ mcp_servers: { x: { url: 'https://a.example', bearer_token_env_var: 'T' } } }],
    [{ mcp: { servers: { x: { command: 'c' } } } }],
    [{ context_servers: { x: { command: 'c' }, ext: { source: 'extension', settings: { a: 1 } } } }],
    [{ inputs: [{ id: 'a', type: 'promptString', default: 'd' }], mcpServers: {} }],
    [{ mcpServers: { 'wetter 🌦': { command: 'c' }, constructor: { command: 'c' } } }],
    [
      {
        gateway: {
          listen: 'stdio',
          limits: { maxQueue: 0 },
          drainMs: 0,
          patienceMs: 1,
          separator: '.',
          extra: 1,
        },
      },
    ],
    [{ gateway: { cluster: { url: 'redis+sentinel://a,b/main', events: 'owner', drainDelayMs: 0 } } }],
    [
      {
        gateway: {
          cluster: { url: 'redis://${R:-r}', listen: 'http://[::]:0', secretFile: 's', tlsCa: 'c' },
        },
      },
    ],
    [{ gateway: { listen: ['unix:/x', 'tcp://a:1', 'http://127.0.0.1:${PORT:-1}/mcp'] } }],
  ])('good: %j', async (document) => {
    expect(await judge(document)).toEqual({ schema: true, reader: true });
  });

  it.each<[unknown]>([
    [[]],
    [{ mcpServers: [] }],
    [{ servers: 'x' }],
    [{ mcp: { servers: 7 } }],
    [X(7)],
    [X({})],
    [X({ command: 'c', url: 'https://a.example' })],
    [X({ type: 'http', command: 'c' })],
    [X({ type: 'stdio', url: 'https://a.example' })],
    [X({ type: 'ws', url: 'https://a.example' })],
    [X({ url: 'a.example' })],
    [X({ command: 'c', isthmus: [] })],
    [X({ command: 'c', isthmus: { limits: { maxConcurent: 1 } } })],
    [{ context_servers: { x: { command: 7 } } }],
    [{ mcpServers: { '': { command: 'c' } } }],
    [{ mcpServers: { ' ': { command: 'c' } } }],
    [{ mcpServers: { 'a\u0007b': { command: 'c' } } }],
    [{ mcpServers: { ['x'.repeat(129)]: { command: 'c' } } }],
    [JSON.parse('{ "mcpServers": { "__proto__": { "command": "c" } } }')],
    [{ gateway: [] }],
    [{ gateway: { listen: [] } }],
    [{ gateway: { listen: '8080' } }],
    [{ gateway: { separator: '' } }],
    [{ gateway: { separator: 'a b' } }],
    [{ gateway: { limits: { ratePerMinute: 0 } } }],
    [{ gateway: { limits: { rate: 1 } } }],
    [{ gateway: { drainMs: -1 } }],
    [{ gateway: { cluster: 'redis://a' } }],
    [{ gateway: { cluster: { url: 'http://a' } } }],
    [{ gateway: { cluster: { listen: '0.0.0.0:1' } } }],
    [{ gateway: { cluster: { name: 'a b' } } }],
    [{ gateway: { cluster: { events: 'none' } } }],
    [{ gateway: { cluster: { secret: 'x' } } }],
  ])('bad: %j', async (document) => {
    expect(await judge(document)).toEqual({ schema: false, reader: false });
  });
});

it('the examples in it are good', async () => {
  const found: unknown[] = schema['examples'] as unknown[];
  for (const each of server['examples'] as unknown[]) found.push(X(each));
  for (const [name, { examples = [] }] of Object.entries(
    server.properties as Record<string, { examples?: unknown[] }>,
  )) {
    const base =
      name === 'headers'
        ? { url: 'https://a.example' }
        : name === 'url' || name === 'command'
          ? {}
          : { command: 'c' };
    if (name !== 'type') for (const each of examples) found.push(X({ ...base, [name]: each }));
  }
  expect(found.length).toBeGreaterThan(20);
  for (const document of found) {
    expect([document, await judge(document)]).toEqual([document, { schema: true, reader: true }]);
  }
});
