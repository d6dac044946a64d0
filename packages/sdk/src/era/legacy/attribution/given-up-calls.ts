import type { Clock } from '../../../async/clock.js';
import type { RequestId } from '../../../wire/json-rpc.js';

/** Calls that were given up, but that the server may still run and ask about. */
export class GivenUpCalls<T> {
  readonly #clock: Clock;
  readonly #keepMs: number;
  readonly #calls = new Map<RequestId, GivenUp<T>>();
  #count = 0;

  /** Late answers are recognized for at least `keepMs`, also if the call may ask for less time. */
  constructor(clock: Clock, keepMs: number) {
    this.#clock = clock;
    this.#keepMs = keepMs;
  }

  /** How many calls were given up until now. */
  get count(): number {
    return this.#count;
  }

  /** The call may ask for `ms` more. Returns its sequence number. */
  add(id: RequestId, call: T, ms: number): number {
    const now = this.#clock.now();
    for (const [old, { forgotten }] of this.#calls) if (forgotten <= now) this.#calls.delete(old);
    this.#calls.set(id, { call, until: now + ms, forgotten: now + Math.max(ms, this.#keepMs) });
    this.#count += 1;
    return this.#count;
  }

  /** Its answer has arrived. Undefined if there is no such call. */
  remove(id: RequestId): T | undefined {
    const call = this.#calls.get(id)?.call;
    this.#calls.delete(id);
    return call;
  }

  /** The calls that may still ask. */
  all(): T[] {
    if (this.#calls.size === 0) return [];
    const now = this.#clock.now();
    return [...this.#calls.values()].filter(({ until }) => until > now).map(({ call }) => call);
  }

  /** For each of them, the milliseconds until it is assumed to ask no more. */
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
