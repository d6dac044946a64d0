import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import spawn from 'cross-spawn';
import { systemClock, within } from '../async/clock.js';
import { createDeferred } from '../async/deferred.js';
import { IsthmusError } from '../errors.js';
import {
  type Child,
  type ChildExit,
  type ChildOptions,
  type ChildWatcher,
  type ShutdownTimes,
  tellWatchers,
} from './child.js';
import { createDeathWatch, type DeathWatch } from './death-watch.js';
import { childEnvironment } from './environment.js';
import { guardAgainstOrphaning } from './orphan-guard.js';
import { createTreeEnd } from './process-tree.js';
import { createStderrRing } from './stderr-ring.js';

export type { Child, ChildExit, ChildOptions, ChildWatcher, ShutdownTimes } from './child.js';

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

/**
 * Calls `onSign` once, at the first chunk that arrives in a pipe of a child, read or not.
 *
 * Listening does not tell: a 'data' listener makes the stream flow and a 'readable' listener stops it
 * from flowing, both before its reader is there. Node begins to read a child's pipe as soon as it is made, and
 * every chunk comes in through `push`; so the first call of `push` is watched, and from then on the stream has
 * the original again. Nothing is copied, and nothing is left in the way of the second chunk.
 */
function onFirstSign(pipe: Readable, onSign: () => void): void {
  const push = pipe.push;
  pipe.push = (...chunk) => {
    // Not deleted: V8 is slow with an object that has lost a property.
    pipe.push = push;
    // The end of the pipe arrives as null. It is not a sign of life.
    if (chunk[0] !== null) onSign();
    return push.apply(pipe, chunk);
  };
}

/**
 * Watches the children that no host keeps: those of `connect(stdio(…))` and of commands such as `isthmus call`. One
 * watch for all of them, started with the first and sent home a little after the last, since programs that start one
 * child often start the next.
 */
const ownDeathWatch: ChildWatcher = {
  started(pid) {
    callOff();
    living.add(pid);
    watch ??= createDeathWatch();
    watch.started(pid);
  },
  ended(pid) {
    watch?.ended(pid);
    if (!living.delete(pid) || living.size > 0) return;
    callOff = systemClock.after(LINGER_MS, sendHome, { background: true });
  },
};

const living = new Set<number>();
let watch: DeathWatch | undefined;
let callOff: () => void = () => {};

function sendHome(): void {
  if (living.size > 0) return;
  void watch?.close();
  watch = undefined;
}

const LINGER_MS = 2000;

/** A process as the system gives it, with the three ways in which Node says that it could not start made one. */
interface Started {
  readonly pid: number | undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles when it has exited or could not be started. */
  readonly ended: Promise<LeaderEnd>;
  /** Settles when it has ended and its pipes are read to the end. */
  readonly closed: Promise<void>;
  /** Neither the process nor its pipes keep ours from exiting any longer. */
  unref(): void;
}

type LeaderEnd = Omit<ChildExit, 'ranMs'>;

function startProcess(options: ChildOptions): Started {
  const ended = createDeferred<LeaderEnd>();
  const closed = createDeferred<void>();
  const fail = (error: Error) => {
    ended.resolve({ code: null, signal: null, error: blameDirectory(error, options.cwd) });
  };
  let child: ChildProcess | undefined;
  try {
    child = spawn(options.command, [...(options.args ?? [])], {
      cwd: options.cwd,
      env: childEnvironment(options),
      stdio: 'pipe',
      // The leader of a process group of its own, so that all that it starts can be ended with it. On Windows
      // it would be a console of its own.
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    child.on('error', fail);
    child.once('exit', (code, signal) => ended.resolve({ code, signal }));
    child.once('close', () => closed.resolve());
  } catch (error) {
    // Some failures are an 'error' event (ENOENT, EACCES), others are thrown (E2BIG, ENOTDIR, a NUL in a name).
    fail(error as Error);
  }
  // What could not be started may have pipes all the same, which Node closes a little later. Where it is thrown,
  // and when file descriptors ran out, there are none.
  if (!child?.stdout) closed.resolve();
  const stdin = child?.stdin ?? new Writable().destroy();
  const stdout = child?.stdout ?? Readable.from([]);
  const stderr = child?.stderr ?? Readable.from([]);
  return {
    pid: child?.pid,
    stdin,
    stdout,
    stderr,
    ended: ended.promise,
    closed: closed.promise,
    unref() {
      child?.unref();
      for (const pipe of [stdin, stdout, stderr]) (pipe as { unref?: () => void }).unref?.();
    },
  };
}

/** The system says ENOENT of the command when it is the working directory that does not exist. */
function blameDirectory(error: NodeJS.ErrnoException, cwd: string | undefined): Error {
  if (error.code !== 'ENOENT' || cwd === undefined || existsSync(cwd)) return error;
  const said = new Error(`the working directory ${cwd} does not exist`, { cause: error });
  return Object.assign(said, { code: 'ENOENT', syscall: 'chdir', path: cwd });
}
