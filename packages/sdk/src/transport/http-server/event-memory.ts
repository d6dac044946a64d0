import { FairShare } from '../../exchange/fair-share.js';

/** Something that keeps messages of one session for later, and can do with fewer of them. */
export interface Shrinkable {
  /** Drops its oldest messages until it takes at most so many bytes; says how many it takes then. */
  shrinkTo(bytes: number): number;
}

/**
 * What all sessions keep for clients that come back, bounded in bytes. When it is too much, the client that keeps most
 * loses the oldest messages of its largest session, whoever came last.
 */
export class EventMemory {
  readonly maxBytes: number;
  readonly #shares = new FairShare<Shrinkable>();

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#shares.total;
  }

  /** Says how many bytes are kept for this client now; 0 forgets it. */
  holds(who: string, kept: Shrinkable, bytes: number): void {
    if (bytes > 0) this.#shares.set(who, kept, bytes);
    else this.#shares.delete(who, kept);
    if (this.#shares.total > this.maxBytes) this.#trim();
  }

  #trim(): void {
    // A little more than needed: to find the largest for every message would cost each of them a search.
    const enough = this.maxBytes - this.maxBytes / 16;
    while (this.#shares.total > enough) {
      const who = this.#shares.most()!;
      const kept = this.#shares.largestOf(who)!;
      const bytes = this.#shares.amountOf(who, kept);
      // At most half: then another may be the largest.
      const left = kept.shrinkTo(Math.max(bytes - (this.#shares.total - enough), bytes / 2));
      if (left > 0) this.#shares.set(who, kept, left);
      else this.#shares.delete(who, kept);
    }
  }
}

/** One for the process: all its endpoints share it. */
export const PROCESS_EVENTS = new EventMemory(64 * 1024 * 1024);

/** What a kept message takes besides its text. */
export const EVENT_OVERHEAD_BYTES = 128;
