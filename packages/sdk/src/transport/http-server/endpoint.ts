import { createDeferred } from '../../async/deferred.js';
import { classifyHttp, type HttpRoute } from '../../era/classify-http.js';
import { IsthmusError } from '../../errors.js';
import type { Connection, Listening, ServedFacts } from '../../exchange/connection.js';
import { decodeLine } from '../../wire/codec.js';
import { ErrorCode } from '../../wire/error-codes.js';
import { withTraceOf } from '../trace-headers.js';
import { authenticateRequest, passGuard } from './admission/authenticate.js';
import { GrantedExchange, GrantWatch } from './admission/granted-exchange.js';
import { accepts, isJson } from './admission/guard.js';
import { NO_RESERVATION, RequestLimiter } from './admission/request-limits.js';
import { type AdmittedRequest, busy, refuse, respondError } from './exchange/admitted-request.js';
import type { HttpExchange } from './exchange/exchange.js';
import { type HttpEndpointOptions, type HttpEndpointSettings, resolveEndpoint } from './options.js';
import { StatelessPosts } from './posts/stateless-posts.js';
import { SessionRouter } from './sessions/sessions.js';
import { SseConnections } from './sessions/sse-2024.js';

/** One URL for both eras: every request becomes a connection, or a part of one. */
export class Endpoint {
  readonly settings: HttpEndpointSettings;
  readonly #sessions: SessionRouter;
  readonly #posts: StatelessPosts;
  readonly #sse: SseConnections;
  readonly #grants = new GrantWatch();
  #accept: ((connection: Connection) => void) | undefined;
  #served: ServedFacts | undefined;
  #stopTick: (() => void) | undefined;
  #stopped = false;
  readonly #ended = createDeferred<void>();

  constructor(options: HttpEndpointOptions) {
    this.settings = resolveEndpoint(options);
    const limiter = new RequestLimiter(this.settings.maxRequests);
    this.#sessions = new SessionRouter(this.settings, limiter);
    this.#posts = new StatelessPosts(this.settings, limiter);
    this.#sse = new SseConnections(this.settings, limiter);
  }

  begin(accept: (connection: Connection) => void, served: ServedFacts): Listening {
    if (this.#accept)
      throw new IsthmusError(
        'ADDRESS_UNAVAILABLE',
        'This HTTP endpoint is served already; make one endpoint for each server',
      );
    this.#accept = accept;
    this.#served = served;
    this.#tick();
    return {
      address: `http handler${this.settings.path ?? ''}`,
      ended: this.#ended.promise,
      stop: async () => this.stop(),
    };
  }

  /** Refuses new requests. Running ones may finish. */
  stop(): void {
    this.#stopped = true;
    this.#stopTick?.();
    this.#ended.resolve();
  }

  /** Answers one request, whatever it is. Never throws. */
  async handle(exchange: HttpExchange): Promise<void> {
    try {
      await this.#handle(exchange);
    } catch {
      // The cause is not sent to the client.
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
    const unknown = { exchange, headers };
    const part = this.#partAt(path);
    if (part === undefined) return refuse(unknown, 404, `There is no endpoint at ${path}`);
    if (this.#stopped || !this.#accept) return busy(unknown, 'The server is stopping');
    const caller = await authenticateRequest(exchange, headers, settings);
    if (!caller) return;
    const { principal, grant } = caller;
    const admitted: AdmittedRequest = grant
      ? { exchange: new GrantedExchange(exchange, grant, this.#grants), headers, principal, grant }
      : { exchange, headers, principal };
    if (part !== 'mcp') return this.#sse.handle(part, admitted, this.#accept);
    switch (exchange.method) {
      case 'POST':
        return this.#post(admitted);
      case 'GET':
      case 'DELETE':
        // Only the legacy era has these methods.
        if (this.#hasSessions) return this.#sessions.other(admitted, this.#allowed);
    }
    refuse(admitted, 405, `${exchange.method} is not supported here`, { allow: this.#allowed });
  }

  get #hasSessions(): boolean {
    return this.settings.legacy === 'sessions' && (this.#served?.eras.includes('legacy') ?? false);
  }

  get #allowed(): string {
    return this.#hasSessions ? 'POST, GET, DELETE' : 'POST';
  }

  #partAt(path: string): 'mcp' | 'sse' | 'message' | undefined {
    const { path: own } = this.settings;
    const sse = this.#served?.eras.includes('legacy') ? this.settings.sse : undefined;
    if (sse && path === sse.path) return 'sse';
    if (sse && path === sse.messagePath) return 'message';
    return own === undefined || path === own ? 'mcp' : undefined;
  }

  async #post(admitted: AdmittedRequest): Promise<void> {
    const { exchange, principal } = admitted;
    const { maxBodyBytes } = this.settings;
    if (!isJson(exchange.header('content-type'))) {
      return refuse(admitted, 415, 'The body of a POST must be application/json');
    }
    if (!accepts(exchange, 'application/json', 'text/event-stream')) {
      return refuse(admitted, 406, 'Accept must list application/json and text/event-stream');
    }
    const reservation = this.settings.bodies.enter(admitted, maxBodyBytes);
    if (!reservation) return;
    const body = await exchange.body(maxBodyBytes);
    if (body.kind === 'gone') return;
    if (body.kind === 'too-large')
      return refuse(admitted, 413, `The body is longer than ${maxBodyBytes} bytes`);
    reservation.shrinkTo(body.bytes.length);
    const { eras, headerParams } = this.#served!;
    const header = (name: string) => exchange.header(name);
    const message = withTraceOf(decodeLine(body.bytes), header);
    const entered = reservation === NO_RESERVATION ? admitted : { ...admitted, reservation };
    this.#follow(classifyHttp({ header, message, eras, principal, headerParams }), entered);
  }

  #follow(route: HttpRoute, admitted: AdmittedRequest): void {
    const accept = this.#accept!;
    const stateless = this.settings.legacy === 'stateless';
    switch (route.kind) {
      case 'refused':
        return respondError(admitted, route.status, route.id, route.error);
      case 'modern-notification':
        return admitted.exchange.respond(202, admitted.headers);
      case 'modern':
        return this.#posts.modern(route.request, admitted, accept, this.#served!.knows);
      case 'initialize':
        if (stateless) return this.#posts.stateless(route.request, undefined, admitted, accept);
        return this.#sessions.initialize(route.request, admitted, accept);
      case 'legacy':
        if (stateless) return this.#posts.stateless(route.message, route.revision, admitted, accept);
        return this.#sessions.post(route.message, admitted);
    }
  }

  /** One timer for keep-alives, expired sessions and ended tokens. */
  #tick(): void {
    const { clock, keepAliveMs, pollAfterMs = keepAliveMs } = this.settings;
    const pauseMs = Math.max(1, Math.min(keepAliveMs, pollAfterMs) / 2);
    this.#stopTick = clock.after(
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
