import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { type Clock, systemClock, within } from '../async/clock.js';
import { messageOf } from '../errors.js';
import type { ChildWatcher } from './child.js';
import { type WatchProgram, watchProgram } from './death-watch-program.js';

/**
 * Ends all children when our process dies, even by SIGKILL. A small separate process holds the other end of a pipe. The
 * system closes our end when we die, and then that process ends the children, with wrappers and grandchildren.
 */
export interface DeathWatch extends ChildWatcher {
  /** Undefined before the first child, and while the watch does not run. */
  readonly pid: number | undefined;
  /** Ends the watch, and leaves the children alone. Always settles. A second call is harmless. */
  close(): Promise<void>;
}

export interface DeathWatchOptions {
  readonly clock?: Clock;
  /** Called when the watch could not be started, or has died. The children run on. */
  readonly onTrouble?: (error: Error) => void;
  /** Default: the program for this platform. */
  readonly program?: WatchProgram;
}

export function createDeathWatch(options: DeathWatchOptions = {}): DeathWatch {
  const { clock = systemClock, onTrouble, program = watchProgram() } = options;
  const living = new Map<number, number>();
  let watch: ChildProcess | undefined;
  let starts: readonly number[] = [];
  let closing: Promise<void> | undefined;

  const report = (what: string, cause?: unknown) => {
    try {
      onTrouble?.(new Error(`the death watch ${what}`, { cause }));
    } catch {
      // A failure in the caller's code must not affect the watch.
    }
  };

  const start = () => {
    starts = starts.filter((at) => clock.now() - at < PERIOD_MS);
    if (starts.length > MAX_RESTARTS)
      return report(`has died ${starts.length} times within a minute; it is not started again`);
    starts = [...starts, clock.now()];
    const begun = startWatch(program, (why, cause) => {
      if (watch === begun) watch = undefined;
      if (closing) return;
      report(why, cause);
      if (begun && living.size > 0) start();
    });
    watch = begun;
    if (begun) say([...living].map(([pid, at]) => `+ ${pid} ${at}\n`).join(''));
  };

  const say = (lines: string) => {
    const stdin = watch?.stdin;
    if (!stdin) return;
    stdin.write(lines);
    // A watch that does not read has an outdated list. Its replacement gets the whole list.
    if (stdin.writableLength > MAX_UNREAD_BYTES) watch?.kill('SIGKILL');
  };

  return {
    get pid() {
      return watch?.pid;
    },
    started(pid) {
      if (closing) return;
      const at = Date.now();
      living.set(pid, at);
      if (watch) say(`+ ${pid} ${at}\n`);
      else start();
    },
    ended(pid) {
      if (living.delete(pid)) say(`- ${pid}\n`);
    },
    close() {
      closing ??= watch ? endWatch(watch, clock) : Promise.resolve();
      return closing;
    },
  };
}

/** How often it is restarted within a period. */
const MAX_RESTARTS = 3;
const PERIOD_MS = 60_000;
const MAX_UNREAD_BYTES = 1024 * 1024;
const END_MS = 1000;

function startWatch(
  { command, args, env, cwd }: WatchProgram,
  onEnd: (why: string, cause?: unknown) => void,
): ChildProcess | undefined {
  try {
    // In its own session: signals of a terminal to our group do not reach it.
    const watch = spawn(command, args, {
      cwd,
      env,
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      windowsHide: true,
    });
    watch.on('error', (error) => {
      if (watch.pid === undefined) onEnd(`could not be started: ${messageOf(error)}`, error);
    });
    if (watch.pid === undefined) return undefined;
    watch.once('exit', (code, signal) => onEnd(`has exited unexpectedly (${signal ?? `code ${code}`})`));
    watch.stdin.on('error', () => {});
    watch.unref();
    (watch.stdin as Socket).unref();
    return watch;
  } catch (error) {
    queueMicrotask(() => onEnd(`could not be started: ${messageOf(error)}`, error));
    return undefined;
  }
}

async function endWatch(watch: ChildProcess, clock: Clock): Promise<void> {
  const gone = once(watch, 'exit');
  watch.ref();
  watch.stdin?.end('.\n');
  if (await within(clock, END_MS, gone)) return;
  watch.kill('SIGKILL');
  await within(clock, END_MS, gone);
  watch.unref();
}

/**
 * The watch for children without a host, such as those of `connect(stdio(…))` and of the command line. It starts with the
 * first child and ends a little after the last, since programs that start one child often start another.
 */
export const sharedDeathWatch: ChildWatcher = {
  started(pid) {
    cancelClose();
    living.add(pid);
    shared ??= createDeathWatch();
    shared.started(pid);
  },
  ended(pid) {
    shared?.ended(pid);
    if (!living.delete(pid) || living.size > 0) return;
    cancelClose = systemClock.after(LINGER_MS, closeShared, { background: true });
  },
};

const living = new Set<number>();
let shared: DeathWatch | undefined;
let cancelClose: () => void = () => {};

function closeShared(): void {
  if (living.size > 0) return;
  void shared?.close();
  shared = undefined;
}

const LINGER_MS = 2000;
