import type { AttributableCall } from './attributable-call.js';

/**
 * Whether a question may still belong to several owners. It is asked after each change, for each question that is held, so
 * it must not look at all calls each time: as long as two calls of different owners may have asked, nothing else matters.
 * A call that has not asked never becomes one that may have, so each call is passed once.
 */
export class SeveralOwners {
  readonly #calls: readonly AttributableCall[];
  readonly #mayHaveAsked: (call: AttributableCall) => boolean;
  /** Positions of two calls of different owners that may have asked. All calls behind the first have not. */
  #first: number;
  #second: number;

  constructor(calls: readonly AttributableCall[], mayHaveAsked: (call: AttributableCall) => boolean) {
    this.#calls = calls;
    this.#mayHaveAsked = mayHaveAsked;
    // From the end: calls that were given up come last, and the latest of them may ask for longest.
    this.#first = calls.length - 1;
    this.#second = this.#first - 1;
  }

  areLeft(): boolean {
    const calls = this.#calls;
    while (this.#first >= 0 && !this.#mayHaveAsked(calls[this.#first]!)) this.#first -= 1;
    if (this.#first < 0) return false;
    const { owner } = calls[this.#first]!;
    // Between the two there are only calls of the owner of the first, and calls that have not asked.
    this.#second = Math.min(this.#second, this.#first - 1);
    const isWitness = (call: AttributableCall) => call.owner !== owner && this.#mayHaveAsked(call);
    while (this.#second >= 0 && !isWitness(calls[this.#second]!)) this.#second -= 1;
    return this.#second >= 0;
  }

  /** The two calls, after `areLeft` was true. */
  get witnesses(): readonly [AttributableCall, AttributableCall] {
    return [this.#calls[this.#first]!, this.#calls[this.#second]!];
  }
}
