import type { Clock } from '../../async/clock.js';
import type { RequestId } from '../../wire/json-rpc.js';

/** Calls that nobody waits for any more, but that may still run over there and ask. */
export class GivenUpCalls<T> {
  readonly #clock: Clock;
  readonly #calls = new Map<RequestId, { readonly call: T; readonly until: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(id: RequestId, call: T, ms: number): void {
    const now = this.#clock.now();
    for (const [old, { until }] of this.#calls) if (until <= now) this.#calls.delete(old);
    this.#calls.set(id, { call, until: now + ms });
  }

  /** Its answer came after all. False when there is no such call. */
  remove(id: RequestId): boolean {
    return this.#calls.delete(id);
  }

  /** Those that may still ask. */
  all(): T[] {
    if (this.#calls.size === 0) return [];
    const now = this.#clock.now();
    return [...this.#calls.values()].filter(({ until }) => until > now).map(({ call }) => call);
  }

  /** In how many milliseconds each of them is not feared any more. */
  ends(): number[] {
    const now = this.#clock.now();
    return [...this.#calls.values()].map(({ until }) => until - now).filter((ms) => ms > 0);
  }
}
