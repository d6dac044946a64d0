import { IsthmusError } from '../errors.js';
import { events } from '../events.js';
import type { Connection, Listener } from '../exchange/connection.js';
import { createStreamConnection } from './stream-connection.js';

export interface StdioOptions {
  /** Longer lines are discarded and answered with an error. Default 16 MiB. */
  readonly maxLineBytes?: number;
}

/**
 * Serves the process's own stdin and stdout. While it does, stdout belongs to the protocol: what user code
 * writes there (`console.log`, `process.stdout.write`) goes to stderr instead. Output of native add-ons and
 * of children that inherit the descriptor cannot be caught.
 */
export function stdio(options: StdioOptions = {}): Listener {
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

/** Two readers of one stdin would each answer everything. */
let taken = false;

function openStdio(options: StdioOptions): Connection {
  const guard = guardStdout();
  return createStreamConnection({
    label: 'stdio',
    input: process.stdin,
    output: process.stdout,
    write: guard.write,
    release: guard.release,
    ...(options.maxLineBytes !== undefined && { maxLineBytes: options.maxLineBytes }),
  });
}

/** STDIO-004: keeps stdout pure. */
function guardStdout() {
  const { stdout, stderr } = process;
  const original = stdout.write;
  const write = original.bind(stdout);
  const redirected = ((...args: Parameters<typeof original>) => {
    if (events.strayOutput.hasSubscribers) events.strayOutput.publish({ text: String(args[0]) });
    return stderr.write(...args);
  }) as typeof original;
  stdout.write = redirected;
  return {
    write: (data: string, done: (error?: Error | null) => void) => write(data, done),
    release() {
      taken = false;
      if (stdout.write === redirected) stdout.write = original;
    },
  };
}
