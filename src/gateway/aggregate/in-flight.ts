import { createDeferred, type Deferred } from '../../async/deferred.js';
import type { Part } from './part.js';

/** The calls that each server is at work on for all: one that leaves may finish them. */
export class InFlight {
  readonly #parts = new Map<Part, { calls: number; readonly idle: Deferred<void> }>();

  async run<T>(part: Part, work: () => T | Promise<T>): Promise<T> {
    const entry = this.#parts.get(part) ?? { calls: 0, idle: createDeferred<void>() };
    this.#parts.set(part, entry);
    entry.calls += 1;
    try {
      return await work();
    } finally {
      entry.calls -= 1;
      if (entry.calls === 0) {
        this.#parts.delete(part);
        entry.idle.resolve();
      }
    }
  }

  /** Settles when nothing of it is running. */
  async drained(part: Part): Promise<void> {
    await this.#parts.get(part)?.idle.promise;
  }
}
