import { randomBytes } from 'node:crypto';
import { clientKey } from '../../exchange/client-key.js';
import { FairShare } from '../../exchange/fair-share.js';
import type { AdmittedRequest } from './admitted-request.js';
import type { HttpEndpointSettings } from './options.js';
import type { RequestsAtWork } from './requests-at-work.js';
import { SessionConnection } from './session-connection.js';

/** The legacy sessions of an endpoint. Their ids cannot be guessed, and are good only for whoever opened them. */
export class Sessions {
  readonly #settings: HttpEndpointSettings;
  readonly #atWork: RequestsAtWork;
  readonly #open = new Map<string, SessionConnection>();
  readonly #shares = new FairShare<SessionConnection>();

  constructor(settings: HttpEndpointSettings, atWork: RequestsAtWork) {
    this.#settings = settings;
    this.#atWork = atWork;
  }

  get all(): Iterable<SessionConnection> {
    return this.#open.values();
  }

  get size(): number {
    return this.#open.size;
  }

  /** Undefined when there is no room, and no session that has to make room for it. */
  create({ principal, exchange, headers }: AdmittedRequest): SessionConnection | undefined {
    const { eventStore, retryMs, pollAfterMs, clock } = this.#settings;
    const { remote } = exchange;
    const who = clientKey({ principal, remote });
    if (this.#isFull && !this.#displaced(who)) return undefined;
    const id = randomBytes(24).toString('base64url');
    const session = new SessionConnection({
      id,
      principal,
      remote,
      who,
      store: eventStore?.({ who }),
      retryMs,
      pollAfterMs,
      headers: { ...headers, 'mcp-session-id': id },
      plainHeaders: headers,
      atWork: this.#atWork,
      onOpened: () => this.#makeRoom(session),
      now: () => clock.now(),
    });
    this.#open.set(id, session);
    void session.closed.then(() => {
      this.#open.delete(id);
      this.#shares.delete(who, session);
    });
    return session;
  }

  /** The session, if it is the caller's own. Somebody else's does not exist. */
  find(id: string, principal: string | undefined): SessionConnection | undefined {
    const session = this.#open.get(id);
    return session && session.principal === principal && !session.isOver ? session : undefined;
  }

  expire(now: number): void {
    for (const session of this.#open.values()) {
      if (session.isIdle && now - session.lastUsedAt >= this.#settings.sessionIdleMs) session.close();
    }
  }

  get #isFull(): boolean {
    return this.#shares.size >= this.#settings.maxSessions;
  }

  /** Only now: a handshake that is refused must not cost anybody a session. False when there is no room after all. */
  #makeRoom(session: SessionConnection): boolean {
    const { who } = session;
    if (this.#isFull) {
      const displaced = this.#displaced(who);
      if (!displaced) return false;
      this.#shares.delete(displaced.who, displaced);
      this.#open.delete(displaced.id);
      displaced.close();
    }
    this.#shares.set(who, session);
    return true;
  }

  /** The session that goes when this client gets one more. */
  #displaced(who: string): SessionConnection | undefined {
    const displacement = this.#shares.displacedBy(who);
    if (displacement.kind === 'from') return leastUseful(this.#shares.itemsOf(displacement.who));
    let found: SessionConnection | undefined;
    for (const each of displacement.of) {
      const own = leastUseful(this.#shares.itemsOf(each));
      if (own?.isIdle && (!found || isLessUseful(own, found))) found = own;
    }
    // A client that has just come is not sent away for an equal that comes now.
    if (!found || this.#settings.clock.now() - found.usefulAt < MIN_IDLE_MS) return undefined;
    return found;
  }
}

/**
 * Of the sessions of one client, in the order in which they were opened. Nothing is less useful than the first that was
 * never used, so the search ends there: a flood of handshakes must not look at a thousand sessions for each (S7).
 */
function leastUseful(sessions: Iterable<SessionConnection>): SessionConnection | undefined {
  let found: SessionConnection | undefined;
  for (const session of sessions) {
    if (session.usefulness === 0) return session;
    if (!found || isLessUseful(session, found)) found = session;
  }
  return found;
}

/** First those that were opened and never used, then idle ones, those that only listen, and those with calls at work. */
function isLessUseful(a: SessionConnection, b: SessionConnection): boolean {
  return a.usefulness === b.usefulness ? a.usefulAt < b.usefulAt : a.usefulness < b.usefulness;
}

const MIN_IDLE_MS = 500;
