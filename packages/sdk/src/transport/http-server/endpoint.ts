import { createDeferred } from '../../async/deferred.js';
import type { Cluster } from '../../cluster/cluster.js';
import { classifyHttp, type HttpRoute } from '../../era/classify/classify-http.js';
import { isModernRevision } from '../../era/revisions.js';
import { IsthmusError } from '../../errors.js';
import type { Connection, Listening, ServedFacts } from '../../exchange/connection.js';
import { decodeLine } from '../../wire/codec.js';
import { withTraceOf } from '../trace-headers.js';
import { authenticateRequest, passGuard } from './admission/authenticate.js';
import { authorizeRequest, mustDecide, refuseLacking } from './admission/authorize.js';
import { GrantedExchange, GrantWatch } from './admission/granted-exchange.js';
import { accepts, isJson } from './admission/guard.js';
import { RequestLimiter, readBody } from './admission/request-limits.js';
import { believeProxy } from './admission/trust-proxy.js';
import {
  type AdmittedRequest,
  busy,
  refuse,
  respondError,
  respondInternalError,
} from './exchange/admitted-request.js';
import type { HttpExchange } from './exchange/exchange.js';
import {
  type Grant,
  type HttpEndpointOptions,
  type HttpEndpointSettings,
  resolveEndpoint,
} from './options.js';
import { StatelessPosts } from './posts/stateless-posts.js';
import { type EndpointReplicas, replicasOf } from './replicas/endpoint-replicas.js';
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
  /** Set in a cluster: other processes have sessions of this endpoint, too. */
  #replicas: EndpointReplicas | undefined;
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
    if (served.cluster) this.#join(served.cluster, accept);
    this.#tick();
    return {
      address: `http handler${this.settings.path ?? ''}`,
      ended: this.#ended.promise,
      stop: async () => this.stop(),
      idle: async () => this.#replicas?.idle(),
      release: async () => this.#replicas?.close(),
    };
  }

  #join(cluster: Cluster, accept: (connection: Connection) => void): void {
    this.#replicas = replicasOf(cluster)({
      place: this.settings.place,
      settings: this.settings,
      sessions: this.#sessions,
      accept,
      home: this.#served?.home,
      serve: (admitted) => this.#serveHandedOn(admitted),
    });
    this.#sessions.join(this.#replicas);
    this.#sse.replicas = this.#replicas;
  }

  /** The process that received the request has checked the host and found the caller. */
  #serveHandedOn(admitted: AdmittedRequest): void {
    const [path] = admitted.exchange.target.split('?') as [string];
    const part = this.#partAt(path);
    if (part === undefined) return refuse(admitted, 404, `There is no endpoint at ${path}`);
    this.#admit(part, admitted);
  }

  /** Refuses new requests. Running ones may finish. */
  stop(): void {
    this.#stopped = true;
    this.#replicas?.stop();
    this.#stopTick?.();
    this.#ended.resolve();
  }

  /** Answers one request, whatever it is. Never throws. */
  handle(exchange: HttpExchange): void {
    try {
      this.#handle(exchange);
    } catch {
      respondInternalError(exchange);
    }
  }

  #handle(exchange: HttpExchange): void {
    const { target } = exchange;
    const query = target.indexOf('?');
    const path = query < 0 ? target : target.slice(0, query);
    const { settings } = this;
    believeProxy(exchange, settings.trustsProxy);
    const headers = passGuard(exchange, path, settings);
    if (!headers) return;
    const unknown = { exchange, headers };
    const part = this.#partAt(path);
    if (part === undefined) return refuse(unknown, 404, `There is no endpoint at ${path}`);
    if ((this.#stopped && !this.#replicas) || !this.#accept) return busy(unknown, 'The server is stopping');
    if (!settings.authenticate) return this.#admit(part, { exchange, headers, principal: undefined });
    const refuseLackingOne = (grant: Grant, refuse: () => void) =>
      refuseLacking({ exchange, headers, principal: grant.principal, grant }, settings, refuse);
    authenticateRequest(exchange, headers, settings, refuseLackingOne)
      .then((caller) => {
        if (!caller) return;
        const { principal, grant } = caller;
        const own = grant ? new GrantedExchange(exchange, grant, this.#grants) : exchange;
        this.#admit(part, { exchange: own, headers, principal, grant });
      })
      .catch(() => respondInternalError(exchange));
  }

  #admit(part: 'mcp' | 'sse' | 'message', admitted: AdmittedRequest): void {
    const { exchange } = admitted;
    if (part !== 'mcp') {
      if (this.#stopped && part === 'sse') return busy(admitted, 'The server is stopping');
      const serve = () => this.#sse.handle(part, admitted, this.#accept!);
      return part === 'sse' && this.#replicas ? this.#replicas.serveStream(admitted, serve) : serve();
    }
    switch (exchange.method) {
      case 'POST':
        return this.#post(admitted);
      case 'GET':
      case 'DELETE':
        // Only the legacy era has these methods.
        if (this.#hasSessions) return this.#other(admitted);
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

  #post(admitted: AdmittedRequest): void {
    const { exchange } = admitted;
    if (!isJson(exchange.header('content-type'))) {
      return refuse(admitted, 415, 'The body of a POST must be application/json');
    }
    if (!accepts(exchange, 'application/json', 'text/event-stream')) {
      return refuse(admitted, 406, 'Accept must list application/json and text/event-stream');
    }
    readBody(admitted, this.settings, this.#replicas ? this.#findOwner : this.#serveBytes);
  }

  /** GET and DELETE of a session. */
  #other(admitted: AdmittedRequest): void {
    const id = this.#replicas && sessionIdOf(admitted);
    const serve = () =>
      authorizeRequest(admitted, this.settings, undefined, () =>
        this.#sessions.other(admitted, this.#allowed),
      );
    if (id === undefined) return serve();
    this.#replicas!.serveSession(id, { admitted, body: undefined }, serve);
  }

  /** In a cluster another process may have the session that a request names. */
  readonly #findOwner = (bytes: Buffer, admitted: AdmittedRequest): void => {
    const id = this.#hasSessions ? sessionIdOf(admitted) : undefined;
    const serve = () => this.#serveBytes(bytes, admitted);
    if (id === undefined) serve();
    else this.#replicas!.serveSession(id, { admitted, body: bytes }, serve);
  };

  readonly #serveBytes = (bytes: Buffer, admitted: AdmittedRequest): void => {
    const { exchange, principal } = admitted;
    const { eras, headerParams } = this.#served!;
    const message = withTraceOf(decodeLine(bytes), exchange);
    const { remote } = exchange;
    const facts = { headers: exchange, message, eras, principal, remote, headerParams };
    const route = classifyHttp(facts);
    // An invalid request is refused as such: its headers may not say what its body says.
    const isFree = route.kind === 'refused' || !mustDecide(this.settings);
    const replicas = this.#replicas;
    if (isFree && !replicas) return this.#serve(route, admitted);
    const serve = () => this.#serve(route, admitted);
    const go = replicas ? () => replicas.serve(route, { admitted, body: bytes }, serve) : serve;
    if (isFree) go();
    else authorizeRequest(admitted, this.settings, message, go);
  };

  #serve(route: HttpRoute, admitted: AdmittedRequest): void {
    const accept = this.#accept!;
    const stateless = this.settings.legacy === 'stateless';
    switch (route.kind) {
      case 'refused':
        return respondError(admitted, route.status, route.id, route.error);
      case 'modern-notification':
        this.#served!.notify?.(route.notification, admitted.principal, admitted.exchange.remote);
        return admitted.exchange.respond(202, admitted.headers);
      case 'modern':
        return this.#posts.modern(route.request, route.envelope, admitted, accept, this.#served!.knows);
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

/** The session that a request belongs to. A modern request belongs to none. */
function sessionIdOf({ exchange }: AdmittedRequest): string | undefined {
  if (isModernRevision(exchange.header('mcp-protocol-version')?.trim())) return undefined;
  return exchange.header('mcp-session-id');
}
