import type { Clock } from '../async/clock.js';
import type { ClusterKeys, Sealer } from './cluster-keys.js';
import { sessionKey } from './session-id.js';
import type { ClusterStore } from './store.js';

/** One entry of the log of a session. */
export type LoggedEvent =
  /** A stream was begun for these requests (JSON of their ids). */
  | { readonly kind: 'open'; readonly stream: string; readonly requests: readonly (string | number)[] }
  | { readonly kind: 'event'; readonly stream: string; readonly id: string; readonly json: string }
  /** The stream has ended: nothing will follow. */
  | { readonly kind: 'end'; readonly stream: string };

/** The events of one session, for a member that takes it over. */
export interface SessionLog {
  /** Written later, with all entries of this turn. Nothing waits for it. */
  append(entry: LoggedEvent): void;
  /** Asks again for a while when the store does not answer. Then the events count as lost. */
  read(): Promise<readonly LoggedEvent[]>;
}

export interface EventLogsOptions {
  readonly store: ClusterStore;
  readonly keys: ClusterKeys;
  readonly clock: Clock;
}

/** The logs of all sessions of a member. What waits to be written is bounded; more is dropped and counted. */
export class EventLogs {
  readonly #options: EventLogsOptions;
  #due: Map<string, DueEntries> | undefined;
  #waitingBytes = 0;
  #pausedUntil = 0;
  /** Entries that could not be written. */
  dropped = 0;

  constructor(options: EventLogsOptions) {
    this.#options = options;
  }

  open(sessionId: string): SessionLog {
    return new LogOfSession(this, this.#options.keys, sessionId);
  }

  async read(key: string): Promise<readonly Uint8Array[]> {
    const { clock, store } = this.#options;
    for (const until = clock.now() + READ_MS; clock.now() < until; ) {
      try {
        return await store.read(key);
      } catch {
        await new Promise<void>((resolve) => void clock.after(READ_PAUSE_MS, resolve));
      }
    }
    return [];
  }

  append(key: string, entry: LoggedEvent, sealer: Sealer): void {
    const { clock } = this.#options;
    const size = entry.kind === 'event' ? entry.json.length : 0;
    if (clock.now() < this.#pausedUntil || this.#waitingBytes + size > MAX_WAITING_BYTES) {
      this.dropped += 1;
      return;
    }
    if (!this.#due) {
      this.#due = new Map();
      setImmediate(() => this.#flush());
    }
    const due = this.#due.get(key) ?? { sealer, entries: [] };
    this.#due.set(key, due);
    due.entries.push(entry);
    this.#waitingBytes += size;
  }

  #flush(): void {
    const due = this.#due ?? new Map<string, DueEntries>();
    this.#due = undefined;
    for (const [key, { sealer, entries }] of due) {
      const sealed = entries.map((entry) => sealer.seal(Buffer.from(JSON.stringify(entry))));
      const bytes = entries.reduce((sum, entry) => sum + (entry.kind === 'event' ? entry.json.length : 0), 0);
      this.#options.store
        .append(key, sealed, KEPT_MS)
        .catch(() => {
          // Redis is away or full. Events are what can be missed best.
          this.dropped += entries.length;
          this.#pausedUntil = this.#options.clock.now() + PAUSE_MS;
        })
        .finally(() => {
          this.#waitingBytes -= bytes;
        });
    }
  }
}

/** Most sessions never have a stream: what that needs is made for the first one. */
class LogOfSession implements SessionLog {
  readonly #logs: EventLogs;
  readonly #keys: ClusterKeys;
  readonly #id: string;
  #place: { readonly key: string; readonly sealer: Sealer } | undefined;

  constructor(logs: EventLogs, keys: ClusterKeys, id: string) {
    this.#logs = logs;
    this.#keys = keys;
    this.#id = id;
  }

  append(entry: LoggedEvent): void {
    const { key, sealer } = this.#found();
    this.#logs.append(key, entry, sealer);
  }

  async read(): Promise<readonly LoggedEvent[]> {
    const { key, sealer } = this.#found();
    const sealed = await this.#logs.read(key);
    return sealed.flatMap((each) => {
      const plain = sealer.open(each);
      return plain ? [JSON.parse(plain.toString()) as LoggedEvent] : [];
    });
  }

  #found() {
    const key = this.#place?.key ?? sessionKey(this.#id);
    this.#place ??= { key, sealer: this.#keys.sealer('events', key) };
    return this.#place;
  }
}

interface DueEntries {
  readonly sealer: Sealer;
  readonly entries: LoggedEvent[];
}

/** How long a log is kept after its last entry. Clients that lose a stream come back within seconds. */
const KEPT_MS = 60_000;
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
const PAUSE_MS = 5000;
/** A client waits for the rest of an answer. */
const READ_MS = 3000;
const READ_PAUSE_MS = 200;
