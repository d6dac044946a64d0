import type { Clock } from '../async/clock.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';
import type { ClusterKeys } from './cluster-keys.js';
import type { Members } from './members.js';
import { sessionKey } from './session-id.js';
import type { ClusterStore } from './store.js';

/** A session that this member owns. */
export interface OwnedSession {
  readonly id: string;
  readonly ttlMs: number;
  /** What another member needs to take it over. */
  record(): JsonObject;
  /** When it was last used. */
  readonly lastUsedAt: number;
  /** It has an open standing stream or a running call, and does not end by time. */
  readonly isInUse: boolean;
  /** Another member has taken it over. */
  lost(): void;
}

export type ClaimedSession =
  | { readonly kind: 'mine'; readonly epoch: number; readonly record: JsonObject }
  | { readonly kind: 'held'; readonly by: string }
  | { readonly kind: 'unknown' }
  /** The store did not answer. */
  | { readonly kind: 'unsure' };

export interface OwnedSessionsOptions {
  readonly store: ClusterStore;
  readonly keys: ClusterKeys;
  readonly members: Members;
  readonly clock: Clock;
}

/**
 * The records of the sessions of this member in the store. A record is written when it changes, and read only when
 * another member takes the session over. As long as its owner lives, a record that the store has lost is written again.
 */
export class OwnedSessions {
  readonly #options: OwnedSessionsOptions;
  readonly #owned = new Map<string, Ownership>();
  readonly #releasing = new Set<Promise<void>>();
  /** Another member may have taken them over. */
  readonly #doubtful = new Set<Ownership>();
  /** Records that could not be written. */
  readonly #unwritten = new Set<Ownership>();
  #stopRetrying: (() => void) | undefined;
  #stopTouching: () => void;
  #reconciling = false;

  constructor(options: OwnedSessionsOptions) {
    const { members, clock } = options;
    this.#options = options;
    members.onDoubt(() => {
      for (const ownership of this.#owned.values()) this.#doubtful.add(ownership);
      void this.#reconcile();
    });
    const touch = () => {
      void this.#touch();
      this.#stopTouching = clock.after(TOUCH_EVERY_MS, touch, { background: true });
    };
    this.#stopTouching = clock.after(TOUCH_EVERY_MS, touch, { background: true });
  }

  get size(): number {
    return this.#owned.size;
  }

  /**
   * Begins to own a new session. Settles when its record is in the store, or could not be written. A store that was lost
   * a moment ago is asked again for a while: the others may take this member for dead, and do not know the session.
   */
  async open(session: OwnedSession): Promise<void> {
    const { members, clock } = this.#options;
    const ownership = this.#own(session, 1);
    const until = clock.now() + OPEN_MS;
    await this.#write(ownership);
    while (this.#isUnwritten(ownership) && members.mayReachStoreSoon && clock.now() < until) {
      await new Promise<void>((resolve) => void clock.after(OPEN_PAUSE_MS, resolve));
      if (this.#isUnwritten(ownership)) await this.#write(ownership);
    }
  }

  #isUnwritten(ownership: Ownership): boolean {
    return ownership.isStale && this.#owned.get(ownership.session.id) === ownership;
  }

  /** Owns a session that was claimed. Its record is in the store. */
  resume(session: OwnedSession, epoch: number): void {
    this.#own(session, epoch);
  }

  /** The record has changed. */
  changed(id: string): void {
    const ownership = this.#owned.get(id);
    if (ownership) void this.#write(ownership);
  }

  /**
   * Undefined if the session is owned here without a doubt, or not at all. Otherwise a promise that settles when the store
   * was asked, or did not answer.
   */
  confirm(id: string): Promise<void> | undefined {
    if (this.#doubtful.size === 0) return undefined;
    const ownership = this.#owned.get(id);
    return ownership && this.#doubtful.has(ownership) ? this.#confirm(ownership) : undefined;
  }

  /** There is a sign that another member has the session. `unsure`: the store did not answer. */
  async doubt(id: string): Promise<'ours' | 'lost' | 'unsure'> {
    const ownership = this.#owned.get(id);
    if (!ownership) return 'lost';
    this.#doubtful.add(ownership);
    await this.#confirm(ownership);
    if (this.#owned.get(id) !== ownership) return 'lost';
    return ownership.isStale ? 'unsure' : 'ours';
  }

  /** Takes over a session that has no owner, or whose owner is `from`. */
  async claim(id: string, from: string | undefined, ttlMs: number): Promise<ClaimedSession> {
    const { store, members } = this.#options;
    const key = sessionKey(id);
    try {
      const answer = await store.claim(key, { by: members.self, from, ttlMs });
      if (answer.kind !== 'mine') return answer;
      const record = this.#open(key, answer.value);
      return record ? { kind: 'mine', epoch: answer.epoch, record } : { kind: 'unknown' };
    } catch {
      return { kind: 'unsure' };
    }
  }

  /** The session has ended, for everybody. */
  drop(id: string): void {
    const ownership = this.#forget(id);
    if (ownership) void this.#options.store.drop(sessionKey(id), ownership).catch(() => {});
  }

  /** The session goes on with another member. */
  release(id: string): void {
    const ownership = this.#forget(id);
    if (!ownership) return;
    const releasing = this.#release(ownership).finally(() => this.#releasing.delete(releasing));
    this.#releasing.add(releasing);
  }

  /** A record that was not written yet, or that the store has lost, is written first: nobody else would write it later. */
  async #release(ownership: Ownership): Promise<void> {
    const { store, members, clock } = this.#options;
    const key = sessionKey(ownership.session.id);
    await ownership.writing;
    const until = clock.now() + RELEASE_MS;
    for (let isMissing = ownership.isStale; clock.now() < until; ) {
      try {
        if (isMissing && !(await this.#put(key, ownership))) return;
        if (await store.release(key, { by: members.self, epoch: ownership.epoch })) return;
        isMissing = true;
      } catch {
        if (!members.mayReachStoreSoon) return;
        await new Promise<void>((resolve) => void clock.after(RELEASE_PAUSE_MS, resolve));
      }
    }
  }

  /** Gives a session up that was claimed, and not taken over. */
  async giveBack(id: string, epoch: number): Promise<void> {
    const by = this.#options.members.self;
    await this.#options.store.release(sessionKey(id), { by, epoch }).catch(() => {});
  }

  /** Settles when the sessions that were released can be taken over. */
  async settled(): Promise<void> {
    await Promise.all(this.#releasing);
  }

  close(): void {
    this.#stopTouching();
    this.#stopRetrying?.();
  }

  #own(session: OwnedSession, epoch: number): Ownership {
    const touchedAt = this.#options.clock.now();
    const ownership: Ownership = { session, epoch, touchedAt, writing: undefined, isStale: false };
    this.#owned.set(session.id, ownership);
    return ownership;
  }

  #forget(id: string): Ownership | undefined {
    const ownership = this.#owned.get(id);
    this.#owned.delete(id);
    if (ownership) this.#doubtful.delete(ownership);
    return ownership;
  }

  /** Changes during a write are written once, after it. */
  #write(ownership: Ownership): Promise<void> {
    ownership.isStale = true;
    ownership.writing ??= this.#writeAll(ownership).finally(() => {
      ownership.writing = undefined;
    });
    return ownership.writing;
  }

