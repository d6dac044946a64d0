// npm run test:long: the tests that take minutes and prove what npm test proves, with more partners or more of it.
import { runSteps } from './report.js';
import { ensureInstalled, runMain } from './setup.js';
import { build, tests } from './steps.js';

process.env.ISTHMUS_LONG = '1';
const LIMIT_MS = 24 * 60_000;
const chosen = process.argv.slice(2);

await runMain(async () => {
  await ensureInstalled();
  await runSteps([
    { title: 'build', step: build },
    {
      title: 'tests',
      step: () => tests(chosen, { retry: true, limitMs: LIMIT_MS }),
      needs: ['build'],
    },
    ...(chosen.length > 0
      ? []
      : [
          { title: 'flood', step: flood, needs: ['build'] },
          { title: 'busy machine', step: onBusyMachine, needs: ['build'] },
        ]),
  ]);
});

/** Alone: they take the time of all other tests. */
function onBusyMachine() {
  process.env.ISTHMUS_BUSY = '1';
  return tests(['packages/check/test/load/busy-machine.test.ts'], { retry: true, limitMs: 6 * 60_000 });
}

/** Alone: it measures. */
function flood() {
  process.env.ISTHMUS_BUSY = '1';
  return tests(['test/console/flood.test.ts'], { retry: true, limitMs: 4 * 60_000 });
}
