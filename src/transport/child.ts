import type { Readable } from 'node:stream';
import { IsthmusError } from '../errors.js';
import type { Connection } from '../exchange/connection.js';
import { describeExit } from '../process/describe-exit.js';
import { type Child, type ChildOptions, spawnChild } from '../process/spawn-child.js';
import { MAX_ANSWER_BYTES } from './socket.js';
import { createStreamConnection } from './stream-connection.js';

export interface CommandOptions extends ChildOptions {
  /** Longer lines cost one call, not the connection. Default 64 MiB. */
  readonly maxLineBytes?: number;
}

/** A connection to a process that we started; its end is the end of the process and all its children. */
export interface ChildConnection extends Connection {
  readonly pid: number | undefined;
  /** What the process writes to stderr, as it comes. Not reading it never blocks the process. */
  stderr(): Readable;
  /** The last of it. */
  stderrTail(): string;
}

/** Starts a process of `options.command` and speaks over its stdin and stdout. */
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
  return Object.assign(connection, {
    pid: child.pid,
    stderr: () => child.stderr.stream(),
    stderrTail: () => child.stderr.tail(),
  });
}

function labelOf({ command, args = [] }: CommandOptions): string {
  return [command, ...args].join(' ');
}

function exitError(options: CommandOptions, child: Child, exit: Awaited<Child['exited']>): IsthmusError {
  return new IsthmusError('CHILD_EXITED', describeExit(labelOf(options), exit, child.stderr.tail()), {
    cause: exit.error,
  });
}
