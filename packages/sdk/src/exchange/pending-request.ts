import { setMaxListeners } from 'node:events';
import type { Cancellation } from '../async/abort.js';
import { IsthmusError } from '../errors.js';
import type { JsonObject, RequestId } from '../wire/json-rpc.js';
import type { OutgoingCall } from './call.js';
import type { ResultListener } from './late-result.js';

/** A request to send, and what is told about it. */
export interface OutboundRequest {
  /** The method; named in errors. */
  readonly what: string;
  readonly timeoutMs: number;
  /** Progress extends the timeout up to this total. Default: four times the timeout. */
  readonly maxTimeoutMs?: number;
  /** Default: that of the call. */
  readonly signal?: Cancellation | undefined;
  /** Who makes it: `suspend` and `abandon` concern the requests of one owner. */
  readonly owner?: unknown;
  /** The call that it belongs to. Undefined: the connection itself needs it. */
  readonly call?: OutgoingCall | undefined;
  /** Modern: this request asked for logs. */
  readonly wantsLogs?: boolean;
  send(id: RequestId): void;
  /** The peer gets a cancellation, since the request may have reached it. */
  giveUp(id: RequestId, why: string): void;
  /** What the request settles with for a result of the peer. Throws for an invalid result. Default: the result. */
  accept?(result: JsonObject): JsonObject | Promise<JsonObject>;
  /** It is answered, has failed or was given up. */
  settled?(hasResult: boolean): void;
  progress?(params: JsonObject): void;
  log?(params: JsonObject): void;
}

/** What a pending request does to the others. */
interface PendingSurroundings {
  /** Removes a request from the output queue. False if it may have left. */
  withdraw(mark: number): boolean;
  forget(id: RequestId, token: string | undefined): void;
}

/** A request that was sent and is not answered yet. */
export class PendingRequest {
  readonly request: OutboundRequest;
  readonly #requests: PendingSurroundings;
  readonly id: RequestId;
  readonly #signal: Cancellation | undefined;
  readonly #listener: ResultListener;
  /** When it times out. */
  due: number;
  /** How many messages the connection had sent right after this one. */
  mark = 0;
  /** True if `mark` is the number of this message, so that it can be removed from the queue. */
  isQueued = false;
  /** Progress moves `due` no further than this. */
  #latest: number;
  #suspended: { readonly at: number; readonly left: number } | undefined;
  /** How often it is suspended; its time goes on when this is 0 again. */
  #stops = 0;

  constructor(
    requests: PendingSurroundings,
    id: RequestId,
    request: OutboundRequest,
    now: number,
    listener: ResultListener,
  ) {
    this.#requests = requests;
    this.id = id;
    this.request = request;
    this.#listener = listener;
    this.#latest = now + maximumOf(request);
    this.due = Math.min(now + request.timeoutMs, this.#latest);
    this.#signal = signalOf(request);
    if (this.#signal) listenTo(this.#signal, this);
  }

  /** Called by the signal. */
  handleEvent(): void {
    this.#giveUp(cancelled(this.request.what, this.#signal?.reason, 'maybe'));
  }

  resolve(result: JsonObject): void {
    const { request } = this;
    // It is over before a further round of the call may begin.
    this.#end();
    let accepted: JsonObject | Promise<JsonObject>;
    try {
      accepted = request.accept ? request.accept(result) : result;
      request.settled?.(true);
    } catch (error) {
      request.settled?.(false);
      this.#listener.fail(error);
      return;
    }
    if (accepted instanceof Promise) this.#follow(accepted);
    else this.#listener.complete(accepted);
  }

  #follow(accepted: Promise<JsonObject>): void {
    accepted.then(
      (result) => this.#listener.complete(result),
      (error: unknown) => this.#listener.fail(error),
    );
  }

  reject(error: Error): void {
    this.#end();
    this.request.settled?.(false);
    this.#listener.fail(error);
  }

  isOf(owner: unknown): boolean {
    return (this.request.call?.behalf?.owner ?? this.request.owner) === owner;
  }

  extend(now: number): void {
    if (!this.#suspended) this.due = Math.min(now + this.request.timeoutMs, this.#latest);
  }

  suspend(now: number): void {
    this.#stops += 1;
    if (this.#suspended) return;
    this.#suspended = { at: now, left: this.due - now };
    this.due = Number.POSITIVE_INFINITY;
  }

  continue(now: number): void {
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
    const { what, timeoutMs } = this.request;
    const spent = this.due >= this.#latest ? maximumOf(this.request) : timeoutMs;
    const message = `${what} was not answered within ${spent} ms`;
    this.#giveUp(new IsthmusError('TIMED_OUT', message, { sent: 'maybe' }));
  }

  #giveUp(error: IsthmusError): void {
    this.#end();
    this.request.settled?.(false);
    if (this.isQueued && this.#requests.withdraw(this.mark)) return this.#listener.fail(notSent(error));
    this.request.giveUp(this.id, error.message);
    this.#listener.fail(error);
  }

  #end(): void {
    this.#requests.forget(this.id, this.request.call?.progressToken);
    this.#signal?.removeEventListener('abort', this);
  }
}

/** One signal may be used for many calls. Node would warn of a leak after ten. */
function listenTo(signal: Cancellation, listener: PendingRequest): void {
  if (signal instanceof AbortSignal && !known.has(signal)) {
    known.add(signal);
    setMaxListeners(0, signal);
  }
  signal.addEventListener('abort', listener, { once: true });
}

const known = new WeakSet<AbortSignal>();

function maximumOf({ timeoutMs, maxTimeoutMs = timeoutMs * 4 }: OutboundRequest): number {
  return maxTimeoutMs;
}

export function signalOf({ signal, call }: OutboundRequest): Cancellation | undefined {
  return signal ?? call?.signal;
}

export function cancelled(what: string, reason: unknown, sent: 'no' | 'maybe'): IsthmusError {
  return new IsthmusError('CANCELLED', `${what} was cancelled`, { cause: reason, sent });
}

export function notSent(error: IsthmusError): IsthmusError {
  return error.with({ sent: 'no' });
}
