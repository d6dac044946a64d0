// npm start: a gateway in front of the demo server, with a link to its console. Options after `--` are added, a command
// replaces it:
//   npm start -- --port 9000
//   npm start -- serve --listen unix:/tmp/demo.sock
import { inRoot } from './setup/paths.js';
import { ensureBuilt, ensureInstalled, runMain } from './setup.js';

const PROGRAM = inRoot('bin/isthmus.js');
const SERVE = ['serve', '--console', '127.0.0.1:0'];
const DEMO = ['--name', 'demo', '--', process.execPath, PROGRAM, 'demo'];
const ABOUT_ALL = new Set(['-h', '--help', '-v', '--version']);

await runMain(async () => {
  await ensureInstalled();
  await ensureBuilt();
  const own = process.argv.slice(2);
  const [first = '--'] = own;
  const isCommand = !first.startsWith('-') || ABOUT_ALL.has(first);
  const args = isCommand ? own : [...SERVE, ...own, ...(own.includes('--') ? [] : DEMO)];
  // In this process, so that stdio, signals and the exit code belong to the command. A process in between could lose a
  // signal or leave an orphan.
  process.argv = [process.execPath, PROGRAM, ...args];
  await import('../bin/isthmus.js');
});
