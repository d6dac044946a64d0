import { IsthmusError } from '../errors.js';
import { events } from '../events.js';
import type { Connection } from '../exchange/connection.js';
import type { Tap } from '../exchange/tap.js';
import { describeExit } from '../process/describe-exit.js';
import { type Child, type ChildExit, type ChildOptions, spawnChild } from '../process/spawn-child.js';
import { MAX_ANSWER_BYTES } from './socket.js';
import { createStreamConnection } from './stream-connection.js';

/** The program to start, and how. */
export interface CommandOptions extends ChildOptions {
  /** The name of the server in errors. Default: the command line. */
  readonly label?: string;
  /** A longer line fails one call, not the connection. Default 64 MiB. */
  readonly maxLineBytes?: number;
  /** Receives what the process writes to stderr, also after a restart. Stderr is read with or without it. */
  readonly onStderr?: (text: string) => void;
  /** Sees what goes over the connection, and stderr if it is on when the process starts. */
  readonly tap?: Tap | undefined;
}

export interface ConnectedChild {
  readonly connection: Connection;
  readonly child: Child;
}

/** Starts a process and connects to its stdin and stdout. The end of the connection ends it, and all its children. */
export function openChild(options: CommandOptions): ConnectedChild {
  const child = spawnChild(options);
  const label = options.label ?? [options.command, ...(options.args ?? [])].join(' ');
  const connection = createStreamConnection({
    label,
    child,
    input: child.stdout,
    output: child.stdin,
    life: child.life,
    alwaysReads: true,
    maxLineBytes: options.maxLineBytes ?? MAX_ANSWER_BYTES,
    tap: options.tap,
    // A grandchild may hold the pipes open after the process itself is gone.
    gone: child.exited.then((exit) => exitError(label, child, exit)),
    async release() {
      await child.stop();
    },
  });
  if (options.onStderr) forwardStderr(child, options.onStderr);
  if (options.tap?.isOn) forwardStderr(child, (text) => connection.tap?.stderr(text));
  return { connection, child };
}

function forwardStderr(child: Child, onStderr: (text: string) => void): void {
  child.stderr
    .stream()
    .setEncoding('utf8')
    .on('data', (text: string) => {
      try {
        onStderr(text);
      } catch (error) {
        // A failure in the caller's code must not affect the connection.
        if (events.handlerFailed.hasSubscribers) events.handlerFailed.publish({ method: 'onStderr', error });
      }
    });
}

function exitError(label: string, child: Child, exit: ChildExit): IsthmusError {
  const stderrTail = child.stderr.tail();
  const message = describeExit(label, exit, stderrTail);
  const code = child.pid === undefined ? 'CANNOT_START' : 'CHILD_EXITED';
  return new IsthmusError(code, message, { cause: exit.error, stderrTail });
}
