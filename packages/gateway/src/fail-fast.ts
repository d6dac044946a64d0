import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { Bridge } from '@isthmus/sdk/internal/bridge/create-bridge.js';
import { withoutStderr } from '@isthmus/sdk/internal/bridge/upstream-errors.js';
import { ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type { Call, EarlyMessage } from '@isthmus/sdk/internal/exchange/call.js';
import type { ServerStatus } from '@isthmus/sdk/internal/host/status.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { type StatusViewer, statusFor } from './own-processes.js';
import { ServiceAround } from './service-around.js';

/**
 * A server that could not be started is tried again after a pause. Who comes meanwhile is told at once why, and when,
 * instead of waiting for what is known already. One that has worked before is waited for: it will be back in a moment.
 */
export class FailFast extends ServiceAround {
  override readonly ready: (
    opening: EarlyMessage,
    principal: string | undefined,
  ) => Promise<void> | undefined;
  readonly #status: () => ServerStatus | undefined;
  readonly #clock: Clock;
  /** Takes secrets out of what clients are told. */
  readonly #clean: (text: string) => string;

  constructor(
    inner: Bridge,
    status: () => ServerStatus | undefined,
    clock: Clock,
    clean: (text: string) => string = (text) => text,
  ) {
    super(inner);
    this.#clean = clean;
    this.#status = status;
    this.#clock = clock;
    this.ready = (opening, principal) => {
      // What it can do may be known from before; then only its calls fail.
      const failure = inner.far ? undefined : this.#failure({ principal });
      return failure ? Promise.reject(failure) : inner.ready?.(opening, principal);
    };
  }

  override handle(call: Call): JsonObject | Promise<JsonObject> {
    const failure = this.#failure(call.peer);
    return failure ? Promise.reject(failure) : this.inner.handle(call);
  }

  #failure(asker: StatusViewer): ProtocolError | undefined {
    const status = statusFor(this.#status(), asker);
    if (status?.state !== 'backing-off' || status.lastExit?.phase !== 'start') return undefined;
    const { reason, generation } = status.lastExit;
    const next = Math.max(0, ...status.processes.map((each) => each.nextAttemptAt ?? 0));
    const retryAfterMs = Math.max(1, next - this.#clock.now());
    const message = `${this.#clean(withoutStderr(reason))}; it is tried again in ${Math.ceil(retryAfterMs / 1000)} s`;
    const data = { reason: 'CHILD_EXITED', sent: 'no', generation, status: 503, retryAfterMs };
    return new ProtocolError(ErrorCode.InternalError, message, data);
  }
}
