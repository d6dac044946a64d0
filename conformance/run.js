// npm run conformance: the official conformance suite by itself. It is also a stage of npm test.
//   npm run conformance -- --only server                       or client
//   npm run conformance -- --url http://127.0.0.1:3000/mcp     another server than the demo
import { parseArgs } from 'node:util';
import { runSteps } from '../scripts/report.js';
import { SetupError } from '../scripts/setup/main.js';
import { ensureBuilt, ensureInstalled, runMain } from '../scripts/setup.js';
import { conformance } from './stage.js';

await runMain(async () => {
  const { values } = parseArgs({ options: { url: { type: 'string' }, only: { type: 'string' } } });
  const { url, only } = values;
  if (only !== undefined && only !== 'server' && only !== 'client') {
    throw new SetupError(`--only takes server or client, not ${only}`);
  }
  await ensureInstalled();
  if (url === undefined) await ensureBuilt();
  const modes = only && { server: only === 'server', client: only === 'client' };
  await runSteps([{ title: 'conformance', step: () => conformance({ url, ...modes }) }]);
});
