/** What of a server is for the host, and what for the gateway. */
import { expect, it } from 'vitest';
import type { BridgeOptions } from '../../src/bridge/create-bridge.js';
import type { UpstreamOptions } from '../../src/client/connect.js';
import {
  type GatewaySettings,
  type ServerEntry,
  type ServerParts,
  splitEntry,
} from '../../src/config/index.js';
import { resolveDefinition, type ServerDefinition } from '../../src/host/definition.js';
import type { HttpConnectOptions } from '../../src/transport/http-client/options.js';
import { read, server } from './support.js';

async function split(value: unknown, gateway?: GatewaySettings): Promise<ServerParts> {
  const { servers } = await read(server(value), { workspaceFolder: '/w' });
  return splitEntry(servers['x'] as ServerEntry, gateway);
}

/** Every setting that only a host can use. */
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
  inheritEnv: ['PATH', 'HOME'],
  trustHints: true,
  connectTimeoutMs: 9000,
  silenceMs: 500,
  bootMs: 2000,
  maxRounds: 3,
  maxLineBytes: 1024,
  overlap: true,
  drainMs: 1000,
  health: { everyMs: 1000, timeoutMs: 500, maxSilentMs: 9000 },
  shutdown: { closeMs: 1, termMs: 2, killMs: 3 },
  questions: 'queue',
  stderrBytes: 4096,
};

it('a command: the host gets what it can use, and nothing else', async () => {
  const parts = await split({
    command: 'c',
    args: ['a'],
    env: { A: '1' },
    ...KEPT,
    tools: ['t'],
    needed: false,
    stateless: true,
    limits: { maxQueue: 3 },
  });
  expect(parts).toEqual({
    kind: 'command',
    name: 'x',
    definition: { command: 'c', args: ['a'], env: { A: '1' }, cwd: '/w', ...KEPT },
    bridge: { stateless: true, timeoutMs: 5000 },
    unit: { disabled: false, needed: false, tools: { allow: ['t'] }, limits: { maxQueue: 3 } },
  });
  if (parts.kind !== 'command') throw new Error('no command');
  const definition: ServerDefinition = parts.definition;
  const bridge: BridgeOptions = parts.bridge;
  expect(resolveDefinition('x', definition)).toMatchObject({ timeoutMs: 5000, maxProcesses: 8 });
  expect(bridge.stateless).toBe(true);
});

it('a command: what changes for the gateway alone leaves the definition deeply equal', async () => {
  const before = await split({ command: 'c', env: { A: '1' }, idleMs: 5 });
  const after = await split({
    needed: false,
    command: 'c',
    limits: {},
    tools: [],
    env: { A: '1' },
    idleMs: 5,
  });
  const other = await split({ command: 'c', env: { A: '1' }, idleMs: 6 });
  const definitionOf = (parts: ServerParts) => (parts.kind === 'command' ? parts.definition : undefined);
  expect(definitionOf(after)).toStrictEqual(definitionOf(before));
  expect(definitionOf(other)).not.toEqual(definitionOf(before));
});

it('a URL: everything that has a meaning there', async () => {
  const parts = await split(
    {
      url: 'https://a.example/mcp',
      type: 'sse',
      headers: { A: '1' },
      ...KEPT,
      disabled: true,
      limits: { maxQueue: 3 },
    },
    { limits: { maxQueue: 1, maxSessions: 2 } },
  );
  expect(parts).toEqual({
    kind: 'url',
    name: 'x',
    url: 'https://a.example/mcp',
    connect: { headers: { A: '1' }, sse: 'only', maxAnswerBytes: 1024, maxConcurrent: 16 },
    upstream: {
      mode: '2025-11-25',
      timeoutMs: 5000,
      connectTimeoutMs: 9000,
      silenceMs: 500,
      bootMs: 2000,
      maxRounds: 3,
    },
    bridge: { stateless: false, timeoutMs: 5000, idleMs: 60_000 },
    unit: { disabled: true, needed: true, tools: {}, limits: { maxQueue: 3, maxSessions: 2 } },
  });
  if (parts.kind !== 'url') throw new Error('no URL');
  const connect: HttpConnectOptions = parts.connect;
  const upstream: UpstreamOptions = parts.upstream;
  expect([connect.sse, upstream.mode]).toEqual(['only', '2025-11-25']);
});

it('what is left out is not there', async () => {
  expect(await split({ url: 'https://a.example/mcp' })).toStrictEqual({
    kind: 'url',
    name: 'x',
    url: 'https://a.example/mcp',
    connect: { headers: {}, sse: 'auto' },
    upstream: {},
    bridge: { stateless: false },
    unit: { disabled: false, needed: true, tools: {}, limits: {} },
  });
});
