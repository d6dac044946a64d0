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
export function memoryEventStore(options: EventStoreOptions = {}): EventStore {
  return new MemoryEventStore(options);
}

/** A class, and its map is created with the first event: most sessions are idle, and there may be thousands of them. */
class MemoryEventStore implements EventStore, Shrinkable {
  readonly #options: EventStoreOptions;
  #kept: Map<string, KeptEvent> | undefined;
  #bytes = 0;
  #count = 0;

  constructor(options: EventStoreOptions) {
    this.#options = options;
  }

  add(stream: string, json: string, instead = ''): string {
    const { maxEvents = 1000, maxBytes = MAX_BYTES } = this.#options;
    this.#count += 1;
    const id = `${stream}-${this.#count}`;
    const text = this.#fitting(json) ?? this.#fitting(instead) ?? '';
    const bytes = Buffer.byteLength(text);
    this.#kept ??= new Map<string, KeptEvent>();
    const kept = this.#kept;
    kept.set(id, { stream, json: text, bytes });
    this.#bytes += bytes;
    this.#dropOldestWhile(() => kept.size > maxEvents || this.#bytes > maxBytes);
    this.#report(this.#whole);
    return id;
  }

  after(id: string): ReturnType<EventStore['after']> {
    const from = this.#kept?.get(id);
    if (!from) return undefined;
    const events: StoredEvent[] = [];
    let found = false;
    for (const [each, { stream, json }] of this.#kept!) {
      if (found && stream === from.stream) events.push({ id: each, json });
      if (each === id) found = true;
    }
    return { stream: from.stream, events };
  }

  close(): void {
    this.#kept = undefined;
    this.#bytes = 0;
    this.#report(0);
  }

  shrinkTo(most: number): number {
    this.#dropOldestWhile(() => this.#whole > most);
    return this.#whole;
  }

  get #whole(): number {
    return this.#bytes + (this.#kept?.size ?? 0) * EVENT_OVERHEAD_BYTES;
  }

  #fitting(json: string): string | undefined {
    const { maxBytes = MAX_BYTES } = this.#options;
    return json.length <= maxBytes && Buffer.byteLength(json) <= maxBytes ? json : undefined;
  }

  #dropOldestWhile(isTooMuch: () => boolean): void {
    for (const [id, event] of this.#kept ?? []) {
      if (!isTooMuch()) return;
      this.#kept!.delete(id);
      this.#bytes -= event.bytes;
    }
  }

  #report(bytes: number): void {
    const { who = UNKNOWN_CLIENT, memory = PROCESS_EVENTS } = this.#options;
    memory.holds(who, this, bytes);
  }
}

const MAX_BYTES = 512 * 1024;

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
