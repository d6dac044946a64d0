import { systemClock } from '../async/clock.js';
import { createDeferred } from '../async/deferred.js';
import { within } from '../async/within.js';
import { IsthmusError } from '../errors.js';
import type { Child, ChildExit, ChildOptions, ShutdownTimes } from './child.js';
import { tellWatchers } from './child-watcher.js';
import { createTreeEnd } from './end-tree.js';
import { onFirstSign } from './first-sign.js';
import { guardAgainstOrphaning } from './orphan-guard.js';
import { ownDeathWatch } from './own-death-watch.js';
import { type LeaderEnd, startProcess } from './start-process.js';
import { createStderrRing } from './stderr-ring.js';

export type { Child, ChildExit, ChildOptions, ShutdownTimes } from './child.js';
export type { ChildWatcher } from './child-watcher.js';

/** Starts a program. Never throws: what could not be started is a child that has exited with an `error`. */
export function spawnChild(options: ChildOptions): Child {
  const clock = options.clock ?? systemClock;
  const times = shutdownTimes(options);
  const began = clock.now();
  const started = startProcess(options);
  const { pid, stdin, stdout } = started;
  const pipes = [stdin, stdout, started.stderr];
  // A pipe breaks when its child dies; `exited` is where that is told.
  for (const pipe of pipes) pipe.on('error', () => {});

  const alive = createDeferred<void>();
  onFirstSign(stdout, alive.resolve);
  onFirstSign(started.stderr, alive.resolve);
  let isGone = pid === undefined;
  void started.ended.then(() => {
    isGone = true;
    alive.resolve();
  });

  const givenUp = createDeferred<LeaderEnd>();
  const exited = Promise.race([started.ended, givenUp.promise]).then(async (end): Promise<ChildExit> => {
    const ranMs = clock.now() - began;
    await within(clock, DRAIN_MS, started.closed);
    return { ...end, ranMs };
  });

  const stderr = createStderrRing(started.stderr, options.stderrBytes);
  const child = { pid, stdin, stdout, stderr, life: alive.promise, exited };
  if (pid === undefined) return { ...child, isGone, stop: () => exited, kill: () => exited };

  const sayEnded = tellWatchers(options.watchers ?? [ownDeathWatch], pid);
  const release = guardAgainstOrphaning(pid);
  const tree = createTreeEnd({ pid, leaderExit: started.ended, endInput: () => stdin.end() }, times, clock);

  const finish = async (treeEnd: Promise<boolean>): Promise<ChildExit> => {
    await treeEnd;
    // SIGKILL is on its way to whoever is left, and there is nothing stronger.
    release();
    sayEnded();
    givenUp.resolve({ code: null, signal: null, error: survived(pid, times) });
    const exit = await exited;
    // Whoever still holds the pipes is not of this tree. That must not keep our process from exiting.
    started.unref();
    return exit;
  };
  const closeAfter = async (end: Promise<ChildExit>): Promise<ChildExit> => {
    const exit = await end;
    for (const pipe of pipes) pipe.destroy();
    return exit;
  };
  // A child that ends by itself can leave others behind just as one that was told to.
  void started.ended.then(() => finish(tree.begin()));
  return {
    ...child,
    get isGone() {
      return isGone;
    },
    stop: () => closeAfter(finish(tree.begin())),
    kill: () => closeAfter(finish(tree.hurry())),
  };
}

/** How long an exit waits for what is still in the pipes. */
const DRAIN_MS = 250;

function shutdownTimes({ shutdown = {} }: ChildOptions): ShutdownTimes {
  const { closeMs = 2000, termMs = 2000, killMs = 1000 } = shutdown;
  return { closeMs, termMs, killMs };
}

function survived(pid: number, { killMs }: ShutdownTimes): IsthmusError {
  return new IsthmusError('TIMED_OUT', `did not end within ${killMs} ms of SIGKILL (process ${pid})`);
}
