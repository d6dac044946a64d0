import type { Readable } from 'node:stream';
import { type Clock, systemClock, within } from '../async/clock.js';
import { createDeferred } from '../async/deferred.js';
import { IsthmusError } from '../errors.js';
import { events } from '../events.js';
import type { Child, ChildExit, ChildOptions, ChildWatcher, ShutdownTimes } from './child.js';
import { sharedDeathWatch } from './death-watch.js';
import { guardAgainstOrphaning } from './orphan-guard.js';
import { createTreeEnd } from './process-tree.js';
import { type LeaderEnd, startProcess } from './start-process.js';
import { createStderrRing } from './stderr-ring.js';

export type { Child, ChildExit, ChildOptions, ChildWatcher, ShutdownTimes } from './child.js';

/** Starts a program. Never throws: after a failed start the child has exited with an `error`. */
export function spawnChild(options: ChildOptions): Child {
  const clock = options.clock ?? systemClock;
  const times = shutdownTimes(options);
  const began = clock.now();
  const started = startProcess(options);
  const { pid, stdin, stdout } = started;
  const pipes = [stdin, stdout, started.stderr];

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

  const { watchers = [sharedDeathWatch] } = options;
  const tellEnded = tellWatchers(watchers, pid, clock, started.isEarly ? EARLY_MS : 0);
  const release = guardAgainstOrphaning(pid);
  const tree = createTreeEnd({ pid, leaderExit: started.ended, endInput: () => stdin.end() }, times, clock);

  const finish = async (treeEnd: Promise<boolean>): Promise<ChildExit> => {
    await treeEnd;
    // SIGKILL was sent to the rest of the tree. There is no stronger signal.
    release();
    tellEnded();
    givenUp.resolve({ code: null, signal: null, error: survived(pid, times) });
    const exit = await exited;
    // A process that still holds the pipes left this tree. It must not keep our process from exiting.
    started.unref();
    return exit;
  };
  const closeAfter = async (end: Promise<ChildExit>): Promise<ChildExit> => {
    const exit = await end;
    for (const pipe of pipes) pipe.destroy();
    return exit;
  };
  // A child that exits by itself can leave descendants behind, so its tree is ended as well.
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

/** How long an exit waits for the rest of the output. */
const DRAIN_MS = 250;

function shutdownTimes({ shutdown = {} }: ChildOptions): ShutdownTimes {
  const { closeMs = 2000, termMs = 2000, killMs = 1000 } = shutdown;
  return { closeMs, termMs, killMs };
}

function survived(pid: number, { killMs }: ShutdownTimes): IsthmusError {
  return new IsthmusError('TIMED_OUT', `did not end within ${killMs} ms of SIGKILL (process ${pid})`);
}

/**
 * Calls `onSign` once, at the first chunk that arrives in a pipe of a child, read or not.
 *
 * A listener cannot do this: a 'data' listener makes the stream flow and a 'readable' listener stops it, both before the
 * reader is attached. Node reads a child's pipe as soon as it exists, and every chunk comes through `push`. So the first
 * call of `push` is intercepted, and the original is restored for all others.
 */
function onFirstSign(pipe: Readable, onSign: () => void): void {
  // It was started early and has written already.
  if (pipe.readableLength > 0) return onSign();
  const push = pipe.push;
  pipe.push = (...chunk) => {
    // Not deleted: V8 is slow with an object that has lost a property.
    pipe.push = push;
    // The end of the pipe arrives as null, which is not a sign of life.
    if (chunk[0] !== null) onSign();
    return push.apply(pipe, chunk);
  };
}

/**
 * Informs all watchers of a start, after `delayMs`. The returned function informs them of the end, once.
 */
function tellWatchers(
  watchers: readonly ChildWatcher[],
  pid: number,
  clock: Clock,
  delayMs: number,
): () => void {
  let isTold = false;
  const tell = () => {
    isTold = true;
    for (const watcher of watchers) attempt('started', () => watcher.started(pid));
  };
  let cancel = () => {};
  if (delayMs > 0) cancel = clock.after(delayMs, tell, { background: true });
  else tell();
  return () => {
    cancel();
    if (!isTold) return;
    isTold = false;
    for (const watcher of watchers) attempt('ended', () => watcher.ended(pid));
  };
}

/**
 * A process that was started early can answer at once, and a client waits for that. To start the death watch and to write
 * the ledger takes 6 ms, so they come after the first answers.
 */
const EARLY_MS = 50;

function attempt(method: string, action: () => void): void {
  try {
    action();
  } catch (error) {
    if (events.handlerFailed.hasSubscribers) events.handlerFailed.publish({ method, error });
  }
}
