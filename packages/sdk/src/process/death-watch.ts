import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { type Clock, systemClock, within } from '../async/clock.js';
import { messageOf } from '../errors.js';
import type { ChildWatcher } from './child.js';
import { type WatchProgram, watchProgram } from './death-watch-program.js';

/**
 * No child outlives us, not even when we are killed by SIGKILL and nothing here runs any more. A small process of
 * its own holds the other end of a pipe; the system closes ours when we die, however we die, and then it ends
 * what was ours, with wrappers and grandchildren.
 */
export interface DeathWatch extends ChildWatcher {
  /** Undefined before the first child, and while it does not run. */
  readonly pid: number | undefined;
  /** Sends it home without any harm to children. Settles always; twice is harmless. */
  close(): Promise<void>;
}

export interface DeathWatchOptions {
  readonly clock?: Clock;
  /** It could not be started, or has died. Children go on without it. */
  readonly onTrouble?: (error: Error) => void;
  /** What it runs; by default what the platform needs. */
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
      // Whoever is told must not make it worse.
    }
  };

  const start = () => {
    starts = starts.filter((at) => clock.now() - at < PERIOD_MS);
    if (starts.length > MAX_RESTARTS) return report(`has died ${starts.length} times within a minute`);
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
    // It does not read, and what it does not know of it gets wrong. Another one hears the list anew.
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
      closing ??= watch ? sendHome(watch, clock) : Promise.resolve();
      return closing;
    },
  };
}

/** How often it is started again within a period. */
const MAX_RESTARTS = 3;
const PERIOD_MS = 60_000;
const MAX_UNREAD_BYTES = 1024 * 1024;
const HOME_MS = 1000;

function startWatch(
  { command, args, env, cwd }: WatchProgram,
  onEnd: (why: string, cause?: unknown) => void,
): ChildProcess | undefined {
  try {
    // A session of its own: what a terminal sends to our group does not concern it.
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
    watch.once('exit', (code, signal) => onEnd(`has ended by itself (${signal ?? `code ${code}`})`));
    watch.stdin.on('error', () => {});
    watch.unref();
    (watch.stdin as Socket).unref();
    return watch;
  } catch (error) {
    queueMicrotask(() => onEnd(`could not be started: ${messageOf(error)}`, error));
    return undefined;
  }
}

async function sendHome(watch: ChildProcess, clock: Clock): Promise<void> {
  const gone = once(watch, 'exit');
  watch.ref();
  watch.stdin?.end('.\n');
  if (await within(clock, HOME_MS, gone)) return;
  watch.kill('SIGKILL');
  await within(clock, HOME_MS, gone);
  watch.unref();
}
