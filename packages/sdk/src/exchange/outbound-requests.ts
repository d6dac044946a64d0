import { setMaxListeners } from 'node:events';
import type { Cancellation } from '../async/abort.js';
import type { Clock } from '../async/clock.js';
import { IsthmusError, ProtocolError } from '../errors.js';
import {
  type DecodedError,
  type DecodedResult,
  isRequestId,
  type JsonObject,
  type RequestId,
} from '../wire/json-rpc.js';
import type { LoggingLevel } from '../wire/model.js';
import type { OnBehalfOf } from './call.js';
import { IdMap } from './id-map.js';

/**
 * The requests we sent and still wait for. Ids are integers, unique for the life of the connection
 * (JRPC-005), compared with their JSON type. One timer serves them all: a timer for each is a large part of
 * the price of a small call.
 */
export class OutboundRequests {
  readonly #clock: Clock;
  readonly #outlet: Outlet | undefined;
  readonly #pending = new IdMap<Pending>();
  /** Those that are not reported on under their ids. */
  #tokens: Map<RequestId, Pending> | undefined;
  #nextId = 0;
  #failure: IsthmusError | undefined;
  #timer: { readonly due: number; readonly callOff: () => void } | undefined;

  /** With an outlet that counts, requests that never left are told apart from those that may have. */
  constructor(clock: Clock, outlet?: Outlet) {
    this.#clock = clock;
    this.#outlet = outlet;
  }

  get size(): number {
    return this.#pending.size;
  }

