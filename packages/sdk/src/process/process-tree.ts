import { spawn, spawnSync } from 'node:child_process';
import { type Clock, within } from '../async/clock.js';
import { createDeferred } from '../async/deferred.js';
import { onDeparture } from '../async/departure.js';
import type { ShutdownTimes } from './child.js';
import { eachStat, isRunning } from './proc-stat.js';

/** Ends one tree of processes. Both promises are bounded, and tell whether the whole tree is gone. */
export interface TreeEnd {
  /** End of input, SIGTERM, SIGKILL. Runs once, however often it is called. */
  begin(): Promise<boolean>;
  /** SIGKILL now, whichever step `begin` has reached. */
  hurry(): Promise<boolean>;
}

export interface Tree {
  readonly pid: number;
  /** Settles when the child itself, which leads the tree, has exited. */
  readonly leaderExit: Promise<unknown>;
  endInput(): void;
}

export function createTreeEnd(tree: Tree, times: ShutdownTimes, clock: Clock): TreeEnd {
  const urgent = createDeferred<void>();
  const impatient = createDeferred<void>();
  let stepMs = Number.POSITIVE_INFINITY;
  let leaderGone = false;
  let hurried = false;
  let ended = false;
  let run: Promise<boolean> | undefined;
  void tree.leaderExit.then(() => {
    leaderGone = true;
  });

  const begin = () => {
    run ??= endInSteps().finally(() => {
      ended = true;
      stopListening();
    });
    return run;
  };

  async function endInSteps(): Promise<boolean> {
    tree.endInput();
    await within(
      clock,
      Math.min(times.closeMs, stepMs),
      Promise.race([tree.leaderExit, urgent.promise, impatient.promise]),
    );
    // Processes without their leader get a short time to follow it, not the whole wait again.
    if (leaderGone && !hurried && (await isGoneWithin(REST_MS, urgent.promise))) return true;
    if (!hurried) {
      signalTree(tree.pid, 'SIGTERM');
      if (await isGoneWithin(Math.min(times.termMs, stepMs), urgent.promise)) return true;
    }
    signalTree(tree.pid, 'SIGKILL');
    return isGoneWithin(times.killMs, NEVER);
  }

  /** Waits for the exit event of the leader. Polls for the other processes, which have no event. */
  async function isGoneWithin(ms: number, interrupt: Promise<void>): Promise<boolean> {
    const began = clock.now();
    await within(clock, ms, Promise.race([tree.leaderExit, interrupt]));
    if (!leaderGone) return false;
    let left = ms - (clock.now() - began);
    for (let pause = FIRST_LOOK_MS; ; pause = Math.min(pause * 2, LAST_LOOK_MS)) {
      if (await isTreeGone(tree.pid)) return true;
      if (left <= 0) return false;
      if (await within(clock, Math.min(pause, left), interrupt)) return false;
      left -= pause;
    }
  }

  const hurry = () => {
    // Once a tree is gone, its number may belong to another process.
    if (!ended) signalTree(tree.pid, 'SIGKILL');
    hurried = true;
    urgent.resolve();
    return begin();
  };

  // When our own process has to exit soon, the steps are shortened, and started if `begin` was not called.
  const stopListening = onDeparture(({ termMs, killMs, ...departure }) => {
    stepMs = departure.stepMs;
    const later = (ms: number, action: () => unknown) =>
      clock.after(ms, () => void (ended || action()), { background: true });
    later(termMs, () => {
      impatient.resolve();
      return begin();
    });
    later(killMs, hurry);
  });

  return { begin, hurry };
}

const REST_MS = 250;
const FIRST_LOOK_MS = 5;
const LAST_LOOK_MS = 100;
const NEVER = new Promise<void>(() => {});

/**
 * A tree is a child and all that it started. On POSIX that is the process group which the child leads, and which outlives
 * it. On Windows it is what `taskkill /T` finds below the child, while the child itself lives.
 */

/** Sends a signal to a tree. Does nothing for a tree that is gone or not ours. */
export function signalTree(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (process.platform !== 'win32') return signalGroup(pid, signal);
  const force = signal === 'SIGKILL' ? ['/F'] : [];
  const taskkill = spawn('taskkill', ['/pid', String(pid), '/T', ...force], {
    stdio: 'ignore',
    windowsHide: true,
  });
  taskkill.on('error', () => {});
}

/** Kills trees synchronously, for the exit of our own process. */
export function killTreesNow(pids: readonly number[]): void {
  if (pids.length === 0) return;
  if (process.platform === 'win32') {
    const which = pids.flatMap((pid) => ['/pid', String(pid)]);
    spawnSync('taskkill', [...which, '/T', '/F'], { stdio: 'ignore', windowsHide: true, timeout: 5000 });
  } else {
    for (const pid of pids) signalGroup(pid, 'SIGKILL');
  }
}

/** Whether nothing of a tree is left. Call it when the child itself has exited. */
export async function isTreeGone(pid: number): Promise<boolean> {
  // Windows cannot list the descendants of a dead process. They see the end of their input.
  if (process.platform === 'win32') return true;
  try {
    process.kill(-pid, 0);
  } catch {
    // ESRCH: no process is left. EPERM: none that we may signal (on macOS also: only zombies).
    return true;
  }
  return process.platform === 'linux' && !(await groupHasLiveMember(pid));
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  // For the system, 0 means our own group and 1 all processes. No child has such a number.
  if (!(pid > 1)) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone, or belongs to another user.
  }
}

/**
 * In a container whose first process does not reap, a dead grandchild stays a zombie, and signals to its group succeed
 * for ever. Only /proc shows that no process of the group runs.
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
