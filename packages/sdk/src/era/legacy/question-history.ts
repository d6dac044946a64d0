/** What has been seen of the calls of a legacy server, by what is called: who asks, how often, how many at once. */
export class QuestionHistory {
  /** Has asked (for ever), or may have (until it has run alone a few times without asking). */
  readonly #suspects = new Map<string, number>();
  /** Have asked again after an answer. */
  readonly #repeaters = new Set<string>();
  /** Have asked a second question while the first was open. */
  readonly #bundlers = new Set<string>();
  /** Have done so after they were taken for waiting. */
  readonly #late = new Set<string>();

  /** Looked at before the name, which costs more to find in a map than all the rest; most servers never ask. */
  get isEmpty(): boolean {
    return this.#suspects.size === 0;
  }

  asks(key: string): boolean {
    return this.#suspects.has(key);
  }

  /** Beyond doubt. */
  surelyAsks(key: string): boolean {
    return this.#suspects.get(key) === Number.POSITIVE_INFINITY;
  }

  asksAgain(key: string): boolean {
    return this.#repeaters.has(key);
  }

  asksSeveral(key: string): boolean {
    return this.#bundlers.has(key);
  }

  asksLate(key: string): boolean {
    return this.#late.has(key);
  }

  /** It asked, or (when others could have been meant, too) may have. */
  hasAsked(key: string, certain: boolean): void {
    const suspicion = certain ? Number.POSITIVE_INFINITY : Math.max(this.#suspects.get(key) ?? 0, TRIALS);
    if (!this.#suspects.has(key) && this.#suspects.size >= MAX_KEYS) this.#forgetOldest();
    this.#suspects.set(key, suspicion);
  }

  hasAskedAgain(key: string): void {
    this.#repeaters.add(key);
  }

  hasAskedSeveral(key: string): void {
    this.#bundlers.add(key);
  }

  hasAskedLate(key: string): void {
    this.#late.add(key);
  }

  /** It ended, and had not asked. */
  exonerate(key: string): void {
    const left = (this.#suspects.get(key) ?? 0) - 1;
    if (left > 0) this.#suspects.set(key, left);
    else this.#suspects.delete(key);
  }

  /** Resources are known by their URIs, and a client can name as many as it likes. */
  #forgetOldest(): void {
    const [oldest] = this.#suspects.keys();
    if (oldest === undefined) return;
    this.#suspects.delete(oldest);
    for (const keys of [this.#repeaters, this.#bundlers, this.#late]) keys.delete(oldest);
  }
}

/** What is called, by method and name. */
const MAX_KEYS = 4096;

/** How often a suspect has to end without asking until it is trusted again. */
const TRIALS = 3;
