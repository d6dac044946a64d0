import { stat } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/async/clock.js';
import { guardStore } from '../../src/cluster/guard-store.js';
import { memoryStore } from '../../src/cluster/memory-store.js';
import type { ClusterStore } from '../../src/cluster/store.js';

function guarded(changes: Partial<ClusterStore>) {
  return guardStore(Object.assign(memoryStore(), changes), systemClock);
}

it('an answer that has come counts, also if this process was too busy to read it in time', async () => {
  const store = guarded({
    async recall() {
      await stat('.');
      return Buffer.from('answered');
    },
  });
  const recalled = store.recall('key');
  // Longer than the 250 ms that a caller waits.
  const until = performance.now() + 400;
  while (performance.now() < until);
  expect(await recalled).toEqual(Buffer.from('answered'));
});

it('a member that leaves says so, also if the store has not answered lately', async () => {
  const left: string[] = [];
  const store = guarded({
    recall: () => Promise.reject(new Error('away')),
    leave: async (member) => void left.push(member),
  });
  for (let attempt = 0; attempt < 4; attempt += 1) await expect(store.recall('key')).rejects.toThrow('away');
  expect(store.health.isUp).toBe(false);
  await store.leave('a');
  expect(left).toEqual(['a']);
});
