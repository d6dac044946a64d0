import { IsthmusError } from '../errors.js';
import { events } from '../events.js';
import type { Connection, Connector, Listener } from '../exchange/connection.js';
import type { CommandOptions } from './child-connection.js';
import { createStreamConnection, type StreamConnectionOptions } from './stream-connection.js';

export interface StdioOptions {
  /** Longer lines are discarded and answered with an error. Default 16 MiB. */
  readonly maxLineBytes?: number;
}

/** With a command: starts it, to `connect` to a server over its stdin and stdout. */
export function stdio(command: CommandOptions): Connector;
/**
 * Serves the process's own stdin and stdout. While it does, stdout belongs to the protocol: what user code
 * writes there (`console.log`, `process.stdout.write`) goes to stderr instead. Output of native add-ons and
 * of children that inherit the descriptor cannot be caught.
 */
export function stdio(options?: StdioOptions): Listener;
export function stdio(options: StdioOptions | CommandOptions = {}): Listener | Connector {
  if ('command' in options) return lazyCommand(options);
  const { maxLineBytes } = options;
  if (maxLineBytes !== undefined && !(Number.isSafeInteger(maxLineBytes) && maxLineBytes > 0)) {
    throw new IsthmusError(
      'INVALID_OPTION',
      `maxLineBytes must be a positive whole number, got ${maxLineBytes}`,
    );
  }
  return {
    ownsProcess: true,
    async listen(accept) {
      if (taken) throw new IsthmusError('INVALID_OPTION', 'stdio is served already; a process has only one');
      taken = true;
      const connection = openStdio(options);
      accept(connection);
      return {
        address: 'stdio',
        ended: connection.closed.then(() => {}),
        async stop() {},
      };
    },
  };
}

export type { CommandOptions };

/** Child processes are loaded by those who start one; a server never does. */
function lazyCommand(options: CommandOptions): Connector {
  const { command, args = [], cwd = process.cwd(), env = {} } = options;
  if (typeof command !== 'string' || command === '') {
    throw new IsthmusError('INVALID_OPTION', 'stdio: command must be the name or path of a program');
  }
  return {
    label: options.label ?? [command, ...args].join(' '),
    identity: JSON.stringify([command, args, cwd, env]),
    async connect() {
      const { openChild } = await import('./child-connection.js');
      return openChild(options);
    },
  };
}

/** Two readers of one stdin would each answer everything. */
let taken = false;

function openStdio(options: StdioOptions): Connection {
  return createStreamConnection({
    label: 'stdio',
    input: process.stdin,
    output: process.stdout,
    write: guardStdout(),
    // Nothing to give back: stdin has no successor, and until the process ends stdout has a protocol reader.
    release: () => {},
    ...(options.maxLineBytes !== undefined && { maxLineBytes: options.maxLineBytes }),
  });
}

/** STDIO-004: keeps stdout pure, to the very end. Returns the way in for the protocol itself. */
function guardStdout(): NonNullable<StreamConnectionOptions['write']> {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = ((...args: Parameters<typeof stdout.write>) => {
    if (events.strayOutput.hasSubscribers) events.strayOutput.publish({ text: String(args[0]) });
    return stderr.write(...args);
  }) as typeof stdout.write;
  // A host may have closed its end of stderr; a stray print must not cost the server its life.
  stderr.on('error', () => {});
  return (data, done) => write(data, done);
}
