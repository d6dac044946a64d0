import { createDeferred } from '../../async/deferred.js';
import { classifyHttp, type HttpRoute, noRevision } from '../../era/classify-http.js';
import { isLegacyRevision } from '../../era/revisions.js';
import { IsthmusError } from '../../errors.js';
import type { Connection, Listening, ServedFacts } from '../../exchange/connection.js';
import { decodeLine, encodeMessage } from '../../wire/codec.js';
import { ErrorCode } from '../../wire/error-codes.js';
import {
  type Decoded,
  type DecodedRequest,
  errorMessage,
  type JsonRpcErrorBody,
  type RequestId,
} from '../../wire/json-rpc.js';
import { identify } from './authentication.js';
import { JSON_HEADERS } from './event-text.js';
import type { HttpExchange, HttpHeaders } from './exchange.js';
import { accepts, admit, isJson, preflightHeaders } from './guard.js';
import { type HttpEndpointOptions, type HttpEndpointSettings, resolveEndpoint } from './options.js';
import { PostConnection, type PostOptions } from './post-connection.js';
import { isMetadataPath, resourceMetadata } from './protected-resource.js';
import { Sessions } from './sessions.js';
import { SseConnections } from './sse-2024.js';
import { asStateless } from './stateless-legacy.js';

/** One address for both eras: every request becomes a connection, or a part of one. */
export class Endpoint {
  readonly settings: HttpEndpointSettings;
  readonly #sessions: Sessions;
  readonly #sse: SseConnections;
  readonly #posts = new Set<PostConnection>();
  #streams = 0;
  #accept: ((connection: Connection) => void) | undefined;
  #served: ServedFacts | undefined;
  #callOffTick: (() => void) | undefined;
  #stopped = false;
  readonly #ended = createDeferred<void>();

  constructor(options: HttpEndpointOptions) {
    this.settings = resolveEndpoint(options);
    this.#sessions = new Sessions(this.settings);
    this.#sse = new SseConnections(this.settings);
  }

  /** How many sessions are open. */
  get sessions(): number {
    return this.#sessions.size;
  }

  begin(accept: (connection: Connection) => void, served: ServedFacts): Listening {
    if (this.#accept) throw new IsthmusError('ADDRESS_UNAVAILABLE', 'This HTTP endpoint is served already');
    this.#accept = accept;
    this.#served = served;
    this.#tick();
    return {
      address: `http handler${this.settings.path ?? ''}`,
      ended: this.#ended.promise,
      stop: async () => this.stop(),
    };
  }

  /** Nobody new comes in; those who are here may finish. */
  stop(): void {
    this.#stopped = true;
    this.#callOffTick?.();
    this.#ended.resolve();
  }

  /** Answers one request, whatever it is. Never throws. */
  async handle(exchange: HttpExchange): Promise<void> {
    try {
      await this.#handle(exchange);
    } catch {
      // Whatever it was, it is nobody's business out there.
      exchange.respond(
        500,
        JSON_HEADERS,
        errorBody(undefined, { code: ErrorCode.InternalError, message: 'Internal error' }),
      );
    }
  }

  async #handle(exchange: HttpExchange): Promise<void> {
    const path = exchange.target.split('?', 1)[0]!;
    const { settings } = this;
    const admission = admit(exchange, settings);
    if (admission.kind === 'refused') return refuse(exchange, admission.status, admission.why, {});
    const { headers } = admission;
    if (exchange.method === 'OPTIONS' && settings.cors) {
      const requested = exchange.header('access-control-request-headers');
      return exchange.respond(204, preflightHeaders(headers, settings.cors, requested));
    }
    if (settings.protectedResource && isMetadataPath(path, settings.path)) {
      if (exchange.method !== 'GET' && exchange.method !== 'HEAD') {
        return refuse(exchange, 405, 'This is only to be read', { ...headers, allow: 'GET' });
      }
      const body = JSON.stringify(resourceMetadata(exchange, settings.protectedResource, settings.path));
      return exchange.respond(200, { ...JSON_HEADERS, ...headers }, body);
    }
    const place = this.#placeOf(path);
    if (place === undefined) return refuse(exchange, 404, `There is nothing at ${path}`, headers);
    if (this.#stopped || !this.#accept) return busy(exchange, 'The server is stopping', headers);
    const caller = settings.authenticate ? await identify(exchange, settings) : NOBODY;
    if (caller.kind === 'refused') {
      return refuse(exchange, caller.status, caller.why, { ...headers, ...caller.headers });
    }
    const { principal } = caller;
    if (place === 'sse' || place === 'message') {
      return this.#sse.handle(place, exchange, principal, headers, this.#accept);
    }
    switch (exchange.method) {
      case 'POST':
        return this.#post(exchange, principal, headers);
      case 'GET':
      case 'DELETE':
        return this.#session(exchange, principal, headers);
      default:
        return refuse(exchange, 405, `${exchange.method} is not for MCP`, {
          ...headers,
          allow: this.#allowed,
        });
    }
  }

  get #hasSessions(): boolean {
    return this.settings.legacy === 'sessions' && (this.#served?.eras.includes('legacy') ?? false);
  }

  get #allowed(): string {
    return this.#hasSessions ? 'POST, GET, DELETE' : 'POST';
  }

