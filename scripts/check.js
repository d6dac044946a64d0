// npm run check: types and lint, without running anything. The build comes first, since the examples are
// checked against the declarations of the built package.
import { runSteps } from './report.js';
import { ensureInstalled, runMain } from './setup.js';
import { build, lint, typeCheck } from './steps.js';

await runMain(async () => {
  await ensureInstalled();
  await runSteps([
    { title: 'build', step: build },
    { title: 'type check', step: typeCheck },
    { title: 'lint', step: lint },
  ]);
});
