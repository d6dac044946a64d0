import { type Cluster, joinCluster, memoryStore } from '@isthmus/sdk/internal/transport/cluster.js';
import { expect, it, onTestFinished } from 'vitest';
import { fixture } from '../../../../test/support/child.js';
import { eventually } from '../../../../test/support/until.js';
import { ask, legacyCall, modernCall, openSession } from '../../../sdk/test/support/http-server.js';
import { Placement, placementOf, seatOf } from '../../src/placement/placement.js';
import type { GatewayServerSpec } from '../../src/server-definition.js';
import type { CallRecord } from '../../src/telemetry/call-record.js';
import { createClusterMetrics } from '../../src/telemetry/cluster-metrics.js';
import { type Opened, type OpenOptions, openGateway } from '../support/open-gateway.js';

/** The rest is run with `npm run test:long`. */
const long = it.runIf(process.env['ISTHMUS_LONG'] === '1');
const secret = 'a secret of a test, with enough characters';

it('a command that remembers has one process in the cluster, which all members use', async () => {
  const members = await startGateways(3, [counter('notes')]);
  const seen = [];
  for (const { url } of [...members, ...members]) seen.push(await count(url));
  expect(seen.map(({ calls }) => calls)).toEqual([1, 2, 3, 4, 5, 6]);
  expect(new Set(seen.map(({ pid }) => pid)).size).toBe(1);
  const processes = await Promise.all(members.map(processesOf));
  expect(processes.map((each) => each.length)).toEqual([1, 0, 0]);
});

it('the operator sees the home of each server, and which calls were handed on, and how long that took', async () => {
  const records: CallRecord[] = [];
  const observer = observerOf((record) => records.push(record));
  const units = [counter('notes'), counter('free', { stateless: true })];
  const [first, second] = (await startGateways(2, units, { observer })) as [Member, Member];
  const home = first.cluster.members.self;
  const metrics = [first, second].map(({ cluster, gateway }) =>
    createClusterMetrics(cluster, () => gateway.placements()),
  );
  for (const { gateway } of [first, second]) {
    expect((await gateway.status()).cluster?.placements).toEqual({
      notes: { placement: 'one', seat: 'everybody', home },
      free: { placement: 'local', seat: undefined, home: undefined },
    });
  }
  await count(first.at('/mcp/notes'));
  await count(second.at('/mcp/notes'));
  const session = await openSession(second.at('/mcp/notes'));
  await session.post(legacyCall(1, 'count'));
  const calls = records.filter(({ method }) => method === 'tools/call');
  const other = second.cluster.members.self;
  expect(calls.map(({ era, handedOnBy }) => [era, handedOnBy])).toEqual([
    ['modern', undefined],
    ['modern', other],
    ['legacy', other],
  ]);
  const [here, there] = (await Promise.all(metrics.map((each) => each.render()))) as [string, string];
  expect(here).toContain('isthmus_cluster_homes{server="notes"} 1\n');
  expect(there).toContain('isthmus_cluster_homes{server="notes"} 0\n');
  expect(here).not.toContain('server="free"');
  expect(here).not.toContain('isthmus_cluster_carry_seconds_count{');
  const handedOn = second.cluster.counts.handedOn;
  expect(there).toContain(`isthmus_cluster_carry_seconds_count{outcome="done"} ${handedOn}\n`);
  // The home is gone: nothing answers at its address.
  await first.kill();
  await count(second.at('/mcp/notes'));
  expect(await metrics[1]!.render()).toContain('isthmus_cluster_homes{server="notes"} 1\n');
});

it.each([
  ['per-principal', true, { placement: 'one', seat: 'principal' }],
  ['per-principal', false, { placement: 'one', seat: 'everybody' }],
  ['per-conversation', true, { placement: 'one', seat: 'session' }],
] as const)(
  'a server with one process %s (callers are authenticated: %s) is at %j',
  async (processes, hasPrincipals, placed) => {
    const cluster = await joinCluster({ store: memoryStore(), secret });
    onTestFinished(() => cluster.leave());
    const placement = new Placement({ cluster, separator: '__', hasPrincipals });
    const spec = counter('notes', { processes });
    placement.setServers([spec]);
    const home = placed.seat === 'everybody' ? cluster.members.self : undefined;
    expect(placement.describe([spec])).toEqual({ notes: { ...placed, home } });
  },
);