  #placeOf(path: string): 'mcp' | 'sse' | 'message' | undefined {
    const { path: own } = this.settings;
    const sse = this.#served?.eras.includes('legacy') ? this.settings.sse : undefined;
    if (sse && path === sse.path) return 'sse';
    if (sse && path === sse.messagePath) return 'message';
    return own === undefined || path === own ? 'mcp' : undefined;
  }

  async #post(exchange: HttpExchange, principal: string | undefined, headers: HttpHeaders): Promise<void> {
    if (!isJson(exchange.header('content-type'))) {
      return refuse(exchange, 415, 'The body of a POST is application/json', headers);
    }
    if (!accepts(exchange, 'application/json', 'text/event-stream')) {
      return refuse(exchange, 406, 'Accept must list application/json and text/event-stream', headers);
    }
    const body = await exchange.body(this.settings.maxBodyBytes);
    if (body.kind === 'gone') return;
    if (body.kind === 'too-large') {
      return refuse(exchange, 413, `The body is longer than ${this.settings.maxBodyBytes} bytes`, headers);
    }
    const { eras, headerParams } = this.#served!;
    const message = decodeLine(body.bytes);
    const header = (name: string) => exchange.header(name);
    const route = classifyHttp({ header, message, eras, principal, headerParams });
    this.#follow(route, exchange, principal, headers);
  }

  #follow(
    route: HttpRoute,
    exchange: HttpExchange,
    principal: string | undefined,
    headers: HttpHeaders,
  ): void {
    switch (route.kind) {
      case 'refused':
        return exchange.respond(
          route.status,
          { ...JSON_HEADERS, ...headers },
          errorBody(route.id, route.error),
        );
      case 'modern-notification':
        return exchange.respond(202, headers);
      case 'modern':
        return this.#modern(route.request, exchange, principal, headers);
      case 'initialize':
        if (this.settings.legacy === 'stateless') {
          return this.#stateless(route.request, undefined, exchange, principal, headers);
        }
        return this.#initialize(route.request, exchange, principal, headers);
      case 'legacy':
        if (this.settings.legacy === 'stateless') {
          return this.#stateless(route.message, route.revision, exchange, principal, headers);
        }
        return this.#legacy(route.message, exchange, principal, headers);
    }
  }

  #modern(
    request: DecodedRequest,
    exchange: HttpExchange,
    principal: string | undefined,
    headers: HttpHeaders,
  ): void {
    const listens = request.method === 'subscriptions/listen';
    if (listens && this.#streams >= this.settings.maxStreams) {
      return busy(exchange, `All ${this.settings.maxStreams} subscriptions are taken`, headers, request.id);
    }
    const post = { messages: [request], exchange, principal, headers, statuses: true };
    const connection = this.#open(post, listens);
    if (connection && listens) {
      this.#streams += 1;
      void connection.closed.then(() => {
        this.#streams -= 1;
      });
    }
  }

  /** A legacy client without a session: each POST stands for itself, with a handshake that we make for it. */
  #stateless(
    message: Decoded,
    revision: string | undefined,
    exchange: HttpExchange,
    principal: string | undefined,
    headers: HttpHeaders,
  ): void {
    const post = asStateless(message, revision);
    if (post.kind === 'refused') {
      return exchange.respond(400, { ...JSON_HEADERS, ...headers }, errorBody(undefined, post.error));
    }
    if (post.kind === 'calls') {
      const { messages, swallow, batch } = post;
      this.#open({ messages, exchange, principal, headers, statuses: false, swallow, batch }, false);
      return;
    }
    const { refusals, isBatch } = post;
    if (refusals.length === 0) return exchange.respond(202, headers);
    exchange.respond(400, { ...JSON_HEADERS, ...headers }, isBatch ? `[${refusals.join(',')}]` : refusals[0]);
  }

  #open(options: Omit<PostOptions, 'now'>, listens: boolean): PostConnection | undefined {
    const { clock } = this.settings;
    if (!listens && this.#isFull(options.exchange, options.headers, options.messages.at(-1)!))
      return undefined;
    const connection = new PostConnection({ ...options, now: () => clock.now() });
    this.#accept!(connection);
    if (connection.isOver) return connection;
    this.#posts.add(connection);
    void connection.closed.then(() => this.#posts.delete(connection));
    return connection;
  }

  /** True when there is too much to do; then that was the answer. */
  #isFull(exchange: HttpExchange, headers: HttpHeaders, message: Decoded): boolean {
    const { maxRequests } = this.settings;
    if (this.#posts.size - this.#streams + this.#sessions.inFlight < maxRequests) return false;
    const id = message.kind === 'request' ? message.id : undefined;
    busy(exchange, `${maxRequests} requests are being worked on`, headers, id);
    return true;
  }

  #initialize(
    request: DecodedRequest,
    exchange: HttpExchange,
    principal: string | undefined,
    headers: HttpHeaders,
  ): void {
    const session = this.#sessions.create(principal, headers);
    if (!session)
      return busy(exchange, `All ${this.settings.maxSessions} sessions are taken`, headers, request.id);
    this.#accept!(session);
    session.post(exchange, request);
  }

  #legacy(
    message: Decoded,
    exchange: HttpExchange,
    principal: string | undefined,
    headers: HttpHeaders,
  ): void {
    const id = message.kind === 'request' ? message.id : undefined;
    const sessionId = exchange.header('mcp-session-id');
    if (sessionId === undefined) {
      const error = { code: ErrorCode.InvalidRequest, message: NO_SESSION };
      return exchange.respond(400, { ...JSON_HEADERS, ...headers }, errorBody(id, error));
    }
    const session = this.#sessions.find(sessionId, principal);
    if (session && (isAnswerOrNews(message) || !this.#isFull(exchange, headers, message))) {
      return session.post(exchange, message);
    }
    if (session) return;
    exchange.respond(404, { ...JSON_HEADERS, ...headers }, errorBody(id, UNKNOWN_SESSION));
  }

  /** GET and DELETE are of the legacy era only. */
  #session(exchange: HttpExchange, principal: string | undefined, headers: HttpHeaders): void {
    if (!this.#hasSessions) {
      return refuse(exchange, 405, `${exchange.method} is not served here`, {
        ...headers,
        allow: this.#allowed,
      });
    }
    const version = exchange.header('mcp-protocol-version')?.trim();
    if (version !== undefined && !isLegacyRevision(version)) {
      return exchange.respond(
        400,
        { ...JSON_HEADERS, ...headers },
        errorBody(undefined, noRevision(version)),
      );
    }
    const sessionId = exchange.header('mcp-session-id');
    if (sessionId === undefined) {
      return exchange.method === 'GET'
        ? refuse(exchange, 405, 'A stream belongs to a session; there is none', {
            ...headers,
            allow: this.#allowed,
          })
        : refuse(exchange, 400, NO_SESSION, headers);
    }
    const session = this.#sessions.find(sessionId, principal);
    if (!session)
      return exchange.respond(404, { ...JSON_HEADERS, ...headers }, errorBody(undefined, UNKNOWN_SESSION));
    if (exchange.method === 'DELETE') {
      session.close();
      return exchange.respond(204, headers);
    }
    if (!accepts(exchange, 'text/event-stream')) {
      return refuse(exchange, 406, 'Accept must list text/event-stream', headers);
    }
    if (session.get(exchange, exchange.header('last-event-id'))) return;
    refuse(exchange, 400, 'Last-Event-ID names no event that is still known', headers);
  }

  /** One clock for all: signs of life, and sessions that nobody uses any more. */
  #tick(): void {
    const { clock, keepAliveMs, pollAfterMs = keepAliveMs } = this.settings;
    const pauseMs = Math.max(1, Math.min(keepAliveMs, pollAfterMs) / 2);
    this.#callOffTick = clock.after(
      pauseMs,
      () => {
        const now = clock.now();
        for (const post of this.#posts) if (now - post.lastAt >= keepAliveMs) post.keepAlive(now);
        for (const session of this.#sessions.all) session.keepAlive(now, keepAliveMs);
        this.#sse.keepAlive(now);
        this.#sessions.expire(now);
        if (!this.#stopped) this.#tick();
      },
      { background: true },
    );
  }
}

const NOBODY = { kind: 'known', principal: undefined } as const;
const NO_SESSION = 'The header Mcp-Session-Id is missing: open a session with initialize';
const UNKNOWN_SESSION: JsonRpcErrorBody = {
  code: ErrorCode.InvalidRequest,
  message: 'There is no such session (any more): open one with initialize',
};

/** What must get through however much there is to do: it may be what others wait for. */
function isAnswerOrNews(message: Decoded): boolean {
  return message.kind !== 'request' && message.kind !== 'batch';
}

function errorBody(id: RequestId | undefined, error: JsonRpcErrorBody): string {
  return encodeMessage(errorMessage(id, error));
}

function refuse(exchange: HttpExchange, status: number, why: string, headers: HttpHeaders): void {
  const body = errorBody(undefined, { code: ErrorCode.InvalidRequest, message: why });
  exchange.respond(status, { ...JSON_HEADERS, ...headers }, body);
}

function busy(exchange: HttpExchange, why: string, headers: HttpHeaders, id?: RequestId): void {
  const body = errorBody(id, { code: ErrorCode.InternalError, message: `${why}; try again later` });
  exchange.respond(503, { ...JSON_HEADERS, ...headers, 'retry-after': '1' }, body);
}
