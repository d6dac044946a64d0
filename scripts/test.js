// npm test: everything. With arguments (npm test -- test/wire) only the tests, narrowed by vitest.
import { conformance } from '../conformance/stage.js';
import { examples } from './examples.js';
import { runSteps } from './report.js';
import { ensureInstalled, runMain } from './setup.js';
import { build, lint, tests, typeCheck } from './steps.js';

const args = process.argv.slice(2);

const everything = [
  { title: 'build', step: build },
  { title: 'type check', step: typeCheck },
  { title: 'lint', step: lint },
  { title: 'tests', step: () => tests([], { retry: true }), needs: ['build'] },
  { title: 'examples', step: examples, needs: ['build'] },
  { title: 'conformance', step: () => conformance({ brief: true }), needs: ['build'] },
];

// A failed build does not stop a narrowed run: most tests read src/, and the code may be half-finished.
const narrowed = [
  { title: 'build', step: build },
  { title: 'tests', step: () => tests(args) },
];

await runMain(async () => {
  await ensureInstalled();
  await runSteps(args.length > 0 ? narrowed : everything);
});
