/** Who watches which tasks of a store, in this process. */
export class TaskWatchers {
  readonly #byTask = new Map<string, Set<() => void>>();

  get isEmpty(): boolean {
    return this.#byTask.size === 0;
  }

  /** The tasks that are watched. */
  get ids(): readonly string[] {
    return [...this.#byTask.keys()];
  }

  /** Returns a function that ends the watching. */
  add(id: string, onChange: () => void): () => void {
    // A wrapper, so that the same function can be added twice.
    const watcher = () => onChange();
    const known = this.#byTask.get(id) ?? new Set();
    this.#byTask.set(id, known.add(watcher));
    return () => {
      known.delete(watcher);
      if (known.size === 0 && this.#byTask.get(id) === known) this.#byTask.delete(id);
    };
  }

  /** Those of one task, as they are now. */
  of(id: string): readonly (() => void)[] {
    return [...(this.#byTask.get(id) ?? [])];
  }

  clear(): void {
    this.#byTask.clear();
  }
}
