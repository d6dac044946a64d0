import type { Clock } from '../async/clock.js';
import { IsthmusError, ProtocolError } from '../errors.js';
import type { DecodedError, DecodedResult, JsonObject, RequestId } from '../wire/json-rpc.js';

/**
 * The requests we sent and still wait for. Ids are integers, unique for the life of the connection
 * (JRPC-005), compared with their JSON type.
 */
export class OutboundRequests {
  readonly #clock: Clock;
  readonly #pending = new Map<RequestId, Pending>();
  #nextId = 0;
  #failure: IsthmusError | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#pending.size;
  }

  /**
   * Sends through `send` and settles with the answer. On timeout or abort `giveUp` is told, so that the
   * peer can be sent a cancellation, and a late answer is ignored.
   */
  request(options: OutboundOptions): Promise<JsonObject> {
    if (this.#failure) return Promise.reject(this.#failure);
    const { timeoutMs, signal, what } = options;
    if (signal?.aborted) return Promise.reject(cancelled(what, signal.reason));
    const id = this.#nextId++;
    return new Promise<JsonObject>((resolve, reject) => {
      const end = () => {
        this.#pending.delete(id);
        stopTimer();
        signal?.removeEventListener('abort', onAbort);
      };
      const giveUp = (error: IsthmusError) => {
        end();
        options.giveUp(id, error.message);
        reject(error);
      };
      const onAbort = () => giveUp(cancelled(what, signal?.reason));
      const latest = this.#clock.now() + timeoutMs * MAX_EXTENSION;
      const startTimer = () =>
        this.#clock.after(Math.min(timeoutMs, latest - this.#clock.now()), () =>
          giveUp(new IsthmusError('TIMED_OUT', `${what} was not answered within ${timeoutMs} ms`)),
        );
      let stopTimer = startTimer();
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#pending.set(id, {
        resolve: (result) => {
          end();
          resolve(result);
        },
        reject: (error) => {
          end();
          reject(error);
        },
        extend: () => {
          stopTimer();
          stopTimer = startTimer();
        },
      });
      try {
        options.send(id);
      } catch (error) {
        end();
        reject(error);
      }
    });
  }

  /** Hands an answer to whoever waits for it. False when nobody does. */
  settle(answer: DecodedResult | DecodedError): boolean {
    if (answer.id === undefined) return false;
    const pending = this.#pending.get(answer.id);
    if (!pending) return false;
    if (answer.kind === 'result') pending.resolve(answer.result);
    else pending.reject(new ProtocolError(answer.error.code, answer.error.message, answer.error.data));
    return true;
  }

  /** The peer reports progress on it: its time starts anew, up to four times the timeout in all (CANC-015). */
  extend(id: RequestId): void {
    this.#pending.get(id)?.extend();
  }

  /** No answer can come any more: rejects all that wait and all that will be tried. */
  fail(error: IsthmusError): void {
    this.#failure ??= error;
    for (const pending of [...this.#pending.values()]) pending.reject(error);
  }
}

export interface OutboundOptions {
  /** Named in errors: `elicitation/create`. */
  readonly what: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  send(id: RequestId): void;
  giveUp(id: RequestId, why: string): void;
}

interface Pending {
  resolve(result: JsonObject): void;
  reject(error: Error): void;
  extend(): void;
}

const MAX_EXTENSION = 4;

function cancelled(what: string, reason: unknown): IsthmusError {
  return new IsthmusError('CANCELLED', `${what} was called off`, { cause: reason });
}
