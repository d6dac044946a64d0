import { createDeferred } from '../../async/deferred.js';
import { classifyHttp, type HttpRoute } from '../../era/classify-http.js';
import { IsthmusError } from '../../errors.js';
import type { Connection, Listening, ServedFacts } from '../../exchange/connection.js';
import { decodeLine } from '../../wire/codec.js';
import { ErrorCode } from '../../wire/error-codes.js';
import { withTraceOf } from '../trace-headers.js';
import { passGuard, recognise } from './admission/authenticate.js';
import { GrantedExchange, GrantWatch } from './admission/granted-exchange.js';
import { accepts, isJson } from './admission/guard.js';
import { NO_ROOM, RequestsAtWork } from './admission/request-limits.js';
import { type AdmittedRequest, busy, refuse, respondError } from './exchange/admitted-request.js';
import type { HttpExchange } from './exchange/exchange.js';
import { type HttpEndpointOptions, type HttpEndpointSettings, resolveEndpoint } from './options.js';
import { StatelessPosts } from './posts/stateless-posts.js';
import { SessionRouter } from './sessions/sessions.js';
import { SseConnections } from './sessions/sse-2024.js';

/** One address for both eras: every request becomes a connection, or a part of one. */
export class Endpoint {
  readonly settings: HttpEndpointSettings;
  readonly #sessions: SessionRouter;
  readonly #posts: StatelessPosts;
  readonly #sse: SseConnections;
  readonly #grants = new GrantWatch();
  #accept: ((connection: Connection) => void) | undefined;
  #served: ServedFacts | undefined;
  #callOffTick: (() => void) | undefined;
  #stopped = false;
  readonly #ended = createDeferred<void>();

  constructor(options: HttpEndpointOptions) {
    this.settings = resolveEndpoint(options);
    const atWork = new RequestsAtWork(this.settings.maxRequests);
    this.#sessions = new SessionRouter(this.settings, atWork);
    this.#posts = new StatelessPosts(this.settings, atWork);
    this.#sse = new SseConnections(this.settings, atWork);
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
      const error = { code: ErrorCode.InternalError, message: 'Internal error' };
      respondError({ exchange, headers: {} }, 500, undefined, error);
    }
  }

  async #handle(exchange: HttpExchange): Promise<void> {
    const { target } = exchange;
    const query = target.indexOf('?');
    const path = query < 0 ? target : target.slice(0, query);
    const { settings } = this;
    const headers = passGuard(exchange, path, settings);
    if (!headers) return;
    const stranger = { exchange, headers };
    const place = this.#placeOf(path);
    if (place === undefined) return refuse(stranger, 404, `There is nothing at ${path}`);
    if (this.#stopped || !this.#accept) return busy(stranger, 'The server is stopping');
    const caller = await recognise(exchange, headers, settings);
    if (!caller) return;
    const { principal, grant } = caller;
    const visit: AdmittedRequest = grant
      ? { exchange: new GrantedExchange(exchange, grant, this.#grants), headers, principal, grant }
      : { exchange, headers, principal };
    if (place !== 'mcp') return this.#sse.handle(place, visit, this.#accept);
    switch (exchange.method) {
      case 'POST':
        return this.#post(visit);
      case 'GET':
      case 'DELETE':
        // These are of the legacy era only.
        if (this.#hasSessions) return this.#sessions.other(visit, this.#allowed);
    }
    refuse(visit, 405, `${exchange.method} is not served here`, { allow: this.#allowed });
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

  async #post(visit: AdmittedRequest): Promise<void> {
    const { exchange, principal } = visit;
    const { maxBodyBytes } = this.settings;
    if (!isJson(exchange.header('content-type'))) {
      return refuse(visit, 415, 'The body of a POST is application/json');
    }
    if (!accepts(exchange, 'application/json', 'text/event-stream')) {
      return refuse(visit, 406, 'Accept must list application/json and text/event-stream');
    }
    const room = this.settings.bodies.enter(visit, maxBodyBytes);
    if (!room) return;
    const body = await exchange.body(maxBodyBytes);
    if (body.kind === 'gone') return;
    if (body.kind === 'too-large') return refuse(visit, 413, `The body is longer than ${maxBodyBytes} bytes`);
    room.shrinkTo(body.bytes.length);
    const { eras, headerParams } = this.#served!;
    const header = (name: string) => exchange.header(name);
    const message = withTraceOf(decodeLine(body.bytes), header);
    const entered = room === NO_ROOM ? visit : { ...visit, room };
    this.#follow(classifyHttp({ header, message, eras, principal, headerParams }), entered);
  }

  #follow(route: HttpRoute, visit: AdmittedRequest): void {
    const accept = this.#accept!;
    const stateless = this.settings.legacy === 'stateless';
    switch (route.kind) {
      case 'refused':
        return respondError(visit, route.status, route.id, route.error);
      case 'modern-notification':
        return visit.exchange.respond(202, visit.headers);
      case 'modern':
        return this.#posts.modern(route.request, visit, accept, this.#served!.knows);
      case 'initialize':
        if (stateless) return this.#posts.stateless(route.request, undefined, visit, accept);
        return this.#sessions.initialize(route.request, visit, accept);
      case 'legacy':
        if (stateless) return this.#posts.stateless(route.message, route.revision, visit, accept);
        return this.#sessions.post(route.message, visit);
    }
  }

  /** One clock for all: signs of life, and sessions that nobody uses any more. */
  #tick(): void {
    const { clock, keepAliveMs, pollAfterMs = keepAliveMs } = this.settings;
    const pauseMs = Math.max(1, Math.min(keepAliveMs, pollAfterMs) / 2);
    this.#callOffTick = clock.after(
      pauseMs,
      () => {
        const now = clock.now();
        this.#posts.keepAlive(now, keepAliveMs);
        this.#sessions.tick(now, keepAliveMs);
        this.#sse.keepAlive(now);
        void this.#grants.review(this.#sessions.all);
        if (!this.#stopped) this.#tick();
      },
      { background: true },
    );
  }
}
