// npm run soak -- --storms 10: storms over a gateway for so many minutes, each with a seed of its own.
//   npm run soak -- --storms 1 --seed 4711        the storm that found something, once more

import { SetupError } from './setup/main.js';
import { inRoot } from './setup/paths.js';
import { describeEnd, run } from './setup/run.js';

/** One storm; servers are started before it, and all is calmed down and looked at after it. */
const STORM_MS = 60_000;

/** Whether every storm was weathered. */
export async function soakStorms(minutes, seed) {
  if (!(Number.isSafeInteger(minutes) && minutes > 0)) {
    throw new SetupError('--storms is a whole number of minutes');
  }
  if (seed !== undefined && !Number.isSafeInteger(seed)) throw new SetupError('--seed is a whole number');
  const seeds = Array.from({ length: minutes }, () => seed ?? Math.floor(Math.random() * 1_000_000));
  console.log(`soak: ${minutes} storms of a minute, with the seeds ${seeds.join(', ')}`);
  const end = await run(
    process.execPath,
    [inRoot('node_modules/vitest/vitest.mjs'), 'run', 'packages/gateway/test/chaos/chaos.test.ts'],
    {
      output: 'inherit',
      limitMs: minutes * 2 * STORM_MS + 120_000,
      env: { ...process.env, ISTHMUS_CHAOS_SEED: seeds.join(','), ISTHMUS_CHAOS_MS: String(STORM_MS) },
    },
  );
  console.log(`soak: ${describeEnd(end)}`);
  return end.ok;
}
