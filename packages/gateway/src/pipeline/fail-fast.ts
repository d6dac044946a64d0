import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { withoutStderr } from '@isthmus/sdk/internal/bridge/upstream-errors.js';
import { ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type { Service } from '@isthmus/sdk/internal/exchange/call.js';
import type { ServerStatus } from '@isthmus/sdk/internal/host/status.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import { type StatusViewer, statusFor } from '../server-state.js';
import { deriveService } from './derive-service.js';

/** What is known of the processes of a server. */
export interface ProcessWatch {
  /** Whether one of them waits before it is started again. It is asked before each call, so it must be cheap. */
  isBackingOff(): boolean;
  status(): ServerStatus | undefined;
  /** Whether the server has described itself before: then a client can open a session, and only its calls fail. */
  isKnown(): boolean;
  readonly clock: Clock;
  /** Removes secrets from error messages. */
  readonly clean?: ((text: string) => string) | undefined;
}

/**
 * Rejects a call at once while the host waits before it starts a process again that could not be started. The error
 * says why, and when the next attempt is. A process that has worked before is waited for, because it is back in a moment.
 */
export function failFast(
  inner: Service,
  { processes: watch }: { readonly processes?: ProcessWatch | undefined },
): Service {
  if (!watch) return inner;
  return deriveService(inner, {
    handle(call) {
      const failure = startFailure(watch, call.peer);
      return failure ? Promise.reject(failure) : inner.handle(call);
    },
    ready(opening, principal) {
      const failure = watch.isKnown() ? undefined : startFailure(watch, { principal });
      return failure ? Promise.reject(failure) : inner.ready?.(opening, principal);
    },
  });
}

function startFailure(watch: ProcessWatch, viewer: StatusViewer): ProtocolError | undefined {
  if (!watch.isBackingOff()) return undefined;
  const status = statusFor(watch.status(), viewer);
  if (status?.state !== 'backing-off' || status.lastExit?.phase !== 'start') return undefined;
  const { reason, generation } = status.lastExit;
  const next = Math.max(0, ...status.processes.map((each) => each.nextAttemptAt ?? 0));
  const retryAfterMs = Math.max(1, next - watch.clock.now());
  const why = withoutStderr(reason);
  const message = `${watch.clean?.(why) ?? why}; it is tried again in ${Math.ceil(retryAfterMs / 1000)} s`;
  const data = { reason: 'CHILD_EXITED', sent: 'no', generation, status: 503, retryAfterMs };
  return new ProtocolError(ErrorCode.InternalError, message, data);
}
