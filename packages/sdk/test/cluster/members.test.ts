import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import type { Clock } from '../../src/async/clock.js';
import { createClusterKeys } from '../../src/cluster/cluster-keys.js';
import { Members } from '../../src/cluster/members.js';
import { memoryStore } from '../../src/cluster/memory-store.js';
import { chooseMember } from '../../src/cluster/rendezvous.js';
import type { ClusterStore } from '../../src/cluster/store.js';

const keys = createClusterKeys('a secret of a test, with enough characters');

function member(store: ClusterStore, clock: Clock, address: string, own = keys): Members {
  const facts = {
    address,
    version: '1',
    protocol: 1,
    state: 'ready',
    host: 'h',
    servers: {},
    secrets: own.names,
  } as const;
  return new Members({ store, keys: own, clock, facts });
}

/** Lets time pass in steps, so that what falls due can also answer. */
async function pass(clock: FakeClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 250) {
    clock.advance(Math.min(250, left));
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The clock of another machine. */
function shifted(clock: Clock): Clock & { byMs: number } {
  const own = { byMs: 0, now: () => clock.now() + own.byMs, after: clock.after.bind(clock) };
  return own;
}

async function pair() {
  const clock = new FakeClock();
  const store = memoryStore({ clock });
  const state = { isDown: false };
  const cut = new Proxy(store, {
    get: (target, name: keyof ClusterStore) =>
      name === 'beat'
        ? (...args: Parameters<ClusterStore['beat']>) =>
            state.isDown ? Promise.reject(new Error('down')) : target.beat(...args)
        : (target[name] as () => void).bind(target),
  });
  const own = shifted(clock);
  const [a, b] = [member(store, clock, 'http://a:1'), member(cut, own, 'http://b:1')];
  await a.join();
  await b.join();
  await pass(clock, 1000);
  return { clock, store, state, own, a, b };
}

describe('the members of a cluster', () => {
  it('know each other at once, with their addresses', async () => {
    const { a, b } = await pair();
    expect(a.all.map(({ address }) => address).sort()).toEqual(['http://a:1', 'http://b:1']);
    expect(b.find(a.self)?.address).toBe('http://a:1');
    expect(a.standingOf(b.self)).toBe('alive');
  });

  it('take a member for gone after five seconds of silence, and not before', async () => {
    const { clock, state, a, b } = await pair();
    state.isDown = true;
    await pass(clock, 4000);
    expect(a.standingOf(b.self)).toBe('alive');
    await pass(clock, 2500);
    expect(a.standingOf(b.self)).toBe('gone');
    // It may still work. Where it refuses connections, it does not.
    expect(a.findPast(b.self)?.address).toBe('http://b:1');
    await a.fence(b.self);
    expect(a.findPast(b.self)).toBeUndefined();
  });

  it('doubt no member while they cannot reach the store, nor for five seconds after', async () => {
    const { clock, store, state, a, b } = await pair();
    const gone = a.self;
    state.isDown = true;
    // It cannot hear that the other one leaves.
    store.publish = () => Promise.resolve();
    await a.leave();
    await pass(clock, 10_000);
    expect(b.standingOf(gone)).not.toBe('gone');
    state.isDown = false;
    await pass(clock, 1000);
    expect(b.standingOf(gone)).toBe('alive');
    expect(b.standingOf('a-stranger')).toBe('unsure');
    await pass(clock, 5500);
    expect(b.standingOf(gone)).toBe('gone');
  });

  it('doubt no member when the store has forgotten all of them', async () => {
    const { clock, store, a, b } = await pair();
    // As after FLUSHALL.
    for (const { self } of [a, b]) await store.leave(self);
    await b.refresh();
    expect(b.find(a.self)?.address).toBe('http://a:1');
    expect(b.standingOf('a-stranger')).toBe('unsure');
    await pass(clock, 2500);
    expect(b.standingOf(a.self)).toBe('alive');
    expect(a.standingOf(b.self)).toBe('alive');
  });

  it('forget a member that does not beat again after that', async () => {
    const { clock, store, state, a, b } = await pair();
    state.isDown = true;
    for (const { self } of [a, b]) await store.leave(self);
    await pass(clock, 4000);
    expect(a.standingOf(b.self)).toBe('alive');
    await pass(clock, 2500);
    expect(a.find(b.self)).toBe(undefined);
    expect(a.standingOf(b.self)).toBe('gone');
  });

  it('have the time of the store, and when each of them started by it, whatever their own clocks say', async () => {
    const clock = new FakeClock();
    const store = memoryStore({ clock });
    const late = shifted(clock);
    late.byMs = -3_600_000;
    const [a, b] = [member(store, clock, 'http://a:1'), member(store, late, 'http://b:1')];
    await a.join();
    await pass(clock, 1000);
    await b.join();
    await pass(clock, 1000);
    expect([a.now, b.now]).toEqual([1_002_000, 1_002_000]);
    expect(a.all.map(({ startedAt }) => startedAt)).toEqual([1_000_000, 1_001_000]);
    // A clock that is set while the member runs.
    late.byMs = 7_200_000;
    await pass(clock, 1000);
    expect(b.now).toBe(1_003_000);
  });

  it('do not doubt the others for longer when their own clock is set back', async () => {
    const { clock, state, own, a, b } = await pair();
    state.isDown = true;
    await pass(clock, 2000);
    state.isDown = false;
    await pass(clock, 1000);
    expect(b.standingOf('gone')).toBe('unsure');
    own.byMs = -3_600_000;
    await pass(clock, 6000);
    expect(b.standingOf('gone')).toBe('gone');
    expect(b.standingOf(a.self)).toBe('alive');
  });

  it('hear at once of a member that leaves', async () => {
    const { clock, a, b } = await pair();
    const id = a.self;
    await a.leave();
    await pass(clock, 250);
    expect(b.standingOf(id)).toBe('gone');
  });

  it('take a member that says that it leaves for gone at once, also while the store is not believed yet', async () => {
    const { clock, store, state, a, b } = await pair();
    const [gone, former] = [a.self, 'formerly'];
    // One that has lived on under another name.
    await store.fence(gone);
    await pass(clock, 2500);
    expect(b.find(gone)?.id).toBe(a.self);
    state.isDown = true;
    await pass(clock, 2000);
    state.isDown = false;
    await pass(clock, 1000);
    // Others that are not in the list may have had no chance to beat.
    expect([b.isUnsure, b.standingOf(former)]).toEqual([true, 'unsure']);
    const ids = [gone, a.self];
    await a.leave();
    await pass(clock, 250);
    expect(ids.map((id) => b.standingOf(id))).toEqual(['gone', 'gone']);
    expect([b.isUnsure, b.all.map(({ id }) => id)]).toEqual([true, [b.self]]);
    // It may still answer what it was asked.
    expect(b.findPast(ids[1]!)?.address).toBe('http://a:1');
  });

  it('do not believe it when no member has said it, nor that a stranger leaves for another', async () => {
    const { clock, store, state, a, b } = await pair();
    state.isDown = true;
    await pass(clock, 2000);
    const others = createClusterKeys('another secret, long enough for a test');
    await store.publish('members', others.sealer('member', 'leaving').seal(Buffer.from(`leaving ${a.self}`)));
    await store.publish('members', Buffer.from(a.self));
    await store.publish('members', Buffer.from(`leaving ${a.self}`));
    // What a member says of itself when it beats.
    await store.publish('members', keys.sealer('member', a.self).seal(Buffer.from(a.self)));
    await pass(clock, 250);
    expect(b.standingOf(a.self)).toBe('alive');
    await store.publish('members', keys.sealer('member', 'leaving').seal(Buffer.from(`leaving ${a.self}`)));
    await pass(clock, 250);
    expect(b.standingOf(a.self)).toBe('gone');
  });

  it('hear what a member says while it beats', async () => {
    const { clock, a, b } = await pair();
    // This beat has the facts of before.
    const beating = b.refresh();
    await b.say({ state: 'draining' });
    await beating;
    await pass(clock, 250);
    expect(a.find(b.self)?.state).toBe('draining');
  });

  it('know which processes have another secret, and do not count them', async () => {
    const { clock, store, a } = await pair();
    const other = member(
      store,
      clock,
      'http://c:1',
      createClusterKeys('another secret, long enough for a test'),
    );
    await other.join();
    await pass(clock, 1000);
    expect([a.strangers, a.all.length]).toEqual([[other.self], 2]);
    expect([other.strangers.length, other.all.length]).toEqual([2, 1]);
    await other.leave();
    await pass(clock, 1000);
    expect(a.strangers).toEqual([]);
  });

  it('go on under another name when they were fenced, and are found under the old one', async () => {
    const { clock, a, b } = await pair();
    const before = a.self;
    let doubts = 0;
    a.onDoubt(() => {
      doubts += 1;
    });
    expect(await b.fence(before)).toBe(true);
    expect(b.standingOf(before)).toBe('gone');
    await pass(clock, 1500);
    expect(a.self).not.toBe(before);
    expect(a.isSelf(before)).toBe(true);
    expect(b.find(before)?.id).toBe(a.self);
    expect(b.standingOf(before)).toBe('alive');
    expect(doubts).toBe(1);
  });

  it('do not declare a member dead again that has lived on: its address is wrong, or behind a firewall', async () => {
    const { clock, a, b } = await pair();
    expect(await b.fence(a.self)).toBe(true);
    await pass(clock, 1500);
    expect(b.standingOf(a.self)).toBe('alive');
    expect(await b.fence(a.self)).toBe(false);
    await pass(clock, 1500);
    expect([a.own.formerly.length, b.all.length]).toEqual([1, 2]);
  });

  it('learn that others may have taken over what they own after they were silent', async () => {
    const { clock, state, b } = await pair();
    let doubts = 0;
    b.onDoubt(() => {
      doubts += 1;
    });
    expect(b.confirm()).toBeUndefined();
    state.isDown = true;
    await pass(clock, 7000);
    state.isDown = false;
    await pass(clock, 1500);
    expect(doubts).toBe(1);
  });

  it('ask first when they were stopped for a while', async () => {
    const { clock, a } = await pair();
    // All timers of the process are late.
    clock.after = () => () => {};
    await pass(clock, 6000);
    const confirming = a.confirm();
    expect(confirming).toBeInstanceOf(Promise);
    await confirming;
    expect(a.confirm()).toBeUndefined();
  });

  it.each(['not JSON', 'null', '[]', '{}', '{"version":"9","address":"http://c:1","formerly":"x"}'])(
    'know a member of another version, and do not talk to it: %s',
    async (said) => {
      const { clock, store, b } = await pair();
      const facts = keys.sealer('member', 'cccccccc').seal(Buffer.from(said));
      await store.beat({ member: 'cccccccc', facts, ttlMs: 5000 });
      await pass(clock, 1000);
      const version = said.includes('"9"') ? '9' : 'unknown';
      expect(b.find('cccccccc')).toMatchObject({ version, protocol: 0, address: '' });
      expect([b.all.length, b.isConnected]).toEqual([3, true]);
    },
  );

  it('do not believe facts that no member has written', async () => {
    const { clock, store, a, b } = await pair();
    const stranger = member(
      store,
      clock,
      'http://evil:1',
      createClusterKeys('another secret, long enough for a test'),
    );
    await stranger.join();
    const forged = Buffer.from(JSON.stringify({ ...a.own, address: 'http://evil:1' }));
    await store.beat({ member: a.self, facts: forged, ttlMs: 5000 });
    // The facts of one member under the name of another.
    await store.beat({ member: 'zzzzzzzz', facts: keys.sealer('member', a.self).seal(forged), ttlMs: 5000 });
    await pass(clock, 1500);
    expect(b.all.map(({ address }) => address)).not.toContain('http://evil:1');
  });
});

describe('the choice of a member for a key', () => {
  const ids = ['aaaaaaaa', 'bbbbbbbb', 'cccccccc', 'dddddddd'];
  const choose = (members: readonly string[]) =>
    Array.from({ length: 1000 }, (_, index) => chooseMember(`key ${index}`, members)!);

  it('does not depend on their order, and gives each about the same', () => {
    expect(choose(ids)).toEqual(choose([...ids].reverse()));
    for (const id of ids) expect(choose(ids).filter((each) => each === id).length).toBeGreaterThan(200);
    expect(chooseMember('x', [])).toBeUndefined();
  });

  it('changes only for the keys of a member that goes', () => {
    const before = choose(ids);
    const after = choose(ids.slice(1));
    const moved = before.filter((each, index) => each !== 'aaaaaaaa' && after[index] !== each);
    expect(moved).toEqual([]);
  });
});
