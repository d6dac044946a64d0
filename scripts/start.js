// npm start: a gateway in front of the demo server, with a link to its console. Own arguments after `--` replace that:
//   npm start -- serve --listen unix:/tmp/demo.sock
import { inRoot } from './setup/paths.js';
import { ensureBuilt, ensureInstalled, runMain } from './setup.js';

const PROGRAM = inRoot('bin/isthmus.js');
const DEMO = ['serve', '--console', '127.0.0.1:0', '--name', 'demo', '--', process.execPath, PROGRAM, 'demo'];

await runMain(async () => {
  await ensureInstalled();
  await ensureBuilt();
  const own = process.argv.slice(2);
  const args = own.length > 0 ? own : DEMO;
  // In this process, so that stdio, signals and the exit code belong to the command. A process in between could lose a
  // signal or leave an orphan.
  process.argv = [process.execPath, PROGRAM, ...args];
  await import('../bin/isthmus.js');
});
