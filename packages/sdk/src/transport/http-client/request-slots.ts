import type { InFlightRequest } from './in-flight-request.js';

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
