import type { Clock } from '@isthmus/sdk/internal/async/clock.js';

/** Wrong keys: five in a minute from one address. A right one is not counted. */
export class TryLimit {
  readonly #clock: Clock;
  readonly #failures = new Map<string, number[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  mayTry(address: string): boolean {
    return this.#recent(address).length < MAX_TRIES;
  }

  fail(address: string): void {
    const recent = this.#recent(address);
    // The last one to fail is the last to be forgotten.
    this.#failures.delete(address);
    this.#failures.set(address, [...recent, this.#clock.now()]);
    if (this.#failures.size > MAX_ADDRESSES) this.#failures.delete(this.#failures.keys().next().value!);
  }

  #recent(address: string): number[] {
    const since = this.#clock.now() - MINUTE_MS;
    return (this.#failures.get(address) ?? []).filter((at) => at > since);
  }
}

const MINUTE_MS = 60_000;
const MAX_TRIES = 5;
const MAX_ADDRESSES = 10_000;
