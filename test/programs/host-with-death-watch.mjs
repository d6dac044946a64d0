// Its vice: it dies without stopping its children, but has a watch for that. It prints, as JSON, the pids of its
// child and of its watch. With a folder it has a ledger there instead of the watch.
//   wait    for a signal             exit, throw   as soon as the child runs
//   at-once SIGKILL in the very turn in which the child was started
//   leave   stops the child, and close   the watch too; whatever is still open then keeps it from exiting
import { writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createDeathWatch } from '@isthmus/sdk/internal/process/death-watch.js';
import { createLedger } from '@isthmus/sdk/internal/process/ledger/ledger.js';
import { spawnChild } from '@isthmus/sdk/internal/process/spawn-child.js';

const [kind, how, folder] = process.argv.slice(2);
const program = (name) => fileURLToPath(new URL(name, import.meta.url));
const stubborn = program('child-that-ignores-sigterm.mjs');
const commands = {
  stubborn: [process.execPath, stubborn],
  shell: ['sh', '-c', `"${process.execPath}" "${stubborn}" & wait; true`],
  npx: [process.execPath, program('wrapper-like-npx.mjs')],
  // The shell goes at the end of its input, and what it has started lives on.
  leaderless: ['sh', '-c', `"${process.execPath}" "${stubborn}" & read line`],
};
const [command, ...args] = commands[kind];
const watch = createDeathWatch({ onTrouble: tellTrouble });
const ledger = folder && createLedger({ folder });
const watchers = ledger ? [ledger] : [watch];
const child = spawnChild({ command, args, watchers });
const tell = () => writeSync(1, `${JSON.stringify({ child: child.pid, watch: watch.pid ?? 0 })}\n`);
if (how === 'at-once') {
  tell();
  process.kill(process.pid, 'SIGKILL');
}
child.stdout.once('data', begin);

/** Told before another watch is started; in the next turn that one knows all children. */
function tellTrouble({ message }) {
  process.stderr.write(`${message}\n`);
  setImmediate(() => writeSync(1, `${JSON.stringify({ watch: watch.pid ?? 0 })}\n`));
}

async function begin() {
  tell();
  if (how === 'exit') process.exit(7);
  if (how === 'throw') throw new Error('nobody catches this');
  if (how === 'leave' || how === 'close') await child.kill();
  if (how === 'close') await watch.close();
}
