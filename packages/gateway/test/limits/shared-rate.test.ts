import { createClusterKeys } from '@isthmus/sdk/internal/cluster/cluster-keys.js';
import { guardStore } from '@isthmus/sdk/internal/cluster/guard-store.js';
import { memoryStore } from '@isthmus/sdk/internal/cluster/memory-store.js';
import type { ClusterStore } from '@isthmus/sdk/internal/cluster/store.js';
import type { Peer, Service } from '@isthmus/sdk/internal/exchange/call.js';
import { expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { limitService } from '../../src/limits/limit-service.js';
import { createSharedRate } from '../../src/limits/shared-rate.js';

const SECRET = 'a secret of a test, with enough characters';
const ada = { principal: 'ada', era: 'modern' } as Peer;
const bob = { principal: 'bob', era: 'modern' } as Peer;

it('members count the calls of a caller together, and each caller for itself', async () => {
  const { member } = start();
  const [a, b] = [member(), member()];
  const answers = [];
  for (let call = 0; call < 12; call += 1) answers.push(await (call % 2 ? a : b).take(ada));
  // 10 a minute, 10 at once: then one in 6 s.
  expect(answers).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6000, 6000]);
  expect(await a.take(bob)).toBe(0);
});

it('allows a call again when its time has come', async () => {
  const { member, clock } = start();
  const [a, b] = [member(), member()];
  for (let call = 0; call < 10; call += 1) await a.take(ada);
  expect(await b.take(ada)).toBe(6000);
  await clock.advance(2000);
  // This one does not ask the store.
  expect(b.take(ada)).toBe(4000);
  await clock.advance(4000);
  expect([await b.take(ada), await a.take(ada)]).toEqual([0, 6000]);
});

it('asks the store for one call in ten', async () => {
  const { member, operations } = start();
  const rate = member({ perMinute: 1000 });
  for (let call = 0; call < 300; call += 1) expect(await rate.take(ada)).toBe(0);
  expect(operations.count).toBe(3);
});

it('gives each of several calls at once its own permit', async () => {
  const { member } = start();
  const rate = member();
  const answers = await Promise.all(Array.from({ length: 12 }, () => rate.take(ada)));
  expect(answers.filter((each) => each === 0).length).toBe(10);
});

it('allows each member its share while the store is away, and counts together again when it is back', async () => {
  const { member, clock, operations } = start();
  const rate = member({ members: 2 });
  operations.isCut = true;
  const away = [];
  for (let call = 0; call < 6; call += 1) away.push(await rate.take(ada));
  // Half of the rate: 5 at once, then one in 12 s.
  expect(away).toEqual([0, 0, 0, 0, 0, 12_000]);
  operations.isCut = false;
  await clock.advance(1000);
  const back = [];
  for (let call = 0; call < 11; call += 1) back.push(await rate.take(ada));
  expect(back).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6000]);
});

it('members count together while the secret of the cluster is replaced', async () => {
  const [old, next] = [
    'the old secret of a test, long enough',
    'the new secret of a test, long enough',
  ] as const;
  const rings = [[old], [old, next], [next, old], [next]];
  for (const [index, ring] of rings.slice(1).entries()) {
    const { member } = start();
    // One process after the other is restarted with another list.
    const all = [rings[index]!, ring];
    const [a, b] = all.map((secrets) => member({ all, secrets }));
    const answers = [];
    for (let call = 0; call < 11; call += 1) answers.push(await (call % 2 ? a : b)!.take(ada));
    expect(answers).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6000]);
  }
});

it('a service waits for the permit of a call, and refuses it with the time to wait', async () => {
  const { member } = start();
  const inner = { info: { name: 'x', version: '1' }, handle: async () => ({ ok: true }) };
  const service = limitService(inner as unknown as Service, { server: 'x', rate: member({ perMinute: 1 }) });
  const call = { method: 'tools/call', peer: ada } as Parameters<Service['handle']>[0];
  expect(await service.handle(call)).toEqual({ ok: true });
  await expect(async () => service.handle(call)).rejects.toThrow('x');
});

interface MemberOptions {
  readonly perMinute?: number;
  readonly members?: number;
  readonly secrets?: readonly string[];
  /** The secrets of each member. */
  readonly all?: readonly (readonly string[])[];
}

/** Two members with one store and one clock. */
function start() {
  const clock = new FakeClock();
  const operations = { count: 0, isCut: false };
  const shared = memoryStore({ clock });
  const store: ClusterStore = Object.assign(Object.create(shared) as ClusterStore, {
    take(...args: Parameters<ClusterStore['take']>) {
      operations.count += 1;
      return operations.isCut ? Promise.reject(new Error('away')) : shared.take(...args);
    },
  });
  const member = (given: MemberOptions = {}) => {
    const { perMinute = 10, members = 1, secrets = [SECRET] } = given;
    const { all = Array.from({ length: members }, () => secrets) } = given;
    const keys = createClusterKeys(secrets);
    const facts = all.map((each) => ({ secrets: createClusterKeys(each).names }));
    const cluster = { store: guardStore(store, clock), keys, members: { all: facts } } as never;
    return createSharedRate({ cluster, name: 'gateway', perMinute, clock });
  };
  return { clock, operations, member };
}