  /**
   * Sends through `send` and settles with the answer. On timeout or abort a request that has not begun to leave is
   * taken out of the queue; otherwise `giveUp` is told, so that the peer can be sent a cancellation, and a late
   * answer is ignored.
   */
  request(options: OutboundOptions): Promise<JsonObject> {
    const { what, signal } = options;
    if (this.#failure || signal?.aborted) {
      options.onSettled?.();
      return Promise.reject(this.#failure ? notSent(this.#failure) : cancelled(what, signal?.reason, 'no'));
    }
    const id = this.#nextId++;
    return new Promise<JsonObject>((resolve, reject) => {
      const pending = new Pending(this, id, options, this.#clock.now(), resolve, reject);
      this.#pending.set(id, pending);
      if (options.progressToken !== undefined) {
        this.#tokens ??= new Map();
        this.#tokens.set(options.progressToken, pending);
      }
      this.#arm(pending.due);
      try {
        const before = this.#outlet?.sent ?? 0;
        options.send(id);
        pending.mark = this.#outlet?.sent ?? 0;
        pending.isQueued = pending.mark === before + 1;
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
    else {
      const { code, message, data } = answer.error;
      pending.reject(new ProtocolError(code, message, data, answer.status));
    }
    return true;
  }

  /** Ends one request with a failure of ours. False when it is not pending. */
  reject(id: RequestId, error: Error): boolean {
    const pending = this.#pending.get(id);
    pending?.reject(error);
    return pending !== undefined;
  }

  /** The peer reports progress on it: its time starts anew, up to its maximum in all (CANC-015). */
  extend(id: RequestId): void {
    this.#pending.get(id)?.extend(this.#clock.now());
  }

  /** Hands progress to whoever made the request that the token names. False when nobody did. */
  progress(params: JsonObject): boolean {
    const token = params['progressToken'];
    if (!isRequestId(token)) return false;
    const pending = this.#pending.get(token) ?? this.#tokens?.get(token);
    if (!pending) return false;
    pending.extend(this.#clock.now());
    pending.options.onProgress?.(params);
    return true;
  }

  get(id: RequestId): OutboundOptions | undefined {
    return this.#pending.get(id)?.options;
  }

  /** Stops the clocks of all that is pending of one owner, or on its behalf, until the returned function is called. */
  suspend(owner: unknown): () => void {
    const now = this.#clock.now();
    const stopped = this.#pending.values().filter((pending) => pending.isOf(owner));
    for (const pending of stopped) pending.suspend(now);
    return () => {
      const later = this.#clock.now();
      for (const pending of stopped) {
        pending.goOn(later);
        if (this.#pending.has(pending.id)) this.#arm(pending.due);
      }
    };
  }

  /** Nobody waits any longer for one request: the peer is told, and a late answer is ignored. */
  giveUp(id: RequestId, error: IsthmusError): void {
    this.#pending.get(id)?.abandon(error);
  }

  /** Nobody waits any longer for what this owner asked: the peer is told, and late answers are ignored. */
  abandon(owner: unknown, error: IsthmusError): void {
    for (const pending of this.#pending.values()) {
      if (pending.options.owner === owner) pending.abandon(error);
    }
  }

  /** All that is pending, in the order of sending. */
  open(): OutboundOptions[] {
    return this.#pending.values().map((pending) => pending.options);
  }

  /**
   * No answer can come any more: rejects all that wait and all that will be tried. What has not begun to leave
   * by now never will, unless `leaving` says that it is still being written out.
   */
  fail(error: IsthmusError, leaving = false): void {
    this.#failure ??= error;
    const begun = (leaving ? undefined : this.#outlet?.begun) ?? Number.POSITIVE_INFINITY;
    for (const pending of this.#pending.values()) {
      pending.reject(pending.mark > begun ? notSent(error) : error);
    }
    this.#timer?.callOff();
    this.#timer = undefined;
  }

  /** Takes a request out of the queue. False when it may have left. */
  withdraw(mark: number): boolean {
    return this.#outlet?.withdraw?.(mark) ?? false;
  }

  forget(id: RequestId, token: string | undefined): void {
    if (token !== undefined && this.#tokens?.get(token)?.id === id) this.#tokens.delete(token);
    this.#pending.delete(id);
  }

  /** Sees to it that somebody looks at the deadlines no later than `due`. */
  #arm(due: number): void {
    if (due === Number.POSITIVE_INFINITY || (this.#timer && this.#timer.due <= due)) return;
    this.#timer?.callOff();
    // In the background: what keeps a program alive is the connection that the answer will come from.
    const callOff = this.#clock.after(Math.max(0, due - this.#clock.now()), () => this.#look(), {
      background: true,
    });
    this.#timer = { due, callOff };
  }

  #look(): void {
    this.#timer = undefined;
    const now = this.#clock.now();
    let next = Number.POSITIVE_INFINITY;
    for (const pending of this.#pending.values()) {
      if (pending.due <= now) pending.expire();
      else next = Math.min(next, pending.due);
    }
    this.#arm(next);
  }
}

/** Counts messages on their way out, see `Connection`. */
export interface Outlet {
  readonly sent?: number;
  readonly begun?: number;
  withdraw?(number: number): boolean;
}

export interface OutboundOptions {
  /** Named in errors: `elicitation/create`. */
  readonly what: string;
  readonly timeoutMs: number;
  /** The most that progress can extend the timeout to; four times the timeout by default. */
  readonly maxTimeoutMs?: number;
  readonly signal?: Cancellation | undefined;
  send(id: RequestId): void;
  giveUp(id: RequestId, why: string): void;
  readonly onProgress?: ((params: JsonObject) => void) | undefined;
  readonly onLog?: ((params: JsonObject) => void) | undefined;
  /** Who makes it; what concerns one owner leaves the requests of others alone. */
  readonly owner?: unknown;
  /** For whom, where that is somebody else. */
  readonly behalf?: OnBehalfOf | undefined;
  readonly progressToken?: string | undefined;
  /** Told when it has its answer, or will have none. */
  readonly onSettled?: (() => void) | undefined;
  /** Modern: this request asked for logs. */
  readonly wantsLogs?: boolean;
  /** From this level on. */
  readonly logLevel?: LoggingLevel | undefined;
}

class Pending {
  readonly options: OutboundOptions;
  readonly #requests: OutboundRequests;
  readonly id: RequestId;
  readonly #onResolve: (result: JsonObject) => void;
  readonly #onReject: (error: Error) => void;
  /** When its time is up. */
  due: number;
  /** How many messages had been sent when this one was. */
  mark = 0;
  /** `mark` is the number of this very message, so that it can be taken out of the queue. */
  isQueued = false;
  /** Progress can move `due` no further than this. */
  #latest: number;
  #suspended: { readonly at: number; readonly left: number } | undefined;
  /** How often its clock was stopped. */
  #stops = 0;

  constructor(
    requests: OutboundRequests,
    id: RequestId,
    options: OutboundOptions,
    now: number,
    onResolve: (result: JsonObject) => void,
    onReject: (error: Error) => void,
  ) {
    this.#requests = requests;
    this.id = id;
    this.options = options;
    this.#onResolve = onResolve;
    this.#onReject = onReject;
    this.#latest = now + maximumOf(options);
    this.due = Math.min(now + options.timeoutMs, this.#latest);
    if (options.signal) listenTo(options.signal, this);
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

  isOf(owner: unknown): boolean {
    return (this.options.behalf?.owner ?? this.options.owner) === owner;
  }

  extend(now: number): void {
    if (!this.#suspended) this.due = Math.min(now + this.options.timeoutMs, this.#latest);
  }

  suspend(now: number): void {
    this.#stops += 1;
    if (this.#suspended) return;
    this.#suspended = { at: now, left: this.due - now };
    this.due = Number.POSITIVE_INFINITY;
  }

  goOn(now: number): void {
    this.#stops -= 1;
    if (!this.#suspended || this.#stops > 0) return;
    this.due = now + this.#suspended.left;
    this.#latest += now - this.#suspended.at;
    this.#suspended = undefined;
  }

  abandon(error: IsthmusError): void {
    this.#giveUp(error);
  }

  expire(): void {
    const { what, timeoutMs } = this.options;
    const spent = this.due >= this.#latest ? maximumOf(this.options) : timeoutMs;
    const message = `${what} was not answered within ${spent} ms`;
    this.#giveUp(new IsthmusError('TIMED_OUT', message, { sent: 'maybe' }));
  }

  #giveUp(error: IsthmusError): void {
    this.#end();
    if (this.isQueued && this.#requests.withdraw(this.mark)) return this.#onReject(notSent(error));
    this.options.giveUp(this.id, error.message);
    this.#onReject(error);
  }

  #end(): void {
    this.#requests.forget(this.id, this.options.progressToken);
    this.options.signal?.removeEventListener('abort', this);
    this.options.onSettled?.();
  }
}

/** One signal for many calls is what signals are for: no reason to warn of a leak. */
function listenTo(signal: Cancellation, listener: Pending): void {
  if (signal instanceof AbortSignal && !known.has(signal)) {
    known.add(signal);
    setMaxListeners(0, signal);
  }
  signal.addEventListener('abort', listener, { once: true });
}

const known = new WeakSet<AbortSignal>();

function maximumOf({ timeoutMs, maxTimeoutMs = timeoutMs * 4 }: OutboundOptions): number {
  return maxTimeoutMs;
}

function cancelled(what: string, reason: unknown, sent: 'no' | 'maybe'): IsthmusError {
  return new IsthmusError('CANCELLED', `${what} was called off`, { cause: reason, sent });
}

function notSent(error: IsthmusError): IsthmusError {
  return error.with({ sent: 'no' });
}
