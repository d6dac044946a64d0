// A server under test: a command of ours that serves HTTP on a free port, with the Node that runs us.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { SetupError } from '../../scripts/setup/main.js';
import { inRoot } from '../../scripts/setup/paths.js';

const startMs = 20_000;
const stopMs = 15_000;
const listen = ['--listen', 'http://127.0.0.1:0/mcp'];
const isthmus = inRoot('bin/isthmus.js');

/** Gives the demo's address to `work`, and ends the demo after it. */
export function withDemo(work) {
  return withProgram(['demo', ...listen], work);
}

/** The same with a bridge in front of the demo, which is a stdio server then, and speaks the era that is named. */
export function withBridge(era, work) {
  const demo = [process.execPath, isthmus, 'demo', ...(era ? ['--era', era] : [])];
  return withProgram(['serve', ...listen, '--', ...demo], work);
}

async function withProgram(args, work) {
  // What was remembered about servers in earlier runs must not decide anything.
  const cache = mkdtempSync(join(tmpdir(), 'isthmus-cache-'));
  const env = { ...process.env, XDG_CACHE_HOME: cache };
  const child = spawn(process.execPath, [isthmus, ...args], { stdio: ['ignore', 'ignore', 'pipe'], env });
  const exited = new Promise((resolve) => child.once('close', resolve));
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  try {
    return await work(await addressOf(child, args[0]));
  } finally {
    child.kill('SIGTERM');
    const impatience = setTimeout(kill, stopMs);
    await exited;
    clearTimeout(impatience);
    process.off('exit', kill);
    rmSync(cache, { recursive: true, force: true });
  }
}

function addressOf(child, command) {
  const said = [];
  return new Promise((resolve, reject) => {
    const fail = (how) =>
      reject(new SetupError(`isthmus ${command} ${how}; it said:\n${said.join('\n') || '(nothing)'}`));
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
