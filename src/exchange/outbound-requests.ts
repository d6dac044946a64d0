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
  #nextId: number;
  #suspensions = 0;
  #failure: IsthmusError | undefined;

  constructor(clock: Clock, firstId = 0) {
    this.#clock = clock;
    this.#nextId = firstId;
  }

  get size(): number {
    return this.#pending.size;
  }

  /**
   * Sends through `send` and settles with the answer. On timeout or abort `giveUp` is told, so that the
   * peer can be sent a cancellation, and a late answer is ignored.
   */
  request(options: OutboundOptions): Promise<JsonObject> {
    const { what, signal } = options;
    if (this.#failure) return Promise.reject(notSent(this.#failure));
    if (signal?.aborted) return Promise.reject(cancelled(what, signal.reason, 'no'));
    const id = this.#nextId++;
    return new Promise<JsonObject>((resolve, reject) => {
      const pending = new Pending(this.#clock, id, options, resolve, reject, () => this.#pending.delete(id));
      this.#pending.set(id, pending);
      try {
        options.send(id);
      } catch (error) {
        pending.reject(error instanceof IsthmusError ? notSent(error) : (error as Error));
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

  /** Ends one request with a failure of ours. False when it is not pending. */
  reject(id: RequestId, error: Error): boolean {
    const pending = this.#pending.get(id);
    pending?.reject(error);
    return pending !== undefined;
  }

  /** Who sent the request that has this id, if it is still pending. */
  find(id: RequestId): OutboundOptions | undefined {
    return this.#pending.get(id)?.options;
  }

  /** The peer reports progress on it: its time starts anew, up to its maximum in all (CANC-015). */
  extend(id: RequestId): void {
    this.#pending.get(id)?.extend();
  }

  /** Stops the clocks of all that is pending, until as many `goOn`. */
  suspend(): void {
    this.#suspensions += 1;
    if (this.#suspensions === 1) for (const pending of this.#pending.values()) pending.suspend();
  }

  goOn(): void {
    this.#suspensions -= 1;
    if (this.#suspensions === 0) for (const pending of this.#pending.values()) pending.goOn();
  }

  /** All that is pending, in the order of sending. */
  open(): OutboundOptions[] {
    return [...this.#pending.values()].map((pending) => pending.options);
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
  /** The most that progress can extend the timeout to; four times the timeout by default. */
  readonly maxTimeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
  send(id: RequestId): void;
  giveUp(id: RequestId, why: string): void;
  onProgress?(params: JsonObject): void;
  onLog?(params: JsonObject): void;
  /** Modern: this request asked for logs. */
  readonly wantsLogs?: boolean;
}

class Pending {
  readonly options: OutboundOptions;
  readonly #clock: Clock;
  readonly #id: RequestId;
  readonly #onResolve: (result: JsonObject) => void;
  readonly #onReject: (error: Error) => void;
  readonly #forget: () => void;
  #latest: number;
  #stopTimer: () => void;
  /** When the running timer is due, and since when it is stopped. */
  #due = 0;
  #stoppedAt: number | undefined;

  constructor(
    clock: Clock,
    id: RequestId,
    options: OutboundOptions,
    onResolve: (result: JsonObject) => void,
    onReject: (error: Error) => void,
    forget: () => void,
  ) {
    this.#clock = clock;
    this.#id = id;
    this.options = options;
    this.#onResolve = onResolve;
    this.#onReject = onReject;
    this.#forget = forget;
    const { timeoutMs, maxTimeoutMs = timeoutMs * 4 } = options;
    this.#latest = clock.now() + maxTimeoutMs;
    this.#stopTimer = this.#startTimer(Math.min(timeoutMs, maxTimeoutMs));
    options.signal?.addEventListener('abort', this, { once: true });
  }

  /** The signal's listener. */
  handleEvent(): void {
    this.#giveUp(cancelled(this.options.what, this.options.signal?.reason, 'maybe'));
  }

  resolve(result: JsonObject): void {
    this.#end();
    this.#onResolve(result);
  }

  reject(error: Error): void {
    this.#end();
    this.#onReject(error);
  }

  suspend(): void {
    this.#stopTimer();
    this.#stoppedAt = this.#clock.now();
  }

  goOn(): void {
    if (this.#stoppedAt === undefined) return;
    const left = this.#due - this.#stoppedAt;
    this.#latest += this.#clock.now() - this.#stoppedAt;
    this.#stoppedAt = undefined;
    this.#stopTimer = this.#startTimer(left);
  }

  extend(): void {
    if (this.#stoppedAt !== undefined) return;
    this.#stopTimer();
    this.#stopTimer = this.#startTimer(Math.min(this.options.timeoutMs, this.#latest - this.#clock.now()));
  }

  #startTimer(ms: number): () => void {
    this.#due = this.#clock.now() + ms;
    return this.#clock.after(ms, () => {
      const { what, timeoutMs, maxTimeoutMs = timeoutMs * 4 } = this.options;
      const spent = ms < timeoutMs ? maxTimeoutMs : timeoutMs;
      this.#giveUp(
        new IsthmusError('TIMED_OUT', `${what} was not answered within ${spent} ms`, { sent: 'maybe' }),
      );
    });
  }

  #giveUp(error: IsthmusError): void {
    this.#end();
    this.options.giveUp(this.#id, error.message);
    this.#onReject(error);
  }

  #end(): void {
    this.#forget();
    this.#stopTimer();
    this.options.signal?.removeEventListener('abort', this);
  }
}

function cancelled(what: string, reason: unknown, sent: 'no' | 'maybe'): IsthmusError {
  return new IsthmusError('CANCELLED', `${what} was called off`, { cause: reason, sent });
}

function notSent(error: IsthmusError): IsthmusError {
  return new IsthmusError(error.code, error.message, { cause: error.cause, sent: 'no' });
}
