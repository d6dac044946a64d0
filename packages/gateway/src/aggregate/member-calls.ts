import { createDeferred, type Deferred } from '@isthmus/sdk/internal/async/deferred.js';
import type { AggregateMember } from './member.js';

/** The calls that each server is at work on for all: one that leaves may finish them. */
export class MemberCalls {
  readonly #parts = new Map<AggregateMember, { calls: number; readonly idle: Deferred<void> }>();

  async run<T>(part: AggregateMember, work: () => T | Promise<T>): Promise<T> {
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
  async drained(part: AggregateMember): Promise<void> {
    await this.#parts.get(part)?.idle.promise;
  }
}
