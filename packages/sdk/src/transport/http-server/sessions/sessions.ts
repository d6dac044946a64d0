import { randomBytes } from 'node:crypto';
import type { LoggedEvent } from '../../../cluster/event-log.js';
import { noRevision } from '../../../era/classify/classify-http.js';
import { isLegacyRevision, isModernRevision } from '../../../era/revisions.js';
import { clientKey } from '../../../exchange/client-key.js';
import type { Connection } from '../../../exchange/connection.js';
import { FairShare } from '../../../exchange/fair-share.js';
import { ErrorCode } from '../../../wire/error-codes.js';
import type {
  Decoded,
  DecodedRequest,
  JsonObject,
  JsonRpcErrorBody,
  RequestId,
} from '../../../wire/json-rpc.js';
import { accepts } from '../admission/guard.js';
import type { RequestLimiter } from '../admission/request-limits.js';
import { type AdmittedRequest, busy, refuse, respondError } from '../exchange/admitted-request.js';
import type { HttpEndpointSettings } from '../options.js';
import { SessionConnection } from './session-connection.js';
import type { SessionConnectionOptions } from './session-options.js';

/** Routes requests to legacy sessions. */
export class SessionRouter {
  readonly #settings: HttpEndpointSettings;
  readonly #sessions: Sessions;

  constructor(settings: HttpEndpointSettings, limiter: RequestLimiter) {
    this.#settings = settings;
    this.#sessions = new Sessions(settings, limiter);
  }

  get all(): Iterable<SessionConnection> {
    return this.#sessions.all;
  }

  /** From now on other processes can take sessions over, and their ids say which process has them. */
  join(cluster: SessionCluster): void {
    this.#sessions.cluster = cluster;
  }

  find(id: string, principal: string | undefined): SessionConnection | undefined {
    return this.#sessions.find(id, principal);
  }

