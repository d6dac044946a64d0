import { ByPrincipal } from '../../exchange/by-principal.js';
import type { Part } from './part.js';

/**
 * How long a list waits for a server. After each list in which a server did not answer in time, the next one of the
 * same principal waits half as long for it, so that a server that hangs does not cost every list the whole time. An
 * answer in time makes it the whole time again.
 */
export class Patience {
  readonly #wholeMs: number;
  #parts = new WeakMap<Part, ByPrincipal<{ ms: number }>>();

  constructor(wholeMs: number) {
    this.#wholeMs = wholeMs;
  }

  msFor(part: Part, principal: string | undefined): number {
    return this.#parts.get(part)?.get(principal)?.ms ?? this.#wholeMs;
  }

  wasLate(part: Part, principal: string | undefined): void {
    const known = this.#parts.get(part) ?? new ByPrincipal(() => ({ ms: this.#wholeMs }));
    this.#parts.set(part, known);
    const entry = known.of(principal);
    entry.ms = Math.max(entry.ms / 2, this.#wholeMs / SHORTEST);
  }

  answered(part: Part, principal: string | undefined): void {
    this.#parts.get(part)?.delete(principal);
  }

  /** It has been started anew: nothing from before counts. */
  forget(part: Part): void {
    this.#parts.delete(part);
  }
}

/** 5 s become no less than 250 ms. */
const SHORTEST = 20;
