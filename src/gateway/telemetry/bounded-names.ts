/** Names that others choose, as labels of a metric: so many of them, and the rest is `other`. */
export class BoundedNames {
  readonly #most: number;
  readonly #known = new Set<string>();
  /** Names of which nothing good is known: anybody can call what does not exist. */
  readonly #unproven = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  /** The name, or `other`. `proven`: there is such a thing, since it has answered well. */
  of(name: string, proven: boolean): string {
    if (this.#known.has(name)) return name;
    if (name.length > LONGEST) return OTHER;
    if (proven) {
      if (this.#known.size >= this.#most) return OTHER;
      this.#known.add(name);
      this.#unproven.delete(name);
      return name;
    }
    if (this.#unproven.has(name)) return name;
    // A few places, so that a tool that never worked can be seen; made-up names do not take those of real ones.
    const left = Math.min(Math.ceil(this.#most / 10), this.#most - this.#known.size);
    if (this.#unproven.size >= left) return OTHER;
    this.#unproven.add(name);
    return name;
  }
}

const OTHER = 'other';
const LONGEST = 128;
