import { type Clock, within } from '../../../async/clock.js';
import type { Cluster } from '../../../cluster/cluster.js';
import { SessionMemory } from '../../../era/legacy/session-memory.js';
import type { HttpEndpointSettings } from '../options.js';
import type { SessionConnection, SessionContinuity } from '../sessions/session-connection.js';
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
export function keepSession({ id, cluster, settings, session, adopted }: KeptSession): SessionContinuity {
  const { sessions, events } = cluster;
  const { clock }: { readonly clock: Clock } = settings;
  const epoch = adopted?.epoch ?? 1;
  const memory = new SessionMemory('isthmus-replay-', () => sessions.changed(id));
  if (adopted) memory.restore(adopted.memory);
  const owned = {
    id,
    ttlMs: recordTtl(settings),
    record: () => ({ revision: session().revision ?? '', memory: memory.record() }),
    get lastUsedAt() {
      return session().lastUsedAt;
    },
    lost: () => session().lose(),
  };
  if (adopted) sessions.resume(owned, epoch);
  return {
    epoch,
    memory,
    log: events?.open(id),
    opened: async () => {
      await within(clock, RECORD_MS, sessions.open(owned));
    },
    ended: () => sessions.drop(id),
    released: () => sessions.release(id),
  };
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
