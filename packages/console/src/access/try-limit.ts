import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { RequestSource } from './request-source.js';

/**
 * Wrong keys: five in a minute from one address. A right one is not counted. For an address that many people share the
 * bound is 600, so that the mistakes of one person do not keep the others out.
 */
export class TryLimit {
  readonly #clock: Clock;
  readonly #failures = new Map<string, number[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  mayTry({ address, isShared }: RequestSource): boolean {
    return this.#recent(address).length < (isShared ? MAX_SHARED_TRIES : MAX_TRIES);
  }

  fail({ address }: RequestSource): void {
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
const MAX_SHARED_TRIES = 600;
const MAX_ADDRESSES = 10_000;
