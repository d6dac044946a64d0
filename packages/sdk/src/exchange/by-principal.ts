/**
 * What is remembered for each principal apart: nothing that one of them caused is used for another. Callers without
 * a principal are one together. The number of principals is bounded, and the one that was used longest ago goes.
 */
export class ByPrincipal<T> {
  readonly #create: () => T;
  readonly #max: number;
  readonly #kept = new Map<string | undefined, T>();

  constructor(create: () => T, max = MAX_PRINCIPALS) {
    this.#create = create;
    this.#max = max;
  }

  get size(): number {
    return this.#kept.size;
  }

  /** What is kept for this one, if anything is. */
  get(principal: string | undefined): T | undefined {
    return this.#kept.get(principal);
  }

  /** What is kept for this one from now on. */
  of(principal: string | undefined): T {
    const known = this.#kept.get(principal);
    const kept = known ?? this.#create();
    if (known === undefined || this.#kept.size > 1) {
      // The order of the map is the order of use.
      this.#kept.delete(principal);
      this.#kept.set(principal, kept);
    }
    if (this.#kept.size > this.#max) this.#kept.delete(this.#kept.keys().next().value);
    return kept;
  }

  delete(principal: string | undefined): void {
    this.#kept.delete(principal);
  }

  entries(): IterableIterator<[string | undefined, T]> {
    return this.#kept.entries();
  }

  values(): IterableIterator<T> {
    return this.#kept.values();
  }
}

const MAX_PRINCIPALS = 1000;
