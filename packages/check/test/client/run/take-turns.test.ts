import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import { expect, it } from 'vitest';
import { FakeClock } from '../../../../../test/support/fake-clock.js';
import { takeTurns } from '../../../src/client/run/check-client.js';

it('another run begins beside one that only waits', async () => {
  const clock = new FakeClock();
  const first = createDeferred<void>();
  const begun: number[] = [];
  const all = takeTurns(
    [1, 2, 3],
    1,
    async (plan) => {
      begun.push(plan);
      if (plan === 1) await first.promise;
    },
    { clock, patienceMs: 1000 },
  );
  expect(begun).toEqual([1]);
  clock.advance(1000);
  await expect.poll(() => begun).toEqual([1, 2, 3]);
  first.resolve();
  await all;
});

it('a run that fails fails them all, also one that was late', async () => {
  const clock = new FakeClock();
  const first = createDeferred<void>();
  const all = takeTurns([1, 2], 1, (plan) => (plan === 1 ? first.promise : Promise.resolve()), {
    clock,
    patienceMs: 1000,
  });
  clock.advance(1000);
  first.reject(new Error('no folder'));
  await expect(all).rejects.toThrow('no folder');
});