  /** Takes a session over from another process. Undefined: all sessions are taken, or the service refuses it. */
  async adopt(
    adopted: AdoptedSession,
    admitted: AdmittedRequest,
    accept: (connection: Connection) => void,
  ): Promise<SessionConnection | undefined> {
    const session = this.#sessions.create(admitted, adopted);
    if (!session) return undefined;
    accept(session);
    const isAccepted = await session.replay(adopted.revision);
    if (isAccepted && this.#sessions.makeRoom(session)) return session;
    void session.finish();
    return undefined;
  }

  initialize(
    request: DecodedRequest,
    admitted: AdmittedRequest,
    accept: (connection: Connection) => void,
  ): void {
    const session = this.#sessions.create(admitted);
    if (!session) return busy(admitted, `All ${this.#settings.maxSessions} sessions are taken`, request.id);
    session.grant = admitted.grant;
    accept(session);
    if (!session.post(admitted, request)) session.close();
  }

  post(message: Decoded, admitted: AdmittedRequest): void {
    const id = message.kind === 'request' ? message.id : undefined;
    const sessionId = admitted.exchange.header('mcp-session-id');
    if (sessionId === undefined) return respondError(admitted, 400, id, NO_SESSION);
    const session = this.#sessions.find(sessionId, admitted.principal);
    if (!session) return this.#unknown(admitted, id);
    session.grant = admitted.grant;
    session.post(admitted, message);
  }

  /** GET and DELETE. */
  other(admitted: AdmittedRequest, allow: string): void {
    const { exchange, principal, headers } = admitted;
    const version = exchange.header('mcp-protocol-version')?.trim();
    if (isModernRevision(version)) {
      // HTTP-069: the modern era has no sessions, so it has neither GET nor DELETE.
      return refuse(admitted, 405, `${exchange.method} does not exist in revision ${version}; use POST`, {
        allow: 'POST',
      });
    }
    if (version !== undefined && !isLegacyRevision(version)) {
      return respondError(admitted, 400, undefined, noRevision(version));
    }
    const sessionId = exchange.header('mcp-session-id');
    if (sessionId === undefined) {
      return exchange.method === 'GET'
        ? refuse(admitted, 405, 'GET needs an Mcp-Session-Id; open a session with initialize', { allow })
        : respondError(admitted, 400, undefined, NO_SESSION);
    }
    const session = this.#sessions.find(sessionId, principal);
    if (!session) return this.#unknown(admitted, undefined);
    session.grant = admitted.grant;
    if (exchange.method === 'DELETE') {
      session.close();
      return exchange.respond(204, headers);
    }
    if (!accepts(exchange, 'text/event-stream')) {
      return refuse(admitted, 406, 'Accept must list text/event-stream');
    }
    const lastEventId = exchange.header('last-event-id');
    const past = lastEventId === undefined ? undefined : session.pastOf(lastEventId);
    if (!past) return this.#attach(session, admitted, allow, lastEventId);
    void past.then((events) => this.#attach(session, admitted, allow, lastEventId, events));
  }

  #unknown(admitted: AdmittedRequest, id: RequestId | undefined): void {
    // It may have gone while it was decided what the caller may do.
    if (this.#sessions.cluster?.passUnknown(admitted)) return;
    respondError(admitted, 404, id, UNKNOWN_SESSION);
  }

  /** Attaches a GET to a stream of the session. */
  #attach(
    session: SessionConnection,
    admitted: AdmittedRequest,
    allow: string,
    lastEventId: string | undefined,
    past?: readonly LoggedEvent[],
  ): void {
    switch (session.get(admitted.exchange, lastEventId, past)) {
      case 'attached':
        return;
      case 'unknown':
        return refuse(admitted, 400, 'The event that Last-Event-ID names is not known (any more)');
      case 'over':
        // An empty stream would be resumed again and again. Official clients stop at 405.
        return refuse(
          admitted,
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
  message: 'This session does not exist (any more): open one with initialize',
};

/** What the sessions of an endpoint need of the cluster. */
export interface SessionCluster {
  /** An id that names this process. */
  mint(principal: string | undefined): string;
  /** A session is not here (any more). True: another process has handed the request on, and looks elsewhere. */
  passUnknown(admitted: AdmittedRequest): boolean;
  keep(
    id: string,
    session: () => SessionConnection,
    adopted: AdoptedSession | undefined,
  ): SessionConnectionOptions['continuity'];
}

/** A session that another process has had. */
export interface AdoptedSession {
  readonly id: string;
  readonly epoch: number;
  readonly revision: string;
  readonly memory: JsonObject;
}

/** The legacy sessions of an endpoint. Their ids cannot be guessed, and are valid only for the principal that opened them. */
export class Sessions {
  readonly #settings: HttpEndpointSettings;
  readonly #limiter: RequestLimiter;
  readonly #open = new Map<string, SessionConnection>();
  readonly #shares = new FairShare<SessionConnection>();
  /** Set if other processes can take sessions over. */
  cluster: SessionCluster | undefined;

  constructor(settings: HttpEndpointSettings, limiter: RequestLimiter) {
    this.#settings = settings;
    this.#limiter = limiter;
  }

  get all(): Iterable<SessionConnection> {
    return this.#open.values();
  }

  get size(): number {
    return this.#open.size;
  }

  /** Undefined when all sessions are taken and none has to give way. */
  create(
    { principal, exchange, headers }: AdmittedRequest,
    adopted?: AdoptedSession,
  ): SessionConnection | undefined {
    const { eventStore, retryMs, pollAfterMs, clock } = this.#settings;
    const { remote } = exchange;
    const who = clientKey({ principal, remote });
    if (this.#isFull && !this.#displaced(who)) return undefined;
    const { cluster } = this;
    const id = adopted?.id ?? cluster?.mint(principal) ?? randomBytes(24).toString('base64url');
    const session: SessionConnection = new SessionConnection({
      id,
      principal,
      remote,
      who,
      store: eventStore?.({ who }),
      retryMs,
      pollAfterMs,
      headers: { ...headers, 'mcp-session-id': id },
      plainHeaders: headers,
      limiter: this.#limiter,
      onOpened: () => this.makeRoom(session),
      now: () => clock.now(),
      continuity: cluster?.keep(id, () => session, adopted),
    });
    this.#open.set(id, session);
    void session.closed.then(() => {
      // Another process may have had it in the meantime, and this one again.
      if (this.#open.get(id) === session) this.#open.delete(id);
      this.#shares.delete(who, session);
    });
    return session;
  }

  /** The session with this id, if it belongs to the caller. */
  find(id: string, principal: string | undefined): SessionConnection | undefined {
    const session = this.#open.get(id);
    const isHere = session && !session.isOver && !session.isLost;
    return isHere && session.principal === principal ? session : undefined;
  }

  expire(now: number): void {
    for (const session of this.#open.values()) {
      if (session.isIdle && now - session.lastUsedAt >= this.#settings.sessionIdleMs) session.close();
    }
  }

  get #isFull(): boolean {
    return this.#shares.size >= this.#settings.maxSessions;
  }

  /** Called after the handshake: a refused handshake must not end another session. False: all sessions are taken. */
  makeRoom(session: SessionConnection): boolean {
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

  /** The session that ends when this client gets one more. */
  #displaced(who: string): SessionConnection | undefined {
    const displacement = this.#shares.displacedBy(who);
    if (displacement.kind === 'from') return leastUseful(this.#shares.itemsOf(displacement.who));
    let found: SessionConnection | undefined;
    for (const each of displacement.of) {
      const own = leastUseful(this.#shares.itemsOf(each));
      if (own?.isIdle && (!found || isLessUseful(own, found))) found = own;
    }
    // A session that was used just now does not give way to a client with the same rights.
    if (!found || this.#settings.clock.now() - found.usefulAt < MIN_IDLE_MS) return undefined;
    return found;
  }
}

/**
 * The least useful session of one client; `sessions` is in the order of their opening. The search ends at the first that
 * was never used: a flood of handshakes must not search a thousand sessions for each (S7).
 */
function leastUseful(sessions: Iterable<SessionConnection>): SessionConnection | undefined {
  let found: SessionConnection | undefined;
  for (const session of sessions) {
    if (session.usefulness === 0) return session;
    if (!found || isLessUseful(session, found)) found = session;
  }
  return found;
}

/** In this order: never used, idle, with a standing stream, with running calls. */
function isLessUseful(a: SessionConnection, b: SessionConnection): boolean {
  return a.usefulness === b.usefulness ? a.usefulAt < b.usefulAt : a.usefulness < b.usefulness;
}

const MIN_IDLE_MS = 500;