long('sessions and calls of an aggregate reach the same process, whichever member gets them', async () => {
  const members = await startGateways(2, [counter('notes'), counter('other', { stateless: true })]);
  const [first, second] = members as [Member, Member];
  expect((await count(second.url, 'notes__count')).calls).toBe(1);
  const session = await openSession(second.url);
  expect(session.id.split('.')[0]).toBe(first.cluster.members.self);
  const { json } = await session.post(legacyCall(1, 'notes__count'));
  expect(json.result.content[0].text.split(' ')[0]).toBe('2');
  expect((await count(second.at('/mcp/notes'))).calls).toBe(3);
  // A server that keeps nothing is called where the request came.
  const [here, there] = [await count(first.url, 'other__count'), await count(second.url, 'other__count')];
  expect([here.calls, there.calls, here.pid === there.pid]).toEqual([1, 1, false]);
});

long('each principal has its process at one member', async () => {
  const members = await startGateways(2, [counter('notes', { processes: 'per-principal' })], {
    endpoint: { authenticate: (request) => request.header('x-user') },
  });
  const names = Array.from({ length: 5 }, (_, index) => `user ${index}`);
  for (const name of names) {
    for (const [index, { url }] of members.entries()) {
      expect((await count(url, 'count', { 'x-user': name })).calls).toBe(index + 1);
    }
  }
  const processes = await Promise.all(members.map(processesOf));
  expect(processes.flat().length).toBe(5);
});

it('members have one process while their secret is replaced', async () => {
  const store = memoryStore();
  const next = 'the next secret of a test, with enough characters';
  const members = [
    await startGateway(store, [counter('notes')], {}, [secret, next]),
    await startGateway(store, [counter('notes')], {}, [next, secret]),
  ];
  await allKnow(members);
  const seen = [];
  for (const { url } of members) seen.push((await count(url)).calls);
  expect(seen).toEqual([1, 2]);
});

it('another member takes over when the home is killed, for calls and for sessions', async () => {
  const members = await startGateways(3, [counter('notes')]);
  const [home, second, third] = members as [Member, Member, Member];
  const session = await openSession(third.url);
  await session.post(legacyCall(1, 'count'));
  const before = await count(third.url);
  await home.kill();
  const after = await count(third.url);
  expect([after.calls, after.pid === before.pid]).toEqual([1, false]);
  // The next one is the oldest of those that live. The session goes on there.
  const { json } = await session.post(legacyCall(2, 'count'));
  expect(json.result.content[0].text).toBe(`2 ${after.pid}`);
  expect([(await processesOf(second)).length, (await processesOf(third)).length]).toEqual([1, 0]);
});

long('a member with another definition of a server has its own process', async () => {
  const store = memoryStore();
  const first = await startGateway(store, [counter('notes')]);
  const second = await startGateway(store, [
    counter('notes', { env: { OTHER: '1' } } as Partial<GatewayServerSpec>),
  ]);
  await allKnow([first, second]);
  expect((await count(first.url)).calls).toBe(1);
  expect((await count(second.url)).calls).toBe(1);
});

long('the rate of a server is counted for all members together', async () => {
  const limits = { ratePerMinute: 3 };
  const members = await startGateways(2, [counter('notes', { stateless: true, limits }), counter('other')]);
  const seen = [];
  for (const { url } of [...members, ...members]) {
    const { json } = await ask(url, modernCall(1, 'notes__count', {}));
    seen.push(json.result ? 'done' : (json.error?.data as { reason?: string })?.reason);
  }
  expect(seen).toEqual(['done', 'done', 'done', 'BUSY']);
  expect((await Promise.all(members.map(processesOf))).map((each) => each.length)).toEqual([1, 1]);
});

