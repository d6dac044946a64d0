import type { Clock } from '../async/clock.js';
import { IsthmusError, ProtocolError } from '../errors.js';
import {
  type DecodedError,
  type DecodedResult,
  isRequestId,
  type JsonObject,
  type RequestId,
} from '../wire/json-rpc.js';
import { IdMap } from './id-map.js';
import type { ResultListener } from './late-result.js';
import { cancelled, notSent, type OutboundRequest, PendingRequest, signalOf } from './pending-request.js';

/**
 * The requests that we sent and that are not answered yet. Ids are integers, unique for the life of the connection
 * (JRPC-005), and compared with their JSON type. All requests share one timer: one for each is a large part of the price
 * of a small call.
 */
export class OutboundRequests {
  readonly #clock: Clock;
  readonly #outlet: Outlet | undefined;
  readonly #pending = new IdMap<PendingRequest>();
  /** Requests whose progress token is not their id. */
  #tokens: Map<RequestId, PendingRequest> | undefined;
  #nextId: number;
  #failure: IsthmusError | undefined;
  #timer: { readonly due: number; readonly callOff: () => void } | undefined;

  /** With an outlet that counts, a failure says whether the request may have left. */
  constructor(clock: Clock, outlet?: Outlet, firstId = 0) {
    this.#clock = clock;
    this.#outlet = outlet;
    this.#nextId = firstId;
  }

  get size(): number {
    return this.#pending.size;
  }

  /** Sends a request and settles with the answer; see `send`. */
  request(request: OutboundRequest): Promise<JsonObject> {
    return new Promise((complete, fail) => this.send(request, { complete, fail }));
  }

  /**
   * Sends a request; the listener is told the answer. On timeout or abort a request that has not begun to leave is removed
   * from the queue. Otherwise it is told to give up, so that the peer can be sent a cancellation, and a late answer is
   * ignored.
   */
  send(request: OutboundRequest, listener: ResultListener): void {
    const signal = signalOf(request);
    if (this.#failure || signal?.aborted) {
      request.settled?.(false);
      listener.fail(this.#failure ? notSent(this.#failure) : cancelled(request.what, signal?.reason, 'no'));
      return;
    }
    const id = this.#nextId++;
    const pending = new PendingRequest(this, id, request, this.#clock.now(), listener);
    this.#pending.set(id, pending);
    const token = request.call?.progressToken;
    if (token !== undefined) {
      this.#tokens ??= new Map();
      this.#tokens.set(token, pending);
    }
    this.#arm(pending.due);
    try {
      const before = this.#outlet?.sent ?? 0;
      request.send(id);
      pending.mark = this.#outlet?.sent ?? 0;
      pending.isQueued = pending.mark === before + 1;
    } catch (error) {
      pending.reject(error instanceof IsthmusError ? notSent(error) : (error as Error));
    }
  }

  /** Settles the request of an answer. False if there is none. */
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

  /** Ends one request with a local failure. False if it is not pending. */
  reject(id: RequestId, error: Error): boolean {
    const pending = this.#pending.get(id);
    pending?.reject(error);
    return pending !== undefined;
  }

  /** The peer reported progress: the timeout starts again, up to the maximum (CANC-015). */
  extend(id: RequestId): void {
    this.#pending.get(id)?.extend(this.#clock.now());
  }

  /** Reports progress to the request of the token. False if there is none. */
  progress(params: JsonObject): boolean {
    const token = params['progressToken'];
    if (!isRequestId(token)) return false;
    const pending = this.#pending.get(token) ?? this.#tokens?.get(token);
    if (!pending) return false;
    pending.extend(this.#clock.now());
    pending.request.progress?.(params);
    return true;
  }

  get(id: RequestId): OutboundRequest | undefined {
    return this.#pending.get(id)?.request;
  }

  /** The id of a request for which the condition holds. */
  find(holds: (request: OutboundRequest) => boolean): RequestId | undefined {
    return this.#pending.values().find(({ request }) => holds(request))?.id;
  }

  /** Stops the timeouts of the requests of one owner, or on its behalf, until the returned function is called. */
  suspend(owner: unknown): () => void {
    const now = this.#clock.now();
    const stopped = this.#pending.values().filter((pending) => pending.isOf(owner));
    for (const pending of stopped) pending.suspend(now);
    return () => {
      const later = this.#clock.now();
      for (const pending of stopped) {
        pending.continue(later);
        if (this.#pending.has(pending.id)) this.#arm(pending.due);
      }
    };
  }

  /** Gives one request up: the peer is told, and a late answer is ignored. */
  giveUp(id: RequestId, error: IsthmusError): void {
    this.#pending.get(id)?.abandon(error);
  }

  /** Gives all requests of this owner up: the peer is told, and late answers are ignored. */
  abandon(owner: unknown, error: IsthmusError): void {
    for (const pending of this.#pending.values()) {
      if (pending.request.owner === owner) pending.abandon(error);
    }
  }

  /** All pending requests, in the order of sending. */
  open(): OutboundRequest[] {
    return this.#pending.values().map((pending) => pending.request);
  }

  /**
   * No answer can come any more: rejects all pending requests and all later ones. Requests that have not begun to leave
   * never will, unless `leaving` says that the queue is still being written out.
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

  /** Removes a request from the queue. False if it may have left. */
  withdraw(mark: number): boolean {
    return this.#outlet?.withdraw?.(mark) ?? false;
  }

  forget(id: RequestId, token: string | undefined): void {
    if (token !== undefined && this.#tokens?.get(token)?.id === id) this.#tokens.delete(token);
    this.#pending.delete(id);
  }

  /** Arms the timer so that it fires no later than `due`. */
  #arm(due: number): void {
    if (due === Number.POSITIVE_INFINITY || (this.#timer && this.#timer.due <= due)) return;
    this.#timer?.callOff();
    // In the background: the connection keeps the program alive, not this timer.
    const callOff = this.#clock.after(Math.max(0, due - this.#clock.now()), () => this.#expireDue(), {
      background: true,
    });
    this.#timer = { due, callOff };
  }

  #expireDue(): void {
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

/** Counts outgoing messages, see `Connection`. */
interface Outlet {
  readonly sent?: number;
  readonly begun?: number;
  withdraw?(number: number): boolean;
}
