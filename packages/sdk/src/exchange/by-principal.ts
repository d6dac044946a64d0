/**
 * Values that are kept for each principal apart, so that nothing that one principal caused is used for another. Callers
 * without a principal share one value. The number of principals is bounded; the least recently used one is dropped.
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

  /** The value of this principal, if there is one. */
  get(principal: string | undefined): T | undefined {
    return this.#kept.get(principal);
  }

  /** The value of this principal, created if there is none. */
  of(principal: string | undefined): T {
    const known = this.#kept.get(principal);
    const kept = known ?? this.#create();
    if (known === undefined || this.#kept.size > 1) {
      // The map is in the order of use.
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
