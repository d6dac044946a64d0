import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { type Attached, controlClient, isUnreachable } from '../control/index.js';
import type { DaemonPaths } from './daemon-paths.js';
import type { AttachParams } from './definition.js';
import { startDaemon } from './start-daemon.js';

export interface DaemonAttachOptions {
  readonly places: DaemonPaths;
  /** The file of the `isthmus` command, which runs the daemon. */
  readonly program: string;
  readonly clock?: Clock;
  /** How long all of it may take. Default 30 s. */
  readonly withinMs?: number;
  readonly start?: (places: DaemonPaths) => Promise<unknown>;
}

/**
 * A stream to a server of the daemon, which is started when there is none. One that is just ending is waited for.
 * Rejects with why there is no way to the server; nothing has been sent then.
 */
export async function attach(params: AttachParams, options: DaemonAttachOptions): Promise<Attached> {
  const { places, program, clock = systemClock, withinMs = 30_000 } = options;
  const start = options.start ?? ((at) => startDaemon(at, { program }));
  const until = clock.now() + withinMs;
  for (;;) {
    try {
      return await controlClient(places.socket).attach({ ...params });
    } catch (error) {
      if (isAbsent(error)) await start(places);
      // A daemon that is just ending closes the connection.
      else if (!(error instanceof IsthmusError && error.code === 'CONNECTION_CLOSED')) throw error;
    }
    if (clock.now() > until) {
      const message = `The daemon could not be reached within ${withinMs / 1000} s; its log is ${places.log}`;
      throw new IsthmusError('TIMED_OUT', message, { sent: 'no' });
    }
    await new Promise<void>((resolve) => void clock.after(RETRY_MS, resolve));
  }
}

/** True when no daemon listens at the socket. Starting a daemon would not help against any other error. */
export function isAbsent(error: unknown): boolean {
  if (!isUnreachable(error)) return false;
  const { cause } = error as IsthmusError;
  const { code = '' } = Object(cause) as NodeJS.ErrnoException;
  return cause === undefined || ['ECONNREFUSED', 'ENOENT', 'ECONNRESET', 'EPIPE'].includes(code);
}

const RETRY_MS = 25;
