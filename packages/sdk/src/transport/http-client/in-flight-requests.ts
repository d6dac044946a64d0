import { META } from '../../era/meta-keys.js';
import { IdMap } from '../../exchange/id-map.js';
import { type DecodedError, isJsonObject, type JsonRpcRequest, type RequestId } from '../../wire/json-rpc.js';

/** One request to the server, until it is answered, fails or is cancelled. */
export class InFlightRequest {
  readonly id: RequestId;
  readonly message: JsonRpcRequest;
  readonly text: string;
  /** The revision that a modern request names; `undefined` for a legacy one. */
  readonly revision: string | undefined;
  /** False once it has its outcome. Nothing is delivered for it then. */
  isPending = true;
  /** Messages on its stream are dropped as well. */
  isCancelled = false;
  /** It may have reached the server. */
  isSent = false;
  /** The server refused its headers. Kept back while better headers are looked for. */
  mismatch: DecodedError | undefined;
  /** Cancels the timer of a stream that stays open after the answer. */
  stopLingering: (() => void) | undefined;
  /** Called once, when its slot is free again. */
  onSettled: (() => void) | undefined;
  readonly #controller = new AbortController();

  constructor(message: JsonRpcRequest, text: string) {
    this.id = message.id;
    this.message = message;
    this.text = text;
    const meta = message.params?.['_meta'];
    const revision = isJsonObject(meta) ? meta[META.protocolVersion] : undefined;
    this.revision = typeof revision === 'string' ? revision : undefined;
  }

  get method(): string {
    return this.message.method;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  settle(): void {
    this.isPending = false;
    this.onSettled?.();
    this.onSettled = undefined;
  }

  /** Settles it and closes its stream. */
  abort(): void {
    this.settle();
    this.#controller.abort();
  }
}

/** The requests that wait for their outcome, by id. */
export class InFlightRequests {
  readonly #requests = new IdMap<InFlightRequest>();
  #onEmpty: (() => void) | undefined;

  add(request: InFlightRequest): void {
    this.#requests.set(request.id, request);
  }

  get(id: unknown): InFlightRequest | undefined {
    return this.#requests.get(id as RequestId);
  }

  all(): InFlightRequest[] {
    return this.#requests.values();
  }

  settle(request: InFlightRequest): void {
    if (this.#requests.get(request.id) === request) this.#requests.delete(request.id);
    request.settle();
    if (this.#requests.size === 0) this.#onEmpty?.();
  }

  /** Settles when none is left. */
  empty(): Promise<void> {
    if (this.#requests.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
    });
  }
}

/** Bounds how many requests are open at the same time. The others wait in order. */
export class RequestSlots {
  #free: number;
  readonly #waiting = new Set<WaitingRequest>();
  #waitingChars = 0;

  constructor(size: number) {
    this.#free = size;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Starts the request now, or when a slot is free. A request that is cancelled before never starts. False: the waiting
   * requests take too much memory, and this one will not start.
   */
  admit(request: InFlightRequest, start: () => void): boolean {
    if (this.#free > 0) {
      this.#start(request, start);
      return true;
    }
    if (this.#waiting.size > 0 && this.#waitingChars + request.text.length > MAX_WAITING_CHARS) return false;
    const entry = { request, start };
    this.#waiting.add(entry);
    this.#waitingChars += request.text.length;
    request.onSettled = () => this.#leave(entry);
    return true;
  }

  #leave(entry: WaitingRequest): void {
    if (this.#waiting.delete(entry)) this.#waitingChars -= entry.request.text.length;
  }

  #start(request: InFlightRequest, start: () => void): void {
    this.#free -= 1;
    request.onSettled = () => this.#release();
    start();
  }

  #release(): void {
    this.#free += 1;
    const [next] = this.#waiting;
    if (!next) return;
    this.#leave(next);
    this.#start(next.request, next.start);
  }
}

interface WaitingRequest {
  readonly request: InFlightRequest;
  readonly start: () => void;
}

const MAX_WAITING_CHARS = 32 * 1024 * 1024;
