import { META } from '../../era/meta-keys.js';
import { IdMap } from '../../exchange/id-map.js';
import { type DecodedError, isJsonObject, type JsonRpcRequest, type RequestId } from '../../wire/json-rpc.js';

/** The requests that wait for their end. */
export class InFlightRequests {
  readonly #flights = new IdMap<InFlightRequest>();
  #onEmpty: (() => void) | undefined;

  add(flight: InFlightRequest): void {
    this.#flights.set(flight.id, flight);
  }

  of(id: unknown): InFlightRequest | undefined {
    return this.#flights.get(id as RequestId);
  }

  all(): InFlightRequest[] {
    return this.#flights.values();
  }

  /** It has its end; whether that is an answer is for others to say. */
  land(flight: InFlightRequest): void {
    if (this.#flights.get(flight.id) === flight) this.#flights.delete(flight.id);
    flight.land();
    if (this.#flights.size === 0) this.#onEmpty?.();
  }

  /** Settles when none is left. */
  empty(): Promise<void> {
    if (this.#flights.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
    });
  }
}

/** One request of ours on its way, until it is answered, failed or called off. */
export class InFlightRequest {
  readonly id: RequestId;
  readonly request: JsonRpcRequest;
  readonly text: string;
  /** The revision that a modern request names; `undefined` for a legacy one. */
  readonly revision: string | undefined;
  /** False once nobody waits any more: nothing is delivered for it then. */
  live = true;
  /** Nothing that belongs to it is of interest any more. */
  calledOff = false;
  /** It may have reached the server. */
  begun = false;
  /** Its headers were refused; kept back while better ones are looked for. */
  mismatch: DecodedError | undefined;
  /** Calls off the end of a stream that goes on after the answer. */
  lingering: (() => void) | undefined;
  /** Told once, when its place can be given to another. */
  onLanded: (() => void) | undefined;
  readonly #controller = new AbortController();

  constructor(request: JsonRpcRequest, text: string) {
    this.id = request.id;
    this.request = request;
    this.text = text;
    const meta = request.params?.['_meta'];
    const revision = isJsonObject(meta) ? meta[META.protocolVersion] : undefined;
    this.revision = typeof revision === 'string' ? revision : undefined;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** It has its end. */
  land(): void {
    this.live = false;
    this.onLanded?.();
    this.onLanded = undefined;
  }

  /** Closes its stream. */
  abort(): void {
    this.land();
    this.#controller.abort();
  }
}

/** A bounded number of flights at a time; the others wait in line. */
export class RequestSlots {
  #free: number;
  readonly #waiting = new Set<Waiting>();
  #waitingChars = 0;

  constructor(size: number) {
    this.#free = size;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Starts it now or when a place is free; one that is called off before never starts. False: those that wait take
   * too much already, and it will not start.
   */
  admit(flight: InFlightRequest, start: () => void): boolean {
    if (this.#free > 0) {
      this.#start(flight, start);
      return true;
    }
    if (this.#waiting.size > 0 && this.#waitingChars + flight.text.length > MAX_WAITING_CHARS) return false;
    const entry = { flight, start };
    this.#waiting.add(entry);
    this.#waitingChars += flight.text.length;
    flight.onLanded = () => this.#leave(entry);
    return true;
  }

  #leave(entry: Waiting): void {
    if (this.#waiting.delete(entry)) this.#waitingChars -= entry.flight.text.length;
  }

  #start(flight: InFlightRequest, start: () => void): void {
    this.#free -= 1;
    flight.onLanded = () => this.#vacate();
    start();
  }

  #vacate(): void {
    this.#free += 1;
    const [next] = this.#waiting;
    if (!next) return;
    this.#leave(next);
    this.#start(next.flight, next.start);
  }
}

interface Waiting {
  readonly flight: InFlightRequest;
  readonly start: () => void;
}

const MAX_WAITING_CHARS = 32 * 1024 * 1024;
