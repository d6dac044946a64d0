/** Which calls of a legacy server have asked questions, and how, by method and name of what is called. */
export class QuestionHistory {
  /** Keys that have asked (infinity), or may have (the number of runs without a question until they are trusted again). */
  readonly #suspects = new Map<string, number>();
  /** Keys that have asked again after an answer. */
  readonly #repeaters = new Set<string>();
  /** Keys that have asked a second question while the first was open. */
  readonly #bundlers = new Set<string>();
  /** Keys that have done so after the call was assumed to be waiting. */
  readonly #late = new Set<string>();

  /** Checked before `asks`: the lookup by key costs more than all the rest, and most servers never ask. */
  get isEmpty(): boolean {
    return this.#suspects.size === 0;
  }

  asks(key: string): boolean {
    return this.#suspects.has(key);
  }

  /** True if it has certainly asked. */
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

  /** It asked, or, if `certain` is false, it is one of several that may have. */
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

  /** A call of this key ended without a question. */
  exonerate(key: string): void {
    const left = (this.#suspects.get(key) ?? 0) - 1;
    if (left > 0) this.#suspects.set(key, left);
    else this.#suspects.delete(key);
  }

  /** Bounded, since a resource is known by its URI, and a client can name any number of URIs. */
  #forgetOldest(): void {
    const [oldest] = this.#suspects.keys();
    if (oldest === undefined) return;
    this.#suspects.delete(oldest);
    for (const keys of [this.#repeaters, this.#bundlers, this.#late]) keys.delete(oldest);
  }
}

const MAX_KEYS = 4096;

/** How often a suspect must end without a question until it is trusted again. */
const TRIALS = 3;