it.each([
  [{}, 'one', 'everybody', 'everybody'],
  [{ processes: 'per-principal' }, 'one', 'principal ada', 'principal ada'],
  [{ processes: 'per-conversation' }, 'one', undefined, 'principal ada'],
  [{ processes: { pool: 2 } }, 'local', undefined, undefined],
  [{ stateless: true }, 'local', undefined, undefined],
  [{ stateless: true, placement: 'one' }, 'one', 'everybody', 'everybody'],
  [{ placement: 'local' }, 'local', undefined, undefined],
  [{ kind: 'url', url: 'http://127.0.0.1:1/mcp' }, 'local', undefined, undefined],
  [{ kind: 'url', url: 'http://127.0.0.1:1/mcp', placement: 'one' }, 'one', 'principal ada', 'principal ada'],
] as const)('%j is placed as %s', (more, placement, ofSession, ofCall) => {
  const spec = { ...counter('x'), ...more } as GatewayServerSpec;
  expect(placementOf(spec)).toBe(placement);
  expect(seatOf([spec], { method: 'initialize', principal: 'ada' })).toBe(ofSession);
  expect(seatOf([spec], { method: 'tools/call', principal: 'ada' })).toBe(ofCall);
});

interface Member extends Opened {
  readonly cluster: Cluster;
  /** Ends it as a killed process ends: it says nothing to anybody. */
  kill(): Promise<void>;
}

async function startGateways(
  howMany: number,
  units: readonly GatewayServerSpec[],
  options: OpenOptions = {},
): Promise<Member[]> {
  const store = memoryStore();
  const members: Member[] = [];
  for (let index = 0; index < howMany; index += 1) members.push(await startGateway(store, units, options));
  await allKnow(members);
  return members;
}

/** All know each other, and which servers each of them has. They are closed together, since each looks for processes. */
async function allKnow(members: readonly Member[]): Promise<void> {
  onTestFinished(async () => {
    await Promise.all(members.map(({ gateway }) => gateway.close({ graceMs: 0 })));
  });
  await eventually(() => {
    for (const { cluster } of members) {
      const known = cluster.members.all.filter(({ servers }) => Object.keys(servers).length > 0);
      expect(known.length).toBe(members.length);
    }
  });
}

async function startGateway(
  shared: ReturnType<typeof memoryStore>,
  units: readonly GatewayServerSpec[],
  options: OpenOptions = {},
  secrets: string | readonly string[] = secret,
): Promise<Member> {
  let isCut = false;
  const store = new Proxy(shared, {
    get(target, name: keyof typeof shared) {
      const method = target[name] as (...args: unknown[]) => unknown;
      if (typeof method !== 'function') return method;
      return (...args: unknown[]) =>
        isCut && name !== 'subscribe' ? Promise.reject(new Error('cut off')) : method.apply(target, args);
    },
  });
  const cluster = await joinCluster({ store, secret: secrets });
  const opened = await openGateway(units, { ...options, cluster });
  onTestFinished(() => cluster.leave());
  const kill = async () => {
    isCut = true;
    await Promise.all([cluster.leave(), opened.gateway.close({ graceMs: 0 })]);
  };
  return { ...opened, cluster, kill };
}

function observerOf(onClientCall: (record: CallRecord) => void) {
  const ignore = () => {};
  return { onClientCall, onUpstreamCall: ignore, onBegin: ignore, onSession: ignore, onRefused: ignore };
}

function counter(name: string, more: Partial<GatewayServerSpec> = {}): GatewayServerSpec {
  const args = [fixture('server-that-counts.mjs')];
  return {
    ...{ kind: 'command', name, command: process.execPath, args, cwd: process.cwd(), env: {} },
    ...{ processes: 'shared', start: 'eager', ...more },
  } as GatewayServerSpec;
}

async function count(url: string, tool = 'count', headers: Record<string, string> = {}) {
  const call = modernCall(1, tool, {});
  const { json } = await ask(url, { ...call, headers: { ...call.headers, ...headers } });
  const [calls, pid] = json.result.content[0].text.split(' ').map(Number);
  return { calls, pid } as { calls: number; pid: number };
}

async function processesOf({ gateway }: Member) {
  const { servers } = await gateway.status();
  return servers['notes']!.processes!.processes.filter(({ pid }) => pid !== undefined);
}
