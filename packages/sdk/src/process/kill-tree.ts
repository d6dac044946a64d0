import { spawn, spawnSync } from 'node:child_process';
import { eachStat, isRunning } from './proc-stat.js';

/**
 * A child and all that it started. On POSIX that is the process group which the child leads, and which outlives
 * it; on Windows what `taskkill /T` finds below it, for as long as the child itself lives.
 */

/** Sends a signal to a tree. Never throws: a tree that is gone, or not ours, needs no signal. */
export function signalTree(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (process.platform !== 'win32') return signalGroup(pid, signal);
  const force = signal === 'SIGKILL' ? ['/F'] : [];
  const taskkill = spawn('taskkill', ['/pid', String(pid), '/T', ...force], {
    stdio: 'ignore',
    windowsHide: true,
  });
  taskkill.on('error', () => {});
}

/** Kills trees before it returns, for the last moment of our own process. */
export function killTreesNow(pids: readonly number[]): void {
  if (pids.length === 0) return;
  if (process.platform === 'win32') {
    const which = pids.flatMap((pid) => ['/pid', String(pid)]);
    spawnSync('taskkill', [...which, '/T', '/F'], { stdio: 'ignore', windowsHide: true, timeout: 5000 });
  } else {
    for (const pid of pids) signalGroup(pid, 'SIGKILL');
  }
}

/** Whether nothing of a tree is left. To be asked when the child itself has exited. */
export async function isTreeGone(pid: number): Promise<boolean> {
  // Windows does not know whose children are left; what still runs has lost its input and can only see that.
  if (process.platform === 'win32') return true;
  try {
    process.kill(-pid, 0);
  } catch {
    // ESRCH: nobody is left. EPERM: nobody whom we could signal (on macOS also: only zombies).
    return true;
  }
  return process.platform === 'linux' && !(await groupHasLiveMember(pid));
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  // To the system 0 is our own group, and 1 everybody. No child has such a number.
  if (!(pid > 1)) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // It is gone, or none of its members is ours.
  }
}

/**
 * In a container whose first process does not reap, a dead grandchild stays a zombie and its group can be
 * signalled for ever. Only /proc tells that nobody lives in it.
 */
async function groupHasLiveMember(group: number): Promise<boolean> {
  try {
    for await (const stat of eachStat()) {
      if (stat.group === group && isRunning(stat)) return true;
    }
    return false;
  } catch {
    return true;
  }
}
