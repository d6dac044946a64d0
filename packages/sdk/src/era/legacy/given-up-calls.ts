import type { Clock } from '../../async/clock.js';
import type { RequestId } from '../../wire/json-rpc.js';

/** Calls that nobody waits for any more, but that may still run over there and ask. */
export class GivenUpCalls<T> {
  readonly #clock: Clock;
  readonly #keepMs: number;
  readonly #calls = new Map<RequestId, GivenUp<T>>();

  /** For `keepMs` their late answers are recognized, also where they are feared for less. */
  constructor(clock: Clock, keepMs: number) {
    this.#clock = clock;
    this.#keepMs = keepMs;
  }

  /** It may ask for so long. */
  add(id: RequestId, call: T, ms: number): void {
    const now = this.#clock.now();
    for (const [old, { forgotten }] of this.#calls) if (forgotten <= now) this.#calls.delete(old);
    this.#calls.set(id, { call, until: now + ms, forgotten: now + Math.max(ms, this.#keepMs) });
  }

  /** Its answer came after all. Undefined when there is no such call. */
  remove(id: RequestId): T | undefined {
    const call = this.#calls.get(id)?.call;
    this.#calls.delete(id);
    return call;
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

interface GivenUp<T> {
  readonly call: T;
  readonly until: number;
  readonly forgotten: number;
}
