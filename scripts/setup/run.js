import { spawn } from 'node:child_process';
import { root } from './paths.js';

const ownGroup = process.platform !== 'win32';
const running = new Set();

/**
 * Runs a command, in the checkout by default, and resolves, never rejects, with
 * `{ ok, code, signal, timedOut, output, ms }`.
 *
 * `output: 'inherit'` shows what the command writes, `'collect'` (the default) keeps it. The command gets
 * no stdin, and when it ends, or overstays `limitMs`, whatever it has started ends with it.
 */
export function run(
  command,
  args,
  { output = 'collect', limitMs = 600_000, cwd = root, env = process.env, shell } = {},
) {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    const chunks = [];
    let timedOut = false;
    const stream = output === 'inherit' ? 'inherit' : 'pipe';
    const child = spawn(command, args, {
      cwd,
      env,
      shell,
      stdio: ['ignore', stream, stream],
      detached: ownGroup,
    });
    track(child);
    const timer = setTimeout(() => {
      timedOut = true;
      killGroup(child);
    }, limitMs);
    child.stdout?.on('data', (chunk) => chunks.push(chunk));
    child.stderr?.on('data', (chunk) => chunks.push(chunk));
    const settle = (code, signal) => {
      clearTimeout(timer);
      untrack(child);
      resolve({
        ok: code === 0 && !timedOut,
        code,
        signal,
        timedOut,
        output: Buffer.concat(chunks).toString('utf8'),
        ms: performance.now() - startedAt,
      });
    };
    child.on('error', (error) => {
      chunks.push(Buffer.from(`${error.message}\n`));
      settle(null, null);
    });
    // A leftover grandchild keeps the pipes open, and 'close' would wait for it.
    child.on('exit', () => killGroup(child));
    child.on('close', settle);
  });
}

/** How a command ended, as text. */
export function describeEnd({ ok, code, signal, timedOut, ms }) {
  const seconds = `${(ms / 1000).toFixed(1)} s`;
  if (ok) return `done in ${seconds}`;
  if (timedOut) return `stopped after ${seconds}: it took too long`;
  if (signal) return `ended by ${signal} after ${seconds}`;
  return code === null ? 'could not be started' : `exit code ${code} after ${seconds}`;
}

function killGroup(child) {
  try {
    if (ownGroup) process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {
    // No process is left in the group.
  }
}

// A command in a group of its own does not hear the terminal's Ctrl-C: we pass the end on. Only while one
// runs, since afterwards the signals belong to whatever the script starts in this process.
const signals = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 };

function track(child) {
  if (running.size === 0) for (const signal of Object.keys(signals)) process.on(signal, endAll);
  running.add(child);
}

function untrack(child) {
  running.delete(child);
  if (running.size === 0) for (const signal of Object.keys(signals)) process.off(signal, endAll);
}

function endAll(signal) {
  for (const child of running) killGroup(child);
  process.exit(128 + signals[signal]);
}
