import type { Readable } from 'node:stream';
import { IsthmusError } from '../errors.js';
import { events } from '../events.js';
import type { Connection } from '../exchange/connection.js';
import { describeExit } from '../process/describe-exit.js';
import { type Child, type ChildOptions, spawnChild } from '../process/spawn-child.js';
import { MAX_ANSWER_BYTES } from './socket.js';
import { createStreamConnection } from './stream-connection.js';

export interface CommandOptions extends ChildOptions {
  /** What a person would call it, in errors. Default: the command line. */
  readonly label?: string;
  /** Longer lines cost one call, not the connection. Default 64 MiB. */
  readonly maxLineBytes?: number;
  /** What the process writes to stderr, as it comes; it is drained in any case. Also for a process started again. */
  readonly onStderr?: (text: string) => void;
}

/** What a connection to a process of ours has beyond others. */
export interface ChildConnection extends Connection {
  /** The process itself has ended; what it said last may still be on its way. */
  isGone(): boolean;
  readonly pid: number | undefined;
  /** What the process writes to stderr, as it comes. Not reading it never blocks the process. */
  stderr(): Readable;
  /** The last of it. */
  stderrTail(): string;
  /** Ends the process and all that it started at once, without a word. */
  kill(): Promise<void>;
}

/** Starts a process and speaks over its stdin and stdout. The end of the connection ends it, and all its children. */
export function openChild(options: CommandOptions): ChildConnection {
  const child = spawnChild(options);
  const connection = createStreamConnection({
    label: labelOf(options),
    input: child.stdout,
    output: child.stdin,
    life: child.life,
    alwaysReads: true,
    maxLineBytes: options.maxLineBytes ?? MAX_ANSWER_BYTES,
    // A grandchild may hold the pipes open after the process itself is gone.
    gone: child.exited.then((exit) => exitError(options, child, exit)),
    async release() {
      await child.stop();
    },
  });
  if (options.onStderr) offerStderr(child, options.onStderr);
  return Object.assign(connection, {
    pid: child.pid,
    stderr: () => child.stderr.stream(),
    stderrTail: () => child.stderr.tail(),
    isGone: () => child.isGone,
    async kill() {
      await child.kill();
    },
  });
}

function offerStderr(child: Child, onStderr: (text: string) => void): void {
  child.stderr
    .stream()
    .setEncoding('utf8')
    .on('data', (text: string) => {
      try {
        onStderr(text);
      } catch (error) {
        // The caller's failure is its own.
        if (events.handlerFailed.hasSubscribers) events.handlerFailed.publish({ method: 'onStderr', error });
      }
    });
}

function labelOf({ label, command, args = [] }: CommandOptions): string {
  return label ?? [command, ...args].join(' ');
}

function exitError(options: CommandOptions, child: Child, exit: Awaited<Child['exited']>): IsthmusError {
  const refused = child.pid === undefined;
  const stderrTail = child.stderr.tail();
  const message = describeExit(labelOf(options), exit, stderrTail);
  const code = refused ? 'CANNOT_START' : 'CHILD_EXITED';
  return new IsthmusError(code, message, { cause: exit.error, stderrTail });
}
