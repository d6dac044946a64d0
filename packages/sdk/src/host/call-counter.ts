import { createDeferred } from '../async/deferred.js';
import type { TenantLimiter } from '../era/client/tenant.js';
import type { OutgoingCall } from '../exchange/call.js';

/** Counts the calls of a connection without a limit, so that a connection can be closed when its calls are done. */
export class CallCounter implements TenantLimiter {
  inFlight = 0;
  isRetired = false;
  readonly #idle = createDeferred<void>();

  /** Settles when a retired connection has no more calls. */
  get idle(): Promise<void> {
    return this.#idle.promise;
  }

  /** No new calls come. */
  retire(): void {
    this.isRetired = true;
    this.#settle();
  }

  begin(): boolean {
    this.inFlight += 1;
    return true;
  }

  async wait(call: OutgoingCall): Promise<OutgoingCall> {
    return call;
  }

  end(): void {
    this.inFlight -= 1;
    this.#settle();
  }

  suspend(): void {}

  resume(): void {}

  holdSubscription(): () => void {
    return () => {};
  }

  refuse(): void {}

  #settle(): void {
    if (this.isRetired && this.inFlight <= 0) this.#idle.resolve();
  }
}