  async #writeAll(ownership: Ownership): Promise<void> {
    const { session } = ownership;
    const key = sessionKey(session.id);
    while (ownership.isStale && this.#owned.get(session.id) === ownership) {
      ownership.isStale = false;
      try {
        if (!(await this.#put(key, ownership))) this.#lose(ownership);
      } catch {
        // The store is away or full. What it has lost is written again after a doubt, and this one after a while.
        ownership.isStale = true;
        this.#writeLater(ownership);
        return;
      }
    }
  }

  #put(key: string, { session, epoch }: Ownership): Promise<boolean> {
    const { store, members, keys } = this.#options;
    const value = keys.sealer('record', key).seal(Buffer.from(JSON.stringify(session.record())));
    return store.put(key, { by: members.self, epoch, value, ttlMs: session.ttlMs });
  }

  #writeLater(ownership: Ownership): void {
    this.#unwritten.add(ownership);
    this.#scheduleRetry();
  }

  #scheduleRetry(): void {
    this.#stopRetrying ??= this.#options.clock.after(RETRY_EVERY_MS, () => this.#retry(), {
      background: true,
    });
  }

  #retry(): void {
    this.#stopRetrying = undefined;
    const due = [...this.#unwritten].slice(0, AT_ONCE);
    for (const ownership of due) {
      this.#unwritten.delete(ownership);
      if (this.#owned.get(ownership.session.id) === ownership) void this.#write(ownership);
    }
    if (this.#unwritten.size > 0) this.#scheduleRetry();
  }

  #lose(ownership: Ownership): void {
    const { session } = ownership;
    if (this.#owned.get(session.id) === ownership) this.#owned.delete(session.id);
    this.#doubtful.delete(ownership);
    session.lost();
  }

  #open(key: string, sealed: Uint8Array): JsonObject | undefined {
    const plain = this.#options.keys.sealer('record', key).open(sealed);
    if (!plain) return undefined;
    const record: unknown = JSON.parse(plain.toString());
    return isJsonObject(record) ? record : undefined;
  }

  /** Keeps the records of sessions that were used, and of those whose clients only listen. */
  async #touch(): Promise<void> {
    const { store, clock } = this.#options;
    const used = [...this.#owned.values()].filter(
      ({ session, touchedAt }) => session.isInUse || session.lastUsedAt > touchedAt,
    );
    for (let at = 0; at < used.length; at += AT_ONCE) {
      const some = used.slice(at, at + AT_ONCE);
      const keys = some.map(({ session }) => sessionKey(session.id));
      const now = clock.now();
      try {
        const lost = new Set(await store.touch(keys, Math.max(...some.map(({ session }) => session.ttlMs))));
        for (const [index, each] of some.entries()) {
          each.touchedAt = now;
          if (lost.has(keys[index]!)) void this.#write(each);
        }
      } catch {
        return;
      }
    }
  }

  /**
   * Others may have taken sessions over while this member was silent, and the store may have lost records. Each record is
   * written again. The store refuses that if another member has had the session since: its epoch is later.
   */
  async #reconcile(): Promise<void> {
    if (this.#reconciling) return;
    this.#reconciling = true;
    while (this.#doubtful.size > 0) {
      await Promise.all([...this.#doubtful].slice(0, AT_ONCE).map((each) => this.#confirm(each)));
    }
    this.#reconciling = false;
  }

  async #confirm(ownership: Ownership): Promise<void> {
    await this.#write(ownership);
    this.#doubtful.delete(ownership);
  }
}

interface Ownership {
  readonly session: OwnedSession;
  epoch: number;
  touchedAt: number;
  writing: Promise<void> | undefined;
  /** The record has changed since it was written. */
  isStale: boolean;
}

const TOUCH_EVERY_MS = 4 * 60_000;
const RETRY_EVERY_MS = 1000;
const OPEN_MS = 1000;
const OPEN_PAUSE_MS = 50;
/** How long a process that ends waits for a store that was lost a moment ago. */
const RELEASE_MS = 2000;
const RELEASE_PAUSE_MS = 100;
/** How many records are written or asked for at once. */
const AT_ONCE = 100;
