import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../async/clock.js';
import type { StderrRing } from './stderr-ring.js';

/** Which program to start, and how to end it. */
export interface ChildOptions {
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  /** Added to the inherited variables. `undefined` removes an inherited one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /**
   * Which of our variables the child gets. `minimal` (default): what a program needs to find its home and its path, and
   * no secrets. `all`. Or exactly the named ones.
   */
  readonly inheritEnv?: 'minimal' | 'all' | readonly string[];
  /** How many bytes of stderr are kept. Default 64 KiB. */
  readonly stderrBytes?: number;
  readonly shutdown?: Partial<ShutdownTimes>;
  /** Informed of start and end of the process. Default: a death watch, which ends it when our process is killed. */
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

/** A started program. If the start failed, `exited` has the `error` and `pid` is undefined. */
export interface Child {
  readonly pid: number | undefined;
  readonly stdin: Writable;
  /** Attach in the turn of `spawnChild`: Node discards unread output when the child exits. */
  readonly stdout: Readable;
  readonly stderr: StderrRing;
  /** Settles at the first byte on stdout or stderr, or at the exit. */
  readonly life: Promise<void>;
  /** The process itself has exited, or did not start. Its pipes may still hold output. */
  readonly isGone: boolean;
  /**
   * Settles when the child has exited and its pipes are read to the end. If a grandchild holds the pipes open, it settles
   * soon after the exit. Never rejects.
   */
  readonly exited: Promise<ChildExit>;
  /**
   * Ends the child and all that it started: end of input, SIGTERM, SIGKILL, each after a bounded wait. Always settles,
   * with the pipes destroyed. A second call is harmless.
   */
  stop(): Promise<ChildExit>;
  /** Sends SIGKILL to the child and all that it started, at once, also during a `stop()`. */
  kill(): Promise<ChildExit>;
}

export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why it could not be started, or (an `IsthmusError`) that SIGKILL did not end it. */
  readonly error?: Error;
  readonly ranMs: number;
}

/** Learns which processes are ours. Both methods are short; what they throw is reported as an event. */
export interface ChildWatcher {
  /**
   * Called in the turn in which the process was started, so that no process is unknown at any moment. One that was started
   * early is told of after its first answers.
   */
  started(pid: number): void;
  /** The process and its group are gone. From now on the system may reuse the number. */
  ended(pid: number): void;
}
