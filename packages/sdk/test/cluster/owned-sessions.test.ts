import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { createClusterKeys } from '../../src/cluster/cluster-keys.js';
import { Members } from '../../src/cluster/members.js';
import { memoryStore } from '../../src/cluster/memory-store.js';
import { OwnedSessions } from '../../src/cluster/owned-sessions.js';
import { sessionKey } from '../../src/cluster/session-id.js';
import type { ClusterStore } from '../../src/cluster/store.js';

const keys = createClusterKeys('a secret of a test, with enough characters');
const ID = 'a-session';

describe('a process that ends in order', () => {
  it('writes the record of a session again that the store has lost, and gives it up', async () => {
    const { store, sessions, other } = await open();
    await store.drop(sessionKey(ID), { epoch: 1 });
    sessions.release(ID);
    await sessions.settled();
    expect(await other.claim(ID, undefined, 60_000)).toEqual({ kind: 'mine', epoch: 2, record: { of: ID } });
  });

  it('waits for a store that was lost a moment ago, and not for one that is away', async () => {
    const { clock, store, state, members, sessions, other } = await open();
    state.isCut = true;
    await store.drop(sessionKey(ID), { epoch: 1 });
    await members.refresh();
    sessions.release(ID);
    await settle();
    state.isCut = false;
    clock.advance(100);
    await sessions.settled();
    expect(await other.claim(ID, undefined, 60_000)).toEqual({ kind: 'mine', epoch: 2, record: { of: ID } });

    const away = await open();
    away.state.isCut = true;
    await away.members.refresh();
    away.clock.advance(3000);
    away.sessions.release(ID);
    await away.sessions.settled();
    expect(away.state.refused).toContain('release');
  });

  it('does not take a session back that another process has by now', async () => {
    const { store, sessions, other, members } = await open();
    await other.claim(ID, members.self, 60_000);
    await store.release(sessionKey(ID), { by: 'nobody', epoch: 2 });
    sessions.release(ID);
    await sessions.settled();
    expect(await other.claim(ID, 'nobody', 60_000)).toMatchObject({ kind: 'mine', epoch: 3 });
  });
});

describe('the record of a session', () => {
  it.each([
    ['is kept for as long as its client listens', true, 'mine'],
    ['is forgotten some time after the session was used for the last time', false, 'unknown'],
  ])('%s', async (_, isInUse, kind) => {
    const { clock, other, members } = await open({ isInUse });
    // In steps that are shorter than the time after which a silent member is gone.
    for (let second = 0; second < 20 * 60; second += 2) {
      clock.advance(2000);
      await settle();
    }
    expect(await other.claim(ID, members.self, 60_000)).toMatchObject({ kind });
  });
});

/** A session with its record in the store, its owner, and another member. */
async function open({ isInUse = false } = {}) {
  const clock = new FakeClock();
  const store = memoryStore({ clock });
  const state = { isCut: false, refused: [] as string[] };
  const cuttable = new Proxy(store, {
    get(target, name: keyof ClusterStore) {
      const work = (target[name] as (...args: unknown[]) => unknown).bind(target);
      if (name === 'subscribe' || name === 'onBack') return work;
      return (...args: unknown[]) => {
        if (!state.isCut) return work(...args);
        state.refused.push(name);
        return Promise.reject(new Error('cut off'));
      };
    },
  });
  const join = async (own: ClusterStore, address: string) => {
    const facts = {
      address,
      version: '1',
      protocol: 1,
      state: 'ready',
      host: 'h',
      servers: {},
      secrets: [],
    } as const;
    const members = new Members({ store: own, keys, clock, facts });
    await members.join();
    return { members, sessions: new OwnedSessions({ store: own, keys, members, clock }) };
  };
  const { members, sessions } = await join(cuttable, 'http://a:1');
  const { sessions: other } = await join(store, 'http://b:1');
  const session = {
    id: ID,
    ttlMs: 5 * 60_000,
    lastUsedAt: 0,
    isInUse,
    record: () => ({ of: ID }),
    lost() {},
  };
  await sessions.open(session);
  return { clock, store, state, members, sessions, other };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
