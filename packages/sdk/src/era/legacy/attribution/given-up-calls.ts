import type { Clock } from '../../../async/clock.js';
import type { RequestId } from '../../../wire/json-rpc.js';

/** Calls that were given up, but that the server may still run and ask about. */
export class GivenUpCalls<T> {
  readonly #clock: Clock;
  readonly #keepMs: number;
  readonly #calls = new Map<RequestId, GivenUp<T>>();
  readonly #byCall = new Map<T, GivenUp<T>>();
  #count = 0;
  /** How many were added since those that are over were forgotten. */
  #added = 0;
  /** When the first of them is over. */
  #firstForgotten = Number.POSITIVE_INFINITY;

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
    // Not with each of many calls, so that adding one stays cheap.
    if (this.#firstForgotten <= now && 2 * this.#added >= this.#calls.size) this.#tidy(now);
    const givenUp = { call, until: now + ms, forgotten: now + Math.max(ms, this.#keepMs) };
    this.#added += 1;
    this.#firstForgotten = Math.min(this.#firstForgotten, givenUp.forgotten);
    this.#calls.set(id, givenUp);
    this.#byCall.set(call, givenUp);
    this.#count += 1;
    return this.#count;
  }

  /** Its answer has arrived. Undefined if there is no such call. */
  remove(id: RequestId): T | undefined {
    const givenUp = this.#calls.get(id);
    if (!givenUp) return undefined;
    this.#forget(id, givenUp);
    return givenUp.call;
  }

  /** The calls that may still ask. */
  all(): T[] {
    if (this.#calls.size === 0) return [];
    const now = this.#clock.now();
    return [...this.#calls.values()].filter(({ until }) => until > now).map(({ call }) => call);
  }

  /** Whether one of the calls that may still ask passes the test. */
  some(test: (call: T) => boolean): boolean {
    if (this.#calls.size === 0) return false;
    const now = this.#clock.now();
    for (const { call, until } of this.#calls.values()) if (until > now && test(call)) return true;
    return false;
  }

  /** The milliseconds until the call is assumed to ask no more; 0 if it is assumed so now, or was not given up. */
  msLeft(call: T): number {
    const until = this.#byCall.get(call)?.until;
    return until === undefined ? 0 : Math.max(0, until - this.#clock.now());
  }

  #tidy(now: number): void {
    let first = Number.POSITIVE_INFINITY;
    for (const [id, givenUp] of this.#calls) {
      if (givenUp.forgotten <= now) this.#forget(id, givenUp);
      else first = Math.min(first, givenUp.forgotten);
    }
    this.#added = 0;
    this.#firstForgotten = first;
  }

  #forget(id: RequestId, givenUp: GivenUp<T>): void {
    this.#calls.delete(id);
    this.#byCall.delete(givenUp.call);
  }
}

interface GivenUp<T> {
  readonly call: T;
  readonly until: number;
  readonly forgotten: number;
}
