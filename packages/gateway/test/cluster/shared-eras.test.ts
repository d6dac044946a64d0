import { memoryEraCache } from '@isthmus/sdk/internal/client/negotiation/era-cache.js';
import { createClusterKeys } from '@isthmus/sdk/internal/cluster/cluster-keys.js';
import { guardStore } from '@isthmus/sdk/internal/cluster/guard-store.js';
import { memoryStore } from '@isthmus/sdk/internal/cluster/memory-store.js';
import type { ClusterStore } from '@isthmus/sdk/internal/cluster/store.js';
import { expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { sharedEras } from '../../src/cluster/shared-eras.js';

const keys = createClusterKeys('a secret of a test, with enough characters');
const KEY = 'node server.js --token secret-word';
const LEGACY = { era: 'legacy', revision: '2025-11-25', at: 1_000_000 } as const;

function cacheOf(store: ClusterStore, own = memoryEraCache({ clock: new FakeClock() })) {
  const clock = new FakeClock();
  const cache = sharedEras({ store: guardStore(store, clock), keys }, own);
  if (!cache) throw new Error('it is switched off');
  return { cache, own };
}

it('what one process knows of a server, the others know, and the store cannot read it', async () => {
  const store = memoryStore();
  const [a, b] = [cacheOf(store), cacheOf(store)];
  const noted: string[] = [];
  const note = store.note.bind(store);
  store.note = (key, value, ttlMs) => {
    noted.push(key, Buffer.from(value ?? []).toString('latin1'));
    return note(key, value, ttlMs);
  };
  expect(await b.cache.get(KEY)).toBeUndefined();
  await a.cache.set(KEY, LEGACY);
  expect(await b.cache.get(KEY)).toEqual(LEGACY);
  expect(await b.cache.get('another server')).toBeUndefined();
  expect(noted.join()).not.toMatch(/secret-word|legacy/);
  await a.cache.delete(KEY);
  // The other one has taken it over, and finds out by itself when it is wrong.
  expect([await a.cache.get(KEY), await b.cache.get(KEY)]).toEqual([undefined, LEGACY]);
});

it('what a stranger has written to the store counts for nothing', async () => {
  const store = memoryStore();
  const { cache } = cacheOf(store);
  store.recall = async () => Buffer.from(JSON.stringify(LEGACY));
  expect(await cache.get(KEY)).toBeUndefined();
});

it('a store that is away is no obstacle', async () => {
  const store = memoryStore();
  const away = () => Promise.reject(new Error('away'));
  const { cache } = cacheOf(Object.assign(store, { note: away, recall: away }));
  expect(await cache.get(KEY)).toBeUndefined();
  await cache.set(KEY, LEGACY);
  expect(await cache.get(KEY)).toEqual(LEGACY);
  await cache.delete(KEY);
});

it('is off where nothing is to be remembered', () => {
  expect(sharedEras({ store: guardStore(memoryStore(), new FakeClock()), keys }, false)).toBe(false);
});
