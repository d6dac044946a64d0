// npm start: the demo server on free ports of this machine, over HTTP and TCP. Own arguments after `--` replace that:
//   npm start -- demo --listen unix:/tmp/demo.sock
import { inRoot } from './setup/paths.js';
import { ensureBuilt, ensureInstalled, runMain } from './setup.js';

const DEMO = ['demo', '--listen', 'http://127.0.0.1:0/mcp', '--listen', 'tcp://127.0.0.1:0'];

await runMain(async () => {
  await ensureInstalled();
  await ensureBuilt();
  const own = process.argv.slice(2);
  const args = own.length > 0 ? own : DEMO;
  // In this very process: stdio, signals and the exit code are the command's own, with nobody in between
  // who could swallow a signal or leave an orphan behind.
  process.argv = [process.execPath, inRoot('bin/isthmus.js'), ...args];
  await import('../bin/isthmus.js');
});
