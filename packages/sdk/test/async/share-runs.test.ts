import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createDeferred } from '../../src/async/deferred.js';
import { shareRuns } from '../../src/async/share-runs.js';

it('those who ask in one turn share a run, and those who ask during it share the next', async () => {
  const runs = [createDeferred<void>(), createDeferred<void>()];
  let begun = 0;
  const ask = shareRuns(async () => {
    const number = begun;
    begun += 1;
    await runs[number]!.promise;
    return number;
  });
  const first = [ask(), ask()];
  await nextTurn();
  const later: Promise<number>[] = [];
  for (let turn = 0; turn < 20; turn += 1) {
    later.push(ask());
    await nextTurn();
  }
  expect(begun).toBe(1);
  runs[0]!.resolve();
  expect(await Promise.all(first)).toEqual([0, 0]);
  runs[1]!.resolve();
  expect(await Promise.all(later)).toEqual(Array(20).fill(1));
  expect(begun).toBe(2);
});

it('who asks after a run gets a new one', async () => {
  let begun = 0;
  const ask = shareRuns(async () => ++begun);
  expect([await ask(), await ask(), await ask()]).toEqual([1, 2, 3]);
});
