import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../async/clock.js';
import { events } from '../events.js';
import type { StderrRing } from './stderr-ring.js';

/** What to start, and how to end it. */
export interface ChildOptions {
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  /** Set on top of the inherited variables; `undefined` takes an inherited one away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /**
   * Which variables of ours the child gets: `minimal` (the default: what a program needs to find its home and
   * its path, and no secrets), `all`, or exactly the named ones.
   */
  readonly inheritEnv?: 'minimal' | 'all' | readonly string[];
  /** How much of stderr is kept. Default 64 KiB. */
  readonly stderrBytes?: number;
  readonly shutdown?: Partial<ShutdownTimes>;
  /** Who is told of the process. Default: a guard that outlives us, and ends it when we are killed. */
  readonly watchers?: readonly ChildWatcher[];
  readonly clock?: Clock;
}

/** How long each step of `stop()` waits before the next one. */
export interface ShutdownTimes {
  /** After the end of its input. Default 2000. */
  readonly closeMs: number;
  /** After SIGTERM. Default 2000. */
  readonly termMs: number;
  /** After SIGKILL. Default 1000. */
  readonly killMs: number;
}

/** A program that was started, or that could not be: then `exited` has the `error` and `pid` is undefined. */
export interface Child {
  readonly pid: number | undefined;
  readonly stdin: Writable;
  /** Attach in the turn of `spawnChild`: Node throws away what nobody has asked for when the child exits. */
  readonly stdout: Readable;
  readonly stderr: StderrRing;
  /** Settles at the first byte on stdout or stderr, or when it has exited. */
  readonly life: Promise<void>;
  /** The process itself has exited, or never was; its pipes may still hold something. */
  readonly isGone: boolean;
  /**
   * Settles when the child has exited and its pipes are read to the end, and soon after the exit when they are
   * not, as with a grandchild that holds them open. Never rejects.
   */
  readonly exited: Promise<ChildExit>;
  /**
   * Ends the child and all that it started: end of input, SIGTERM, SIGKILL, each after a bounded wait. Settles
   * always, with the pipes destroyed; twice is harmless.
   */
  stop(): Promise<ChildExit>;
  /** SIGKILL to the child and all that it started, at once, also in the midst of a `stop()`. */
  kill(): Promise<ChildExit>;
}

export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** It could not be started, or (an `IsthmusError`) SIGKILL did not end it. */
  readonly error?: Error;
  readonly ranMs: number;
}

/** Somebody who wants to know which processes are ours. Both calls are short, and their failures cost nothing. */
export interface ChildWatcher {
  /** Called in the very turn in which the process was started, so that there is no moment in which nobody knows it. */
  started(pid: number): void;
  /** Nothing is left of the process and of its group: from now on the number may be somebody else's. */
  ended(pid: number): void;
}

/** Tells all watchers of a start, and by the returned function, once, of the end. */
export function tellWatchers(watchers: readonly ChildWatcher[], pid: number): () => void {
  let over = false;
  for (const watcher of watchers) attempt('started', () => watcher.started(pid));
  return () => {
    if (over) return;
    over = true;
    for (const watcher of watchers) attempt('ended', () => watcher.ended(pid));
  };
}

function attempt(method: string, action: () => void): void {
  try {
    action();
  } catch (error) {
    if (events.handlerFailed.hasSubscribers) events.handlerFailed.publish({ method, error });
  }
}
