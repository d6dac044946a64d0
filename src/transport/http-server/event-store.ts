/** Events that a client may have missed, kept for a while. One per legacy session. */
export interface EventStore {
  /** Keeps an event and names it. Ids are unique within the session and say which stream they belong to. */
  add(stream: string, json: string): string;
  /**
   * What came after this event on its stream, in order; undefined when the event is not known (any more), since
   * then nobody can say what was missed.
   */
  after(id: string): { readonly stream: string; readonly events: readonly StoredEvent[] } | undefined;
}

export interface StoredEvent {
  readonly id: string;
  /** Empty for an event that only gave its id. */
  readonly json: string;
}

export interface EventStoreOptions {
  readonly maxEvents?: number;
  readonly maxBytes?: number;
}

/** The newest events, up to a number and a size; the oldest go first, the newest stays however large it is. */
export function memoryEventStore({
  maxEvents = 1000,
  maxBytes = 512 * 1024,
}: EventStoreOptions = {}): EventStore {
  const kept = new Map<string, { readonly stream: string; readonly json: string }>();
  let bytes = 0;
  let count = 0;
  const trim = () => {
    for (const [id, { json }] of kept) {
      if (kept.size <= 1 || (kept.size <= maxEvents && bytes <= maxBytes)) return;
      kept.delete(id);
      bytes -= json.length;
    }
  };
  return {
    add(stream, json) {
      count += 1;
      const id = `${stream}-${count}`;
      kept.set(id, { stream, json });
      bytes += json.length;
      trim();
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
  };
}
