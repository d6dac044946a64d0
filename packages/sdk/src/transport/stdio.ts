import { checkedOptions, invalidArgument, kindOf, type OptionNames } from '../arguments.js';
import { IsthmusError } from '../errors.js';
import { events } from '../events.js';
import type { Connection, Connector, Listener } from '../exchange/connection.js';
import type { Tap } from '../exchange/tap.js';
import type { CommandOptions } from './child-connection.js';
import { createStreamConnection, type StreamConnectionOptions } from './stream-connection.js';

/** Options of a server on stdin and stdout. */
export interface StdioOptions {
  /** Longer lines are discarded and answered with an error. Default 16 MiB. */
  readonly maxLineBytes?: number;
  /** Sees what goes over the connection. */
  readonly tap?: Tap | undefined;
}

/**
 * With a command: starts it, and connects to a server over its stdin and stdout.
 *
 * @example
 * ```ts
 * import { connect, stdio } from '@isthmus/sdk';
 *
 * const client = await connect(stdio({ command: 'node', args: ['server.js'], env: { LANG: 'C' } }));
 * console.log(client.server.info?.name); // prints: hello
 * await client.close();
 * ```
 */
export function stdio(command: CommandOptions): Connector;
/**
 * Serves the process's own stdin and stdout. While it does, stdout belongs to the protocol: what user code
 * writes there (`console.log`, `process.stdout.write`) goes to stderr instead. Output of native add-ons and
 * of children that inherit the descriptor cannot be caught.
 */
export function stdio(options?: StdioOptions): Listener;
export function stdio(options: StdioOptions | CommandOptions = {}): Listener | Connector {
  if (typeof options === 'string')
    throw invalidArgument(`stdio: write stdio({ command: ${JSON.stringify(options)}, args: […] })`);
  checkedOptions('stdio', options, 'command' in options ? COMMAND_OPTIONS : SERVE_OPTIONS, (name) =>
    name === 'cmd' || name === 'args' ? '; to start a server, write stdio({ command, args })' : undefined,
  );
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
      if (taken)
        throw new IsthmusError('INVALID_OPTION', 'stdio is served already; a process has only one stdin');
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

const SERVE_OPTIONS: OptionNames<StdioOptions> = { maxLineBytes: true, tap: true };
const COMMAND_OPTIONS: OptionNames<CommandOptions> = {
  command: true,
  args: true,
  cwd: true,
  env: true,
  inheritEnv: true,
  stderrBytes: true,
  shutdown: true,
  watchers: true,
  clock: true,
  label: true,
  maxLineBytes: true,
  onStderr: true,
  tap: true,
};

/** The code for child processes is loaded when one is started; a server on stdio never loads it. */
function lazyCommand(options: CommandOptions): Connector {
  const { command, args = [], cwd = process.cwd(), env = {} } = options;
  if (typeof command !== 'string' || command === '') {
    throw new IsthmusError('INVALID_OPTION', 'stdio: command must be the name or path of a program');
  }
  if (!Array.isArray(args))
    throw invalidArgument(`stdio: args must be a list of strings, got ${kindOf(args)}`);
  return {
    label: options.label ?? [command, ...args].join(' '),
    identity: JSON.stringify([command, args, cwd, env]),
    async connect() {
      const { openChild } = await import('./child-connection.js');
      return openChild(options).connection;
    },
  };
}

/** Two readers of one stdin would both answer every request. */
let taken = false;

function openStdio(options: StdioOptions): Connection {
  return createStreamConnection({
    label: 'stdio',
    input: process.stdin,
    output: process.stdout,
    write: guardStdout(),
    // Stdin and stdout belong to the connection until the process ends.
    release: () => {},
    tap: options.tap,
    ...(options.maxLineBytes !== undefined && { maxLineBytes: options.maxLineBytes }),
  });
}

/** STDIO-004: redirects other output on stdout to stderr until the process ends. Returns the protocol's own write. */
function guardStdout(): NonNullable<StreamConnectionOptions['write']> {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = ((...args: Parameters<typeof stdout.write>) => {
    if (events.strayOutput.hasSubscribers) events.strayOutput.publish({ text: String(args[0]) });
    return stderr.write(...args);
  }) as typeof stdout.write;
  // A host may have closed its end of stderr. A stray print must not end the server.
  stderr.on('error', () => {});
  return (data, done) => write(data, done);
}
