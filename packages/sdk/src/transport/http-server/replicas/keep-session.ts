import { within } from '../../../async/clock.js';
import type { Cluster } from '../../../cluster/cluster.js';
import type { SessionLog } from '../../../cluster/event-log.js';
import type { OwnedSession } from '../../../cluster/owned-sessions.js';
import { SessionMemory } from '../../../era/legacy/session-memory.js';
import type { JsonObject } from '../../../wire/json-rpc.js';
import type { HttpEndpointSettings } from '../options.js';
import type { SessionConnection } from '../sessions/session-connection.js';
import type { SessionContinuity } from '../sessions/session-options.js';
import type { AdoptedSession } from '../sessions/sessions.js';

export interface KeptSession {
  readonly id: string;
  readonly cluster: Cluster;
  readonly settings: HttpEndpointSettings;
  session(): SessionConnection;
  /** Set if another member has had the session before. */
  readonly adopted: AdoptedSession | undefined;
}

/** Writes what another member needs to take a session over to the store, and says when that changes. */
export function keepSession(kept: KeptSession): SessionContinuity {
  return new KeptRecord(kept);
}

/** A class, since there may be many thousands of them. */
class KeptRecord implements SessionContinuity, OwnedSession {
  readonly id: string;
  readonly epoch: number;
  readonly memory: SessionMemory;
  readonly log: SessionLog | undefined;
  readonly #cluster: Cluster;
  readonly #settings: HttpEndpointSettings;
  readonly #session: () => SessionConnection;

  constructor({ id, cluster, settings, session, adopted }: KeptSession) {
    this.id = id;
    this.#cluster = cluster;
    this.#settings = settings;
    this.#session = session;
    this.epoch = adopted?.epoch ?? 1;
    this.memory = new SessionMemory('isthmus-replay-', () => cluster.sessions.changed(id));
    this.log = cluster.events?.open(id);
    if (!adopted) return;
    this.memory.restore(adopted.memory);
    cluster.sessions.resume(this, this.epoch);
  }

  get ttlMs(): number {
    return recordTtl(this.#settings);
  }

  get lastUsedAt(): number {
    return this.#session().lastUsedAt;
  }

  get isInUse(): boolean {
    return !this.#session().isIdle;
  }

  record(): JsonObject {
    return { revision: this.#session().revision ?? '', memory: this.memory.record() };
  }

  lost(): void {
    this.#session().lose();
  }

  async opened(): Promise<void> {
    await within(this.#settings.clock, RECORD_MS, this.#cluster.sessions.open(this));
  }

  ended(): void {
    this.#cluster.sessions.drop(this.id);
  }

  released(): void {
    this.#cluster.sessions.release(this.id);
  }
}

/** A record outlives its session, so that a session that is taken over late still exists. */
export function recordTtl({ sessionIdleMs }: HttpEndpointSettings): number {
  return sessionIdleMs + RECORD_MARGIN_MS;
}

/**
 * How long the answer to `initialize` waits until the session could be taken over. On a quiet machine that takes a
 * millisecond. With 50 ms, sessions were lost when a busy machine's process was killed. A store that is known to be away
 * is not waited for.
 */
const RECORD_MS = 1000;
const RECORD_MARGIN_MS = 5 * 60_000;
