/**
 * A measured process. It is always ended: `killAll` kills it when the benchmark itself fails, and every subject exits when
 * its stdin ends.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/**
 * @typedef {object} StartOptions
 * @property {NodeJS.Signals} [endSignal] for a program that does not end when its input does
 * @property {NodeJS.ProcessEnv} [env] besides our own
 * @property {boolean} [hasProbe] it can be asked for its heap; see probe.js
 */

/**
 * @typedef {object} Child
 * @property {import('node:stream').Writable} stdin
 * @property {import('node:stream').Readable} stdout
 * @property {Promise<string>} exited settles with how it ended
 * @property {() => string} stderrTail the end of its stderr
 * @property {() => number | undefined} cpuMicros user + system time of all its threads so far
 * @property {() => number | undefined} rssBytes the memory it holds now (VmRSS)
 * @property {() => number | undefined} peakRssBytes the most memory it ever held (VmHWM)
 * @property {() => Promise<NodeJS.MemoryUsage>} askMemory after garbage collection; needs a probe
 * @property {() => Promise<void>} close ends its input, waits, then kills; settles when it is gone
 */

const STDERR_TAIL = 2000;
const CLOSE_GRACE_MS = 1500;
const PROBE_AT_MOST_MS = 30_000;
const PROBE = ['--expose-gc', '--import', new URL('./probe.js', import.meta.url).href];
// USER_HZ is 100 on every Linux that Node runs on.
const MICROS_PER_TICK = 10_000;

/** @type {Set<import('node:child_process').ChildProcess>} */
const living = new Set();

/** Kills everything this module started; synchronous, so that an `exit` handler can use it. */
export function killAll() {
  for (const process of living) process.kill('SIGKILL');
}

/**
 * Starts `node …args` with its three streams piped.
 * @param {readonly string[]} args
 * @param {string} cwd
 * @param {StartOptions} [options]
 * @returns {Child}
 */
export function startNode(args, cwd, { endSignal, env, hasProbe = false } = {}) {
  const stdio = /** @type {const} */ (['pipe', 'pipe', 'pipe']);
  const child = spawn(process.execPath, hasProbe ? [...PROBE, ...args] : args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: hasProbe ? [...stdio, 'ipc'] : [...stdio],
  });
  const exited = watch(child);
  let stderrTail = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderrTail = (stderrTail + text).slice(-STDERR_TAIL);
  });
  // A write to a process that has just exited. `exited` reports that.
  child.stdin.on('error', () => {});
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    exited,
    stderrTail: () => stderrTail.trim(),
    cpuMicros: () => readProc(() => readCpuMicros(child.pid)),
    rssBytes: () => readProc(() => readStatus(child.pid, /^VmRSS:\s+(\d+) kB$/m)),
    peakRssBytes: () => readProc(() => readStatus(child.pid, /^VmHWM:\s+(\d+) kB$/m)),
    askMemory: async () => {
      child.send('memory');
      const timeout = AbortSignal.timeout(PROBE_AT_MOST_MS);
      const answer = once(child, 'message', { signal: timeout });
      const gone = exited.then((how) =>
        Promise.reject(new Error(`it ${how} when it was asked for its memory`)),
      );
      return (await Promise.race([answer, gone]))[0];
    },
    close: async () => {
      child.stdin.end();
      if (endSignal !== undefined) child.kill(endSignal);
      child.stdout.resume();
      const impatience = setTimeout(() => child.kill('SIGKILL'), CLOSE_GRACE_MS);
      await exited;
      clearTimeout(impatience);
    },
  };
}

/**
 * Runs a command to its end with its output on our stderr; rejects unless it exits with 0.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} cwd
 */
export async function runToEnd(command, args, cwd) {
  const shell = process.platform === 'win32';
  const child = spawn(command, args, { cwd, shell, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.pipe(process.stderr, { end: false });
  child.stderr.pipe(process.stderr, { end: false });
  const end = await watch(child);
  if (child.exitCode !== 0) throw new Error(`\`${command} ${args.join(' ')}\` in ${cwd} ${end}`);
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @returns {Promise<string>}
 */
function watch(child) {
  living.add(child);
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(`could not be started (${error.message})`));
    child.once('close', (code, signal) => resolve(signal ? `died of ${signal}` : `exited with code ${code}`));
  }).finally(() => living.delete(child));
}

/**
 * /proc is there on Linux only, and a process may end while it is read.
 * @param {() => number | undefined} read
 */
function readProc(read) {
  if (process.platform !== 'linux') return undefined;
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** @param {number | undefined} pid */
export function readCpuMicros(pid) {
  return existsSync(`/proc/${pid}/schedstat`) ? readSchedstat(pid) : readStat(pid);
}

/**
 * The first number of a thread's schedstat is its time on a CPU in nanoseconds. /proc/<pid>/schedstat is
 * the main thread alone, and V8 collects garbage and compiles on others, so every task is added up. (A
 * thread that ends would take its time with it, but Node keeps its threads for as long as it lives.)
 * @param {number | undefined} pid
 */
function readSchedstat(pid) {
  let nanos = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    nanos += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ', 1)[0]);
  }
  return nanos / 1000;
}

/**
 * The same in steps of 10 ms, for kernels without schedstat.
 * @param {number | undefined} pid
 */
function readStat(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field, the command's name, may hold spaces: count after its parenthesis.
  const [utime, stime] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(utime) + Number(stime)) * MICROS_PER_TICK;
}

/**
 * @param {number | undefined} pid
 * @param {RegExp} line
 */
function readStatus(pid, line) {
  const match = line.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return match ? Number(match[1]) * 1024 : undefined;
}
