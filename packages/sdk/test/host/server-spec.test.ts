/** What each layer uses of a server that was read from a file. */
import { expect, it } from 'vitest';
import { bridgeOptionsOf } from '../../src/bridge/bridge-options.js';
import type { CommandSpec, ServerEntry, UrlSpec } from '../../src/config/index.js';
import { withoutSource } from '../../src/config/server-spec.js';
import { createHost } from '../../src/host/create-host.js';
import { resolveDefinition } from '../../src/host/definition.js';
import { upstreamOfSpec, upstreamOptionsOf } from '../../src/host/host-upstream.js';
import { connectorOfSpec, httpOptionsOf } from '../../src/host/spec-connector.js';
import { read, server } from '../support/config.js';

async function spec<Kind extends 'command' | 'url'>(
  value: object,
): Promise<Kind extends 'url' ? UrlSpec : CommandSpec> {
  const { servers } = await read(server(value), { workspaceFolder: '/w' });
  return servers['x'] as ServerEntry as Kind extends 'url' ? UrlSpec : CommandSpec;
}

/** Every option that a host can use. */
const KEPT = {
  timeoutMs: 5000,
  mode: '2025-11-25',
  start: 'eager',
  processes: { pool: 4 },
  maxProcesses: 8,
  maxInFlight: 16,
  maxQueue: 0,
  maxParked: 7,
  idleMs: 60_000,
  maxAgeMs: 3_600_000,
  restart: { attempts: 5, firstDelayMs: 100, maxDelayMs: 10_000, stableMs: 60_000, jitter: 0.5 },
  trustHints: true,
  connectTimeoutMs: 9000,
  silenceMs: 500,
  bootMs: 2000,
  maxRounds: 3,
  overlap: true,
  drainMs: 1000,
  health: { everyMs: 1000, timeoutMs: 500, maxSilentMs: 9000 },
  questions: 'queue',
  logStderr: false,
};
const STARTED = {
  inheritEnv: ['PATH', 'HOME'],
  maxLineBytes: 1024,
  shutdown: { closeMs: 1, termMs: 2, killMs: 3 },
  stderrBytes: 4096,
};

it('a host uses every option of a command', async () => {
  const command = await spec<'command'>({ command: 'c', args: ['a'], env: { A: '1' }, ...KEPT, ...STARTED });
  expect(resolveDefinition('x', command)).toMatchObject({
    ...KEPT,
    command: { command: 'c', args: ['a'], env: { A: '1' }, cwd: '/w', ...STARTED },
  });
  expect(bridgeOptionsOf({ ...command, stateless: true })).toStrictEqual({
    stateless: true,
    timeoutMs: 5000,
  });
  expect(connectorOfSpec(command).label).toBe('c a');
});

it('an option that is for the gateway alone does not change the process', async () => {
  const before = await spec<'command'>({ command: 'c', env: { A: '1' }, idleMs: 5 });
  const offered = { needed: false, limits: { maxQueue: 1 }, tools: [], stateless: true };
  const after = await spec<'command'>({ ...offered, command: 'c', env: { A: '1' }, idleMs: 5 });
  const other = await spec<'command'>({ command: 'c', env: { A: '1' }, idleMs: 6 });
  expect(resolveDefinition('x', after)).toStrictEqual(resolveDefinition('x', before));
  expect(resolveDefinition('x', other)).not.toEqual(resolveDefinition('x', before));
});

it('a URL uses every option that has a meaning there', async () => {
  const headers = { A: '1' };
  const url = await spec<'url'>({ url: 'https://a.example/mcp', type: 'sse', headers, ...KEPT, ...STARTED });
  expect(httpOptionsOf(url)).toStrictEqual({
    headers: { A: '1' },
    sse: 'only',
    maxAnswerBytes: 1024,
    maxConcurrent: 16,
  });
  expect(upstreamOptionsOf(url)).toStrictEqual({
    mode: '2025-11-25',
    timeoutMs: 5000,
    connectTimeoutMs: 9000,
    silenceMs: 500,
    bootMs: 2000,
    maxRounds: 3,
  });
  expect(bridgeOptionsOf(url)).toStrictEqual({ stateless: false, timeoutMs: 5000, idleMs: 60_000 });
  expect(bridgeOptionsOf({ ...url, idleMs: false }).idleMs).toBe(2 ** 31 - 1);
  expect(upstreamOfSpec(url).label).toBe('x');
});

it('an option that is left out is not there', async () => {
  const url = await spec<'url'>({ url: 'https://a.example/mcp' });
  expect(httpOptionsOf(url)).toStrictEqual({ headers: {}, sse: 'auto' });
  expect(httpOptionsOf({ ...url, transport: 'http-only' }).sse).toBe('never');
  expect(upstreamOptionsOf(url)).toStrictEqual({});
  expect(bridgeOptionsOf(url)).toStrictEqual({ stateless: false });
  expect(withoutSource(url)).toStrictEqual({
    kind: 'url',
    name: 'x',
    url: 'https://a.example/mcp',
    transport: 'auto',
    headers: {},
  });
});

it('a host takes the commands and URLs that readServers() returns', async () => {
  const { servers } = await read(server({ command: process.execPath, args: ['-e', ''] }));
  const host = createHost({ servers, ledger: false, cache: false });
  expect(host.snapshot('x')).toMatchObject({ name: 'x', state: 'idle' });
  await host.close();
  const { servers: remote } = await read(server({ url: 'https://a.example/mcp' }));
  const other = createHost({ servers: remote, ledger: false, cache: false });
  expect(other.snapshot('x')).toMatchObject({ name: 'x', state: 'idle', processes: [] });
  await other.close();
});
