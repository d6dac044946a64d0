import type { Change } from '@isthmus/sdk/internal/exchange/call.js';
import type { AggregateMember } from './member.js';

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
