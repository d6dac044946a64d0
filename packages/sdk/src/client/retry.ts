import type { Cancellation } from '../async/abort.js';
import type { Clock } from '../async/clock.js';
import { createDeferred } from '../async/deferred.js';
import type { TenantCaller } from '../era/client/tenant-caller.js';
import { IsthmusError, type LocalErrorCode, messageOf } from '../errors.js';
import type { ConnectionSource } from './connection-source.js';

/**
 * Whether a failed call may be repeated. A call that was certainly not sent may be, a few times. A call that may have run
 * is repeated once, if it is safe. Only a lost connection is a reason to repeat.
 */
export function mayRepeat(error: unknown, isSafe: () => boolean, tries: number): error is IsthmusError {
  if (!(error instanceof IsthmusError) || !LOST.has(error.code)) return false;
  return error.sent === 'no' ? tries < MAX_UNSENT : tries === 0 && isSafe();
}

const LOST: ReadonlySet<LocalErrorCode> = new Set(['CHILD_EXITED', 'CONNECTION_CLOSED']);

/** A server that dies before it reads each time will not read the next time. */
const MAX_UNSENT = 3;

/** How long a call waits for a connection. */
export interface WaitingForConnection {
  readonly signal?: Cancellation | undefined;
  readonly timeoutMs?: number | undefined;
}

interface WaitOptions {
  readonly source: ConnectionSource;
  readonly clock: Clock;
  readonly signal: Cancellation | undefined;
  readonly timeoutMs: number;
}

/** Waits for a connection that is being opened, until the call is cancelled or its time is over. */
export async function waitForConnection(
  opening: Promise<TenantCaller>,
  { source, clock, signal, timeoutMs }: WaitOptions,
): Promise<TenantCaller> {
  const stopped = createDeferred<never>();
  const onAbort = () =>
    stopped.reject(
      new IsthmusError('CANCELLED', 'The call was cancelled', { cause: signal?.reason, sent: 'no' }),
    );
  const stopClock = clock.after(timeoutMs, () => {
    const { reason, stderrTail, generation } = source.lastExit?.() ?? {};
    const last = reason === undefined ? '' : `; the last time: ${reason}`;
    const message = `${source.label} was not connected within ${timeoutMs} ms${last}`;
    stopped.reject(new IsthmusError('TIMED_OUT', message, { sent: 'no', stderrTail, generation }));
  });
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([opening, stopped.promise]);
  } finally {
    stopClock();
    signal?.removeEventListener('abort', onAbort);
  }
}

export function clientClosed(): IsthmusError {
  return new IsthmusError('CONNECTION_CLOSED', 'The client is closed', { sent: 'no' });
}

/** The error of a repeated call. The first attempt may have run, whatever happened to the second. */
export function mayHaveRun(later: unknown, first: IsthmusError): unknown {
  if (!(later instanceof IsthmusError) || later.sent !== 'no') return later;
  return later.with({ sent: 'maybe', generation: later.generation ?? first.generation });
}

/** The handshake may have been sent. The call that waited for it was not. */
export function couldNotOpen(label: string, error: unknown): IsthmusError {
  if (error instanceof IsthmusError) return error.with({ sent: 'no' });
  const message = `The connection to ${label} could not be reopened: ${messageOf(error)}`;
  return new IsthmusError('CONNECTION_CLOSED', message, { cause: error, sent: 'no' });
}
