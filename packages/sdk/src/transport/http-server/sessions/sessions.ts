import { randomBytes } from 'node:crypto';
import { noRevision } from '../../../era/classify-http.js';
import { isLegacyRevision, isModernRevision } from '../../../era/revisions.js';
import { clientKey } from '../../../exchange/client-key.js';
import type { Connection } from '../../../exchange/connection.js';
import { FairShare } from '../../../exchange/fair-share.js';
import { ErrorCode } from '../../../wire/error-codes.js';
import type { Decoded, DecodedRequest, JsonRpcErrorBody } from '../../../wire/json-rpc.js';
import { accepts } from '../admission/guard.js';
import type { RequestsAtWork } from '../admission/request-limits.js';
import { type AdmittedRequest, busy, refuse, respondError } from '../exchange/admitted-request.js';
import type { HttpEndpointSettings } from '../options.js';
import { SessionConnection } from './session-connection.js';

/** Where requests of legacy sessions arrive. */
export class SessionRouter {
  readonly #settings: HttpEndpointSettings;
  readonly #sessions: Sessions;

  constructor(settings: HttpEndpointSettings, atWork: RequestsAtWork) {
    this.#settings = settings;
    this.#sessions = new Sessions(settings, atWork);
  }

  get all(): Iterable<SessionConnection> {
    return this.#sessions.all;
  }

  initialize(
    request: DecodedRequest,
    visit: AdmittedRequest,
    accept: (connection: Connection) => void,
  ): void {
    const session = this.#sessions.create(visit);
    if (!session) return busy(visit, `All ${this.#settings.maxSessions} sessions are taken`, request.id);
    session.grant = visit.grant;
    accept(session);
    if (!session.post(visit, request)) session.close();
  }

  post(message: Decoded, visit: AdmittedRequest): void {
    const id = message.kind === 'request' ? message.id : undefined;
    const sessionId = visit.exchange.header('mcp-session-id');
    if (sessionId === undefined) return respondError(visit, 400, id, NO_SESSION);
    const session = this.#sessions.find(sessionId, visit.principal);
    if (!session) return respondError(visit, 404, id, UNKNOWN_SESSION);
    session.grant = visit.grant;
    session.post(visit, message);
  }

  /** GET and DELETE. */
  other(visit: AdmittedRequest, allow: string): void {
    const { exchange, principal, headers } = visit;
    const version = exchange.header('mcp-protocol-version')?.trim();
    if (isModernRevision(version)) {
      // HTTP-069: the modern era has no sessions, so it has neither of the two.
      return refuse(visit, 405, `${exchange.method} does not exist in revision ${version}; use POST`, {
        allow: 'POST',
      });
    }
    if (version !== undefined && !isLegacyRevision(version)) {
      return respondError(visit, 400, undefined, noRevision(version));
    }
    const sessionId = exchange.header('mcp-session-id');
    if (sessionId === undefined) {
      return exchange.method === 'GET'
        ? refuse(visit, 405, 'A stream belongs to a session; there is none', { allow })
        : respondError(visit, 400, undefined, NO_SESSION);
    }
    const session = this.#sessions.find(sessionId, principal);
    if (!session) return respondError(visit, 404, undefined, UNKNOWN_SESSION);
    session.grant = visit.grant;
    if (exchange.method === 'DELETE') {
      session.close();
      return exchange.respond(204, headers);
    }
    if (!accepts(exchange, 'text/event-stream')) {
      return refuse(visit, 406, 'Accept must list text/event-stream');
    }
    switch (session.get(exchange, exchange.header('last-event-id'))) {
      case 'attached':
        return;
      case 'unknown':
        return refuse(visit, 400, 'Last-Event-ID names no event that is still known');
      case 'over':
        // A stream without a word would be taken up again and again: there is none, and official clients heed that.
        return refuse(
          visit,
          405,
          'The stream that Last-Event-ID names is over, and nothing of it was missed',
          {
            allow,
          },
        );
    }
  }

  tick(now: number, keepAliveMs: number): void {
    for (const session of this.#sessions.all) session.keepAlive(now, keepAliveMs);
    this.#sessions.expire(now);
  }
}

const NO_SESSION: JsonRpcErrorBody = {
  code: ErrorCode.InvalidRequest,
  message: 'The header Mcp-Session-Id is missing: open a session with initialize',
};
const UNKNOWN_SESSION: JsonRpcErrorBody = {
  code: ErrorCode.InvalidRequest,
  message: 'There is no such session (any more): open one with initialize',
};

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
