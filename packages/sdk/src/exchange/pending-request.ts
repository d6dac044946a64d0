import { setMaxListeners } from 'node:events';
import type { Cancellation } from '../async/abort.js';
import { IsthmusError } from '../errors.js';
import type { JsonObject, RequestId } from '../wire/json-rpc.js';
import type { LoggingLevel } from '../wire/model.js';
import type { OnBehalfOf } from './call.js';

export interface OutboundOptions {
  /** The method; named in errors. */
  readonly what: string;
  readonly timeoutMs: number;
  /** Progress extends the timeout up to this total. Default: four times the timeout. */
  readonly maxTimeoutMs?: number;
  readonly signal?: Cancellation | undefined;
  send(id: RequestId): void;
  giveUp(id: RequestId, why: string): void;
  readonly onProgress?: ((params: JsonObject) => void) | undefined;
  readonly onLog?: ((params: JsonObject) => void) | undefined;
  /** Who makes it: `suspend` and `abandon` concern the requests of one owner. */
  readonly owner?: unknown;
  /** The client that it is made for, if the owner makes it for another. */
  readonly behalf?: OnBehalfOf | undefined;
  readonly progressToken?: string | undefined;
  /** Called when it is answered, has failed or was given up. */
  readonly onSettled?: (() => void) | undefined;
  /** Modern: this request asked for logs. */
  readonly wantsLogs?: boolean;
  /** The lowest level that it asked for. */
  readonly logLevel?: LoggingLevel | undefined;
}

/** What a pending request does to the others. */
interface PendingSurroundings {
  /** Removes a request from the output queue. False if it may have left. */
  withdraw(mark: number): boolean;
  forget(id: RequestId, token: string | undefined): void;
}

/** A request that was sent and is not answered yet. */
export class PendingRequest {
  readonly options: OutboundOptions;
  readonly #requests: PendingSurroundings;
  readonly id: RequestId;
  readonly #onResolve: (result: JsonObject) => void;
  readonly #onReject: (error: Error) => void;
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

  /** Called by the signal. */
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

/** One signal may be used for many calls. Node would warn of a leak after ten. */
function listenTo(signal: Cancellation, listener: PendingRequest): void {
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

export function cancelled(what: string, reason: unknown, sent: 'no' | 'maybe'): IsthmusError {
  return new IsthmusError('CANCELLED', `${what} was cancelled`, { cause: reason, sent });
}

export function notSent(error: IsthmusError): IsthmusError {
  return error.with({ sent: 'no' });
}
