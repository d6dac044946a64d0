import { randomBytes } from 'node:crypto';
import { clientKey } from '../../exchange/client-key.js';
import type { HttpEndpointSettings } from './options.js';
import { SessionConnection } from './session-connection.js';
import type { Visit } from './visit.js';

/** The legacy sessions of an endpoint. Their ids cannot be guessed, and are good only for whoever opened them. */
export class Sessions {
  readonly #settings: HttpEndpointSettings;
  readonly #open = new Map<string, SessionConnection>();
  readonly #tally = { inFlight: 0 };

  constructor(settings: HttpEndpointSettings) {
    this.#settings = settings;
  }

  get all(): Iterable<SessionConnection> {
    return this.#open.values();
  }

  get size(): number {
    return this.#open.size;
  }

  /** Requests of all sessions that wait for their answers. */
  get inFlight(): number {
    return this.#tally.inFlight;
  }

  /** Undefined when there is no room; sessions that nobody uses make room, the oldest first. */
  create({ principal, exchange, headers }: Visit): SessionConnection | undefined {
    const { maxSessions, eventStore, retryMs, pollAfterMs, clock } = this.#settings;
    if (this.#open.size >= maxSessions && !this.#makeRoom()) return undefined;
    const who = clientKey({ principal, remote: exchange.remote });
    const id = randomBytes(24).toString('base64url');
    const session = new SessionConnection({
      id,
      principal,
      remote: exchange.remote,
      who,
      store: eventStore?.({ who }),
      retryMs,
      pollAfterMs,
      headers: { ...headers, 'mcp-session-id': id },
      plainHeaders: headers,
      tally: this.#tally,
      now: () => clock.now(),
    });
    this.#open.set(id, session);
    void session.closed.then(() => this.#open.delete(id));
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

  #makeRoom(): boolean {
    let oldest: SessionConnection | undefined;
    for (const session of this.#open.values()) {
      if (session.isIdle && (!oldest || session.lastUsedAt < oldest.lastUsedAt)) oldest = session;
    }
    // Somebody who has just come is not sent away for somebody who comes now.
    if (!oldest || this.#settings.clock.now() - oldest.lastUsedAt < MIN_IDLE_MS) return false;
    this.#open.delete(oldest.id);
    oldest.close();
    return true;
  }
}

const MIN_IDLE_MS = 10_000;
