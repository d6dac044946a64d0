import { noRevision } from '../../era/classify-http.js';
import { isLegacyRevision, isModernRevision } from '../../era/revisions.js';
import type { Connection } from '../../exchange/connection.js';
import { ErrorCode } from '../../wire/error-codes.js';
import type { Decoded, DecodedRequest, JsonRpcErrorBody } from '../../wire/json-rpc.js';
import { type AdmittedRequest, busy, refuse, respondError } from './admitted-request.js';
import { accepts } from './guard.js';
import type { HttpEndpointSettings } from './options.js';
import type { RequestsAtWork } from './requests-at-work.js';
import type { SessionConnection } from './session-connection.js';
import { Sessions } from './sessions.js';

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
