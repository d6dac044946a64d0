import type { Flight } from './flight.js';

/** A bounded number of flights at a time; the others wait in line. */
export class Places {
  #free: number;
  readonly #waiting = new Set<{ readonly flight: Flight; readonly start: () => void }>();

  constructor(size: number) {
    this.#free = size;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Starts it now or when a place is free; one that is called off before never starts. */
  admit(flight: Flight, start: () => void): void {
    if (this.#free > 0) return this.#start(flight, start);
    const entry = { flight, start };
    this.#waiting.add(entry);
    flight.onLanded = () => this.#waiting.delete(entry);
  }

  #start(flight: Flight, start: () => void): void {
    this.#free -= 1;
    flight.onLanded = () => this.#vacate();
    start();
  }

  #vacate(): void {
    this.#free += 1;
    const [next] = this.#waiting;
    if (!next) return;
    this.#waiting.delete(next);
    this.#start(next.flight, next.start);
  }
}
