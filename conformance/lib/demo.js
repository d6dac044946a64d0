// The server under test: the demo, on a free port, with the Node that runs us.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { SetupError } from '../../scripts/setup/main.js';
import { inRoot } from '../../scripts/setup/paths.js';

const startMs = 20_000;
const stopMs = 5_000;

/** Gives the demo's address to `work`, and ends the demo after it. */
export async function withDemo(work) {
  const args = [inRoot('bin/isthmus.js'), 'demo', '--listen', 'http://127.0.0.1:0/mcp'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = new Promise((resolve) => child.once('close', resolve));
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  try {
    return await work(await addressOf(child));
  } finally {
    child.kill('SIGTERM');
    const impatience = setTimeout(kill, stopMs);
    await exited;
    clearTimeout(impatience);
    process.off('exit', kill);
  }
}

function addressOf(child) {
  const said = [];
  return new Promise((resolve, reject) => {
    const fail = (how) =>
      reject(new SetupError(`The demo server ${how}; it said:\n${said.join('\n') || '(nothing)'}`));
    const timer = setTimeout(() => fail(`named no address within ${startMs / 1000} s`), startMs);
    child.once('error', (error) => fail(`could not be started: ${error.message}`));
    child.once('close', (code, signal) => fail(`ended early (${signal ?? `exit code ${code}`})`));
    // Read to its end: a full pipe would stop the server.
    createInterface({ input: child.stderr }).on('line', (line) => {
      said.push(line);
      const [address] = /http:\/\/\S+/.exec(line) ?? [];
      if (address === undefined) return;
      clearTimeout(timer);
      resolve(address);
    });
  });
}
