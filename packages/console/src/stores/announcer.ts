/** Tells listeners about values. A listener that throws does not disturb the others. */
export class Announcer<T> {
  readonly #listeners = new Set<(value: T) => void>();

  watch(listener: (value: T) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(value: T): void {
    for (const listener of this.#listeners) listener(value);
  }
}
