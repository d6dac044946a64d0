import { createDeferred, type Deferred } from '../async/deferred.js';
import { CALL_BYTES, type InboundLimits } from '../exchange/inbound-calls.js';
import type { DecodedNotification, RequestId } from '../wire/json-rpc.js';

/**
 * The messages of one connection that wait until the service is ready. Their number and their bytes are bounded: the
 * input is held while there are too many, so that a client which does not wait for answers cannot fill the memory.
 */
export class EarlyMessages {
  readonly #limits: InboundLimits;
  readonly #hold: (hold: boolean) => void;
  readonly #requests = new Set<RequestId>();
  #notifications = 0;
  /** The memory of all of them, cancelled ones included until the service is ready. */
  #bytes = 0;
  #isHolding = false;
  #onEmpty: Deferred<void> | undefined;

  /** `hold` is told whether the input has to be held. */
  constructor(limits: InboundLimits, hold: (hold: boolean) => void) {
    this.#limits = limits;
    this.#hold = hold;
  }

  get hasRequests(): boolean {
    return this.#requests.size > 0;
  }

  /** Records a request. The returned function removes it, and says whether it was still wanted. */
  addRequest(id: RequestId, bytes: number): () => boolean {
    this.#requests.add(id);
    this.#bytes += bytes + CALL_BYTES;
    this.#review();
    return () => {
      const isWanted = this.#requests.delete(id);
      this.#bytes -= bytes + CALL_BYTES;
      this.#review();
      return isWanted;
    };
  }

  /** Records a notification. The returned function removes it; undefined: there is no room, and it is dropped. */
  addNotification(bytes: number): (() => void) | undefined {
    if (this.#notifications > MAX_NOTIFICATIONS) return undefined;
    if (this.#bytes + bytes > this.#limits.maxQueuedBytes) return undefined;
    this.#notifications += 1;
    this.#bytes += bytes;
    return () => {
      this.#notifications -= 1;
      this.#bytes -= bytes;
    };
  }

  /** True if the notification cancels one of these requests; that one is never handled. */
  cancelledBy({ method, params }: DecodedNotification): boolean {
    if (method !== 'notifications/cancelled') return false;
    if (!this.#requests.delete(params?.['requestId'] as RequestId)) return false;
    this.#review();
    return true;
  }

  /** Removes all requests, for the caller to refuse. */
  abandonRequests(): RequestId[] {
    const ids = [...this.#requests];
    this.#requests.clear();
    return ids;
  }

  /** Settles when no request waits any more. */
  async empty(): Promise<void> {
    while (this.#requests.size > 0) {
      this.#onEmpty ??= createDeferred<void>();
      await this.#onEmpty.promise;
    }
  }

  #review(): void {
    if (this.#requests.size === 0) {
      this.#onEmpty?.resolve();
      this.#onEmpty = undefined;
    }
    const { maxConcurrent, maxQueuedBytes } = this.#limits;
    const isFull = this.#requests.size >= maxConcurrent || this.#bytes >= maxQueuedBytes;
    if (isFull === this.#isHolding) return;
    this.#isHolding = isFull;
    this.#hold(isFull);
  }
}

const MAX_NOTIFICATIONS = 1000;
