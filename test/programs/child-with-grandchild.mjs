// Its vice: it starts a program that holds its pipes and ignores both the end of input and SIGTERM.
//   leave     exits with code 3 as soon as the grandchild runs
//   detach    the same, with the grandchild in a process group of its own
//   otherwise it exits with code 0 at the end of its input, and leaves the grandchild behind as well
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const how = process.argv[2];
if (how === 'grandchild') {
  process.on('SIGTERM', () => {});
  setInterval(() => {}, 1000);
  // Whoever read the line may have ended the child by now.
  process.stdout.write(`${process.pid}\n`, () => process.send('runs', () => {}));
} else {
  const grandchild = spawn(process.execPath, [fileURLToPath(import.meta.url), 'grandchild'], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: how === 'detach',
  });
  if (how === 'leave' || how === 'detach') grandchild.once('message', () => process.exit(3));
  else process.stdin.on('end', () => process.exit(0)).resume();
}
