import type { Named } from './names.js';

/** Names that do not say by themselves whose they are: learnt from the lists in which they are given out. */
export class ShortenedNames {
  readonly #known = new Map<string, Named>();

  get(name: string): Named | undefined {
    return this.#known.get(name);
  }

  learn(shortened: string, named: Named): void {
    this.#known.delete(shortened);
    this.#known.set(shortened, named);
    if (this.#known.size > MAX_KNOWN) this.#known.delete(this.#known.keys().next().value!);
  }
}

const MAX_KNOWN = 10_000;
