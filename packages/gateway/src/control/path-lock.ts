import { closeSync, openSync, readFileSync, renameSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';

/**
 * Does the work while no other process of this user does the like for the same path. The lock is a file beside it,
 * with the pid of its holder; that of a dead process is taken away. Meant for work of milliseconds.
 */
export async function withPathLock<T>(
  path: string,
  work: () => Promise<T>,
  { waitMs = WAIT_MS, clock = systemClock }: { readonly waitMs?: number; readonly clock?: Clock } = {},
): Promise<T> {
  const lock = `${path}.lock`;
  const until = clock.now() + waitMs;
  while (!take(lock)) {
    breakIfAbandoned(lock);
    if (clock.now() > until) {
      throw new IsthmusError(
        'BUSY',
        `Another process has held ${lock} for more than ${waitMs} ms; remove it if none is there`,
      );
    }
    await new Promise<void>((resolve) => void clock.after(RETRY_MS, resolve));
  }
  try {
    return await work();
  } finally {
    attempt(() => unlinkSync(lock));
  }
}

const WAIT_MS = 10_000;
const RETRY_MS = 20;
/** Nobody needs it for that long: the pid may be another process's by now. */
const ABANDONED_MS = 30_000;

function take(lock: string): boolean {
  try {
    const file = openSync(lock, 'wx', 0o600);
    writeSync(file, String(process.pid));
    closeSync(file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Renaming is what only one of several can do; and what was renamed must be what was looked at. */
function breakIfAbandoned(lock: string): void {
  attempt(() => {
    const seen = statSync(lock, { bigint: true });
    const pid = Number(readFileSync(lock, 'utf8'));
    const isOld = Date.now() - Number(seen.mtimeMs) > ABANDONED_MS;
    // Without a pid it is being written this very moment.
    if (!isOld && (!(pid > 0) || isAlive(pid))) return;
    const mine = `${lock}.${process.pid}`;
    renameSync(lock, mine);
    const taken = statSync(mine, { bigint: true });
    if (taken.ino === seen.ino && taken.mtimeNs === seen.mtimeNs) unlinkSync(mine);
    else renameSync(mine, lock);
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // Gone already, or somebody else's turn.
  }
}
