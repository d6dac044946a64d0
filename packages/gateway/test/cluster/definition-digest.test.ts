import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClusterKeys } from '@isthmus/sdk/internal/cluster/cluster-keys.js';
import { readServers } from '@isthmus/sdk/internal/config/index.js';
import { expect, it, onTestFinished } from 'vitest';
import { digestDefinition, isSameDefinition } from '../../src/cluster/definition-digest.js';
import { type GatewayServerSpec, validateServer, withGatewayDefaults } from '../../src/server-definition.js';

const KEYS = createClusterKeys('a secret of a test, with enough characters');

/** The digest of the server of a file with this text, in the given folder. */
async function digestOf(folder: string, text: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'mcp.json');
  writeFileSync(file, text);
  const { servers } = await readServers([file]);
  const spec = validateServer(withGatewayDefaults(servers['notes']!, { hasPrincipals: false }));
  expect(spec).not.toMatchObject({ kind: 'broken' });
  return digestDefinition(KEYS, spec);
}

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'isthmus-digest-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

const define = (server: object) => JSON.stringify({ mcpServers: { notes: server } });

it.each([
  ['a command of PATH', { command: 'node', args: ['server.js'] }],
  ['a command beside the file', { command: './server.js', args: ['--fast'] }],
  ['a folder below that of the file', { command: 'node', args: ['server.js'], cwd: 'notes' }],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the references of configuration files look like that.
  ['arguments with its folder', { command: 'node', args: ['--root=${workspaceFolder}/data'] }],
  ['a server elsewhere', { url: 'https://notes.example/mcp' }],
])('the same file at another path has the same digest: %s', async (_, server) => {
  const base = folder();
  const [here, there] = [join(base, 'a'), join(base, 'etc', 'isthmus')];
  expect(await digestOf(here, define(server))).toBe(await digestOf(there, define(server)));
  // Other lines before it do not matter either.
  expect(await digestOf(here, `\n\n${define(server)}`)).toBe(await digestOf(there, define(server)));
});

it('the order of the options does not matter', async () => {
  const base = folder();
  const one = { command: 'node', args: ['x.js'], env: { A: '1', B: '2' }, isthmus: { stateless: true } };
  const other = { isthmus: { stateless: true }, env: { B: '2', A: '1' }, args: ['x.js'], command: 'node' };
  expect(await digestOf(base, define(one))).toBe(await digestOf(base, define(other)));
});

it.each([
  ['another argument', { command: 'node', args: ['y.js'] }],
  ['arguments in another order', { command: 'node', args: ['x.js', '--b', '--a'] }],
  ['another variable', { command: 'node', args: ['x.js', '--a', '--b'], env: { A: '1' } }],
  ['another folder', { command: 'node', args: ['x.js', '--a', '--b'], cwd: '/srv/notes' }],
  ['other tools', { command: 'node', args: ['x.js', '--a', '--b'], isthmus: { tools: { deny: ['x'] } } }],
])('another definition has another digest: %s', async (_, server) => {
  const base = folder();
  const usual = { command: 'node', args: ['x.js', '--a', '--b'] };
  expect(await digestOf(base, define(server))).not.toBe(await digestOf(base, define(usual)));
});

it('processes that have a secret in common know that they have the same definition', async () => {
  const [old, next] = ['an old secret, with characters enough', 'the next secret, with characters enough'];
  const spec = { kind: 'url', name: 'notes', url: 'https://a.example/mcp' } as GatewayServerSpec;
  const lists = [[old], [old, next], [next, old], [next]];
  const digests = lists.map((secrets) => digestDefinition(createClusterKeys(secrets), spec));
  const same = digests.slice(1).map((digest, at) => isSameDefinition(digests[at], digest));
  expect(same).toEqual([true, true, true]);
  expect(isSameDefinition(digests[0], digests[3])).toBe(false);
  expect(isSameDefinition(digests[0], undefined)).toBe(false);
});
