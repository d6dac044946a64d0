import { UNKNOWN_CLIENT } from '../../../exchange/client-key.js';
import { FairShare } from '../../../exchange/fair-share.js';

/** Events that a client may have missed, kept for a while. One per legacy session. */
export interface EventStore {
  /**
   * Keeps an event and names it. Ids are unique within the session and say which stream they belong to. An event that
   * is too large is not kept: `instead` is kept under its id, so that a client that comes back learns of it.
   */
  add(stream: string, json: string, instead?: string): string;
  /**
   * What came after this event on its stream, in order; undefined when the event is not known (any more), since
   * then nobody can say what was missed.
   */
  after(id: string): { readonly stream: string; readonly events: readonly StoredEvent[] } | undefined;
  /** The session is over. */
  close?(): void;
}

export interface StoredEvent {
  readonly id: string;
  /** Empty for an event that only gave its id. */
  readonly json: string;
}

export interface EventStoreOptions {
  readonly maxEvents?: number;
  /** Of one session, in UTF-8. An event that is larger is not kept. Default 512 KiB. */
  readonly maxBytes?: number;
  /** Whom the process counts its bytes for; see `EventStoreFactory`. */
  readonly who?: string;
  /** What all stores share. Default: 64 MiB for the process. */
  readonly memory?: EventMemory;
}

/** Makes the store of a session; `who` names its client, for bounds that are fair between clients. */
export type EventStoreFactory = (session: { readonly who: string }) => EventStore;

/** The newest events, up to a number and a size; the oldest go first. */
export function memoryEventStore({
  maxEvents = 1000,
  maxBytes = 512 * 1024,
  who = UNKNOWN_CLIENT,
  memory = PROCESS_EVENTS,
}: EventStoreOptions = {}): EventStore {
  const kept = new Map<string, KeptEvent>();
  let bytes = 0;
  let count = 0;
  const dropOldestWhile = (isTooMuch: () => boolean) => {
    for (const [id, event] of kept) {
      if (!isTooMuch()) return;
      kept.delete(id);
      bytes -= event.bytes;
    }
  };
  const whole = () => bytes + kept.size * EVENT_OVERHEAD_BYTES;
  const shared = {
    shrinkTo(most: number): number {
      dropOldestWhile(() => whole() > most);
      return whole();
    },
  };
  const fitting = (json: string): KeptEvent['json'] | undefined =>
    json.length <= maxBytes && Buffer.byteLength(json) <= maxBytes ? json : undefined;
  return {
    add(stream, json, instead = '') {
      count += 1;
      const id = `${stream}-${count}`;
      const text = fitting(json) ?? fitting(instead) ?? '';
      const size = Buffer.byteLength(text);
      kept.set(id, { stream, json: text, bytes: size });
      bytes += size;
      dropOldestWhile(() => kept.size > maxEvents || bytes > maxBytes);
      memory.holds(who, shared, whole());
      return id;
    },
    after(id) {
      const from = kept.get(id);
      if (!from) return undefined;
      const events: StoredEvent[] = [];
      let found = false;
      for (const [each, { stream, json }] of kept) {
        if (found && stream === from.stream) events.push({ id: each, json });
        if (each === id) found = true;
      }
      return { stream: from.stream, events };
    },
    close() {
      kept.clear();
      bytes = 0;
      memory.holds(who, shared, 0);
    },
  };
}

interface KeptEvent {
  readonly stream: string;
  readonly json: string;
  readonly bytes: number;
}

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
