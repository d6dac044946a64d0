// npm run conformance: the official conformance suite by itself. It is also a stage of npm test.
//   npm run conformance -- --only server                       or bridge, client, cluster
//   npm run conformance -- --url http://127.0.0.1:3000/mcp     another server than the demo
import { parseArgs } from 'node:util';
import { runSteps } from '../scripts/report.js';
import { SetupError } from '../scripts/setup/main.js';
import { ensureBuilt, ensureInstalled, runMain } from '../scripts/setup.js';
import { conformance, PARTS } from './stage.js';

await runMain(async () => {
  const { values } = parseArgs({ options: { url: { type: 'string' }, only: { type: 'string' } } });
  const { url, only } = values;
  if (only !== undefined && !PARTS.includes(only)) {
    throw new SetupError(`--only takes one of ${PARTS.join(', ')}, not ${only}`);
  }
  await ensureInstalled();
  if (url === undefined) await ensureBuilt();
  await runSteps([{ title: 'conformance', step: () => conformance({ url, only }) }]);
});
