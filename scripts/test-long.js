// npm run test:long: the tests that take minutes and prove what npm test proves, with more partners or more of it.
import { runSteps } from './report.js';
import { ensureInstalled, runMain } from './setup.js';
import { build, tests } from './steps.js';

process.env.ISTHMUS_LONG = '1';
const LIMIT_MS = 28 * 60_000;

await runMain(async () => {
  await ensureInstalled();
  await runSteps([
    { title: 'build', step: build },
    {
      title: 'tests',
      step: () => tests(process.argv.slice(2), { retry: true, limitMs: LIMIT_MS }),
      needs: ['build'],
    },
  ]);
});
