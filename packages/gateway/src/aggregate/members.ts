import { createDeferred, type Deferred } from '@isthmus/sdk/internal/async/deferred.js';
import type { Change, Service } from '@isthmus/sdk/internal/exchange/call.js';

/** One of several servers that are served as one. */
export interface AggregateMember {
  readonly name: string;
  readonly service: Service;
  /** Why it cannot be asked at present: by this caller, or by anybody. Undefined: it can, or will be soon. */
  absence(asker?: { readonly principal: string | undefined }): string | undefined;
}

/** A server that could not be asked, and why. */
export interface Absent {
  readonly server: string;
  readonly reason: string;
}

/** The `_meta` key of lists under which absent servers are named: nobody is to take their tools for gone. */
export const ABSENT = 'isthmus/absent';

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

/** Somebody who hears of several servers at once, and goes on hearing of them as they come and go. */
export interface Hearer {
  /** This server can be asked now. */
  adopt(part: AggregateMember): void;
  /** This server is not one of them any more; what it is at work on is over when `drained` settles. */
  drop(part: AggregateMember, drained: Promise<void>): void;
  /** Something changed that belongs to no single server. */
  changed(change: Change): void;
}

/** All who hear of the servers at present. */
export class Audience {
  readonly #hearers = new Set<Hearer>();

  get size(): number {
    return this.#hearers.size;
  }

  join(hearer: Hearer): () => void {
    this.#hearers.add(hearer);
    return () => this.#hearers.delete(hearer);
  }

  adopt(part: AggregateMember): void {
    for (const hearer of [...this.#hearers]) hearer.adopt(part);
  }

  drop(part: AggregateMember, drained: Promise<void>): void {
    for (const hearer of [...this.#hearers]) hearer.drop(part, drained);
  }

  /** A server came or went, and all that it has with it. */
  announceLists(): void {
    for (const hearer of [...this.#hearers]) for (const kind of LISTS) hearer.changed({ kind });
  }
}

const LISTS = ['tools', 'prompts', 'resources'] as const;
