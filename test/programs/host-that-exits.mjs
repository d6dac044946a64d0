// Its vice: it ends without stopping its children, in the way that it is told: exit, throw, or wait (for a
// signal); `handle` waits too, but handles one SIGTERM and says so.
import { fileURLToPath } from 'node:url';
import { spawnChild } from '@isthmus/sdk/internal/process/spawn-child.js';

const how = process.argv[2];
const program = fileURLToPath(new URL('child-with-grandchild.mjs', import.meta.url));
const child = spawnChild({ command: process.execPath, args: [program] });
if (how === 'handle') process.once('SIGTERM', () => setImmediate(() => process.stdout.write('handled\n')));
child.stdout.setEncoding('utf8').once('data', (grandchild) => {
  process.stdout.write(`${child.pid} ${grandchild.trim()}\n`, () => {
    if (how === 'exit') process.exit(7);
    if (how === 'throw') throw new Error('nobody catches this');
  });
});
