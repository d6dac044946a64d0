import { closeSync, openSync, readFileSync, renameSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';

/**
 * Runs `work` while no other process of this user holds the lock of the path. The lock is a file next to it with the pid
 * of its holder. A lock of a dead process is removed. Meant for work of milliseconds.
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
        `Another process has held ${lock} for more than ${waitMs} ms; remove the file if no isthmus process is running`,
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
/** No holder needs a lock for so long. Its pid may belong to another process by now. */
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

/** Only one of several processes can rename the file. The renamed file must be the one that was checked. */
function breakIfAbandoned(lock: string): void {
  attempt(() => {
    const seen = statSync(lock, { bigint: true });
    const pid = Number(readFileSync(lock, 'utf8'));
    const isOld = Date.now() - Number(seen.mtimeMs) > ABANDONED_MS;
    // A file without a pid is being written.
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
    // Another process was faster.
  }
}
