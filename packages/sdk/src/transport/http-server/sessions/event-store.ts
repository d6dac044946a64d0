import { UNKNOWN_CLIENT } from '../../../exchange/client-key.js';
import { FairShare } from '../../../exchange/fair-share.js';

/** Keeps events that a client may have missed. One store for each legacy session. */
export interface EventStore {
  /**
   * Keeps an event and returns its id. Ids are unique within the session and name the stream. For an event that is too
   * large, `instead` is kept under its id, so that a client that resumes learns of it.
   */
  add(stream: string, json: string, instead?: string): string;
  /**
   * The later events of the same stream, in order. Undefined when the store does not have the event (any more), since
   * then it is not known what was missed.
   */
  after(id: string): { readonly stream: string; readonly events: readonly StoredEvent[] } | undefined;
  /** The session is over. */
  close?(): void;
}

/** An event of a stream, kept for a client that lost its connection. */
export interface StoredEvent {
  readonly id: string;
  /** Empty for an event that only carried an id. */
  readonly json: string;
}

/** How much `memoryEventStore` keeps. */
export interface EventStoreOptions {
  readonly maxEvents?: number;
  /** For one session, in UTF-8. A larger event is not kept. Default 512 KiB. */
  readonly maxBytes?: number;
  /** The client that its bytes count for; see `EventStoreFactory`. */
  readonly who?: string;
  /** The limit that all stores share. Default: 64 MiB for the process. */
  readonly memory?: EventMemory;
}

/** Makes the store of a session; `who` names its client, for bounds that are fair between clients. */
export type EventStoreFactory = (session: { readonly who: string }) => EventStore;

/** Keeps the newest events, up to a number and a size. */
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

/** Keeps messages of one session, and can drop some of them. */
export interface Shrinkable {
  /** Drops its oldest messages until it takes at most this many bytes. Returns how many it takes then. */
  shrinkTo(bytes: number): number;
}

/**
 * Bounds what all sessions keep for clients that resume, in bytes. Over the bound, the client with most bytes loses the
 * oldest messages of its largest session.
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

  /** Records how many bytes are kept for this client now. 0 removes it. */
  holds(who: string, kept: Shrinkable, bytes: number): void {
    if (bytes > 0) this.#shares.set(who, kept, bytes);
    else this.#shares.delete(who, kept);
    if (this.#shares.total > this.maxBytes) this.#trim();
  }

  #trim(): void {
    // Frees more than needed, so that not every message has to search for the largest.
    const enough = this.maxBytes - this.maxBytes / 16;
    while (this.#shares.total > enough) {
      const who = this.#shares.most()!;
      const kept = this.#shares.largestOf(who)!;
      const bytes = this.#shares.amountOf(who, kept);
      // At most half: then another session may be the largest.
      const left = kept.shrinkTo(Math.max(bytes - (this.#shares.total - enough), bytes / 2));
      if (left > 0) this.#shares.set(who, kept, left);
      else this.#shares.delete(who, kept);
    }
  }
}

/** All endpoints of the process share it. */
export const PROCESS_EVENTS = new EventMemory(64 * 1024 * 1024);

/** The memory of a kept message besides its text. */
export const EVENT_OVERHEAD_BYTES = 128;
