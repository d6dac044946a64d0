import { type Clock, systemClock } from '../../async/clock.js';
import { IsthmusError } from '../../errors.js';
import type { JsonObject } from '../../wire/json-rpc.js';
import type { Authorize } from './admission/authorize.js';
import { BodyMemory, PROCESS_BODIES } from './admission/request-limits.js';
import { type ProxyTrust, proxyTrust } from './admission/trust-proxy.js';
import { type EventStoreFactory, memoryEventStore } from './sessions/event-store.js';

/** What the `authenticate` hook sees of a request. Its body has not been read. */
export interface HttpRequestFacts {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Names are case-insensitive. */
  header(name: string): string | undefined;
  /** The requested resource, as tokens name it. Undefined for a page for operators, which is not a resource. */
  readonly resource?: ResourcePlace | undefined;
  /** The address that the request came from, where that is known. */
  readonly remote?: string | undefined;
  /** Whether these scopes are enough: one may include others. Undefined: no scope includes another one. */
  readonly covers?: CoversScopes | undefined;
}

/** Whether the scopes of a credential are enough where others are needed (AUTH-S-009). */
export type CoversScopes = (granted: readonly string[], needed: readonly string[]) => boolean;

/** The paths of a server as clients know them; behind a proxy, the paths of the proxy. */
export interface ResourcePlace {
  /** The paths of this one server. */
  readonly own: readonly string[];
  /** All servers of the same web server are at or below these paths. */
  readonly roots: readonly string[];
}

/** Returns the principal: a name that is the same for the same caller. Undefined: unknown, refused with 401. */
export type Authenticate = (
  request: HttpRequestFacts,
) => AuthenticationResult | Promise<AuthenticationResult>;

type AuthenticationResult = string | Grant | Refusal | undefined;

/** A principal, and what its credential says. */
export interface Grant {
  readonly principal: string;
  /** What the credential may be used for. Handlers read it as `ctx.scopes`. */
  readonly scopes?: readonly string[];
  /** Scopes that every request needs, whatever it is for. They are in each challenge. */
  readonly requiredScopes?: readonly string[];
  /** The OAuth client that the credential was issued to. */
  readonly clientId?: string;
  /** When the credential ends, in milliseconds since 1970. */
  readonly expiresAt?: number;
  /** What the credential says of its owner, for example the payload of a JWT. Handlers read it as `ctx.claims`. */
  readonly claims?: JsonObject;
  /**
   * Called from time to time while a stream is open that was opened with it. `expired`: its streams end, and the caller
   * may come back with a fresh token. `revoked`: its sessions and calls end as well.
   */
  standing?(): CredentialState | Promise<CredentialState>;
}

export type CredentialState = 'good' | 'expired' | 'revoked';

/**
 * A refusal by the hook. 401: the caller is unknown. 403: the caller is known and not allowed. 503: the hook cannot
 * decide at the moment.
 */
export interface Refusal {
  readonly status: 401 | 403 | 503;
  /** For `WWW-Authenticate`: `error="insufficient_scope", scope="files:write"`. */
  readonly challenge?: string;
  /** With 503: when to retry (`Retry-After`). Default 1 s. */
  readonly retryAfterMs?: number;
  /** Why, in words for the audit log. They must not contain anything of the request. */
  readonly why?: string;
  /** The scopes that the credential would need. */
  readonly scopes?: readonly string[];
  /** Whose credential it is, where it is genuine. */
  readonly caller?: RefusedCaller;
  /**
   * With 403: what the credential says, if only scopes are missing. The challenge then also names those that the messages of
   * the request need.
   */
  readonly grant?: Grant;
}

/** The owner of a credential that was refused. */
export interface RefusedCaller {
  readonly principal: string;
  readonly clientId?: string | undefined;
}

/** RFC 9728: which authorization servers issue tokens for this server. */
export interface ProtectedResource {
  readonly authorizationServers: readonly string[];
  /** The URL of the server as clients know it. Default: the URL of the request. */
  readonly resource?: string;
  readonly scopes?: readonly string[];
  readonly documentation?: string;
  /** Shown to users who are asked for their consent. */
  readonly name?: string;
}

/** Which web pages may call the server, for browsers. */
export interface CorsOptions {
  /** Pages of these origins may call. `*`: all. */
  readonly origins: readonly string[] | '*';
  /** Further headers besides those of the protocol. */
  readonly headers?: readonly string[];
}

/** How an HTTP endpoint serves: its path, who may call, sessions and limits. */
export interface HttpEndpointOptions {
  /** The path. Default `/mcp`. `undefined`, the default of handlers, accepts every path. */
  readonly path?: string | undefined;
  /**
   * Accepted Host headers, with or without port. Default on a loopback address: loopback names. Default on another
   * address without `authenticate`: IP addresses, localhost and the name that it listens at.
   */
  readonly allowedHosts?: readonly string[];
  /** Set by the code that opens the port: the host names that it listens at. Undefined: another web server has the port. */
  readonly ownNames?: readonly string[] | undefined;
  /**
   * The name of this endpoint in a cluster: the same in all members, and not the name of another endpoint. Default: the
   * path.
   */
  readonly place?: string | undefined;
  /** Origins of pages that may call. Default: its own host, and on a loopback address loopback names. */
  readonly allowedOrigins?: readonly string[];
  /** Off unless set. */
  readonly cors?: CorsOptions;
  readonly authenticate?: Authenticate;
  readonly protectedResource?: ProtectedResource;
  /** Decides what a caller may do, by the messages of its request. */
  readonly authorize?: Authorize;
  /** The addresses of proxies whose `X-Forwarded-Proto` and `X-Forwarded-Host` are believed. Default: none. */
  readonly trustProxy?: readonly string[];
  /** Its paths for tokens that name one. Default: `path`. */
  readonly resourcePlace?: ResourcePlace | undefined;
  /** Longer bodies are refused (413). Default 4 MiB. */
  readonly maxBodyBytes?: number;
  /**
   * The memory for the bodies of running requests. Beyond it 503, and 429 for a client that has used its share (alone
   * nine sixteenths). Bodies up to 16 KiB are not counted. Default: 64 MiB for all endpoints of the process, or four
   * times `maxBodyBytes` for this one where that is more.
   */
  readonly maxBodiesBytes?: number;
  /**
   * Running calls of all clients. The next one is refused with 503. One client alone has at most three quarters of them,
   * and one session nine sixteenths (429). Default 2048.
   */
  readonly maxRequests?: number;
  /** Open `subscriptions/listen` of all clients. At the limit, the client with most loses its oldest. Default 1024. */
  readonly maxStreams?: number;
  /** How often a comment is sent on a silent stream and on an answer that takes long. Default 15 s. */
  readonly keepAliveMs?: number;
  /** `sessions` (default), `stateless` (a legacy client can call, and cannot be asked questions). */
  readonly legacy?: 'sessions' | 'stateless';
  /** Legacy sessions. At the limit, the client with most loses the one that is idle for longest. Default 1000. */
  readonly maxSessions?: number;
  /** A session without calls and streams ends after this. Default 30 min. */
  readonly sessionIdleMs?: number;
  /**
   * What clients can resume from: a store for each session, or `false` for none. Default: in memory, bounded for
   * each session and for the process.
   */
  readonly eventStore?: EventStoreFactory | false;
  /** How long clients should wait before they resume a stream. */
  readonly retryMs?: number;
  /** Streams of clients that can resume (2025-11-25) end after this, and the clients poll. Default: never. */
  readonly pollAfterMs?: number;
  /** Also serves the transport of 2024-11-05. Default off; `true` is `/sse` and `/message`. */
  readonly sse?: boolean | { readonly path: string; readonly messagePath: string };
  readonly clock?: Clock;
}

export interface HttpEndpointSettings
  extends Required<
    Omit<
      HttpEndpointOptions,
      | 'path'
      | 'allowedHosts'
      | 'ownNames'
      | 'allowedOrigins'
      | 'cors'
      | 'authenticate'
      | 'protectedResource'
      | 'authorize'
      | 'trustProxy'
      | 'resourcePlace'
      | 'place'
      | 'retryMs'
      | 'pollAfterMs'
      | 'sse'
      | 'eventStore'
      | 'maxBodiesBytes'
    >
  > {
  readonly bodies: BodyMemory;
  readonly path: string | undefined;
  readonly place: string;
  readonly allowedHosts: ReadonlySet<string> | undefined;
  readonly ownNames: ReadonlySet<string> | undefined;
  readonly allowedOrigins: ReadonlySet<string> | undefined;
  readonly cors: CorsOptions | undefined;
  readonly authenticate: Authenticate | undefined;
  readonly protectedResource: ProtectedResource | undefined;
  readonly authorize: Authorize | undefined;
  readonly trustsProxy: ProxyTrust | undefined;
  readonly resourcePlace: ResourcePlace | undefined;
  readonly retryMs: number | undefined;
  readonly pollAfterMs: number | undefined;
  readonly sse: { readonly path: string; readonly messagePath: string } | undefined;
  readonly eventStore: EventStoreFactory | undefined;
}

export function resolveEndpoint(options: HttpEndpointOptions): HttpEndpointSettings {
  for (const name of COUNTS) {
    const value = options[name];
    if (value === undefined || (Number.isSafeInteger(value) && value > 0)) continue;
    throw new IsthmusError('INVALID_OPTION', `${name} must be a positive whole number, got ${String(value)}`);
  }
  for (const path of [options.path, ...Object.values(typeof options.sse === 'object' ? options.sse : {})]) {
    if (path !== undefined && !path.startsWith('/')) {
      throw new IsthmusError('INVALID_OPTION', `A path must begin with /, got ${path}`);
    }
  }
  if (options.legacy !== undefined && options.legacy !== 'sessions' && options.legacy !== 'stateless') {
    throw new IsthmusError(
      'INVALID_OPTION',
      `legacy must be sessions or stateless, got ${String(options.legacy)}`,
    );
  }
  const { maxBodyBytes = 4 * 1024 * 1024 } = options;
  return {
    path: 'path' in options ? options.path : '/mcp',
    place: options.place ?? ('path' in options ? options.path : '/mcp') ?? '/',
    allowedHosts: options.allowedHosts && new Set(options.allowedHosts.map((host) => host.toLowerCase())),
    ownNames: options.ownNames && new Set(options.ownNames.map((name) => name.toLowerCase())),
    allowedOrigins:
      options.allowedOrigins && new Set(options.allowedOrigins.map((each) => each.toLowerCase())),
    cors: options.cors,
    authenticate: options.authenticate,
    protectedResource: options.protectedResource,
    authorize: options.authorize,
    trustsProxy: options.trustProxy && proxyTrust(options.trustProxy),
    resourcePlace: options.resourcePlace ?? placeAt('path' in options ? options.path : '/mcp'),
    maxBodyBytes,
    bodies: bodiesOf(options.maxBodiesBytes, maxBodyBytes),
    maxRequests: options.maxRequests ?? 2048,
    maxStreams: options.maxStreams ?? 1024,
    keepAliveMs: options.keepAliveMs ?? 15_000,
    legacy: options.legacy ?? 'sessions',
    maxSessions: options.maxSessions ?? 1000,
    sessionIdleMs: options.sessionIdleMs ?? 30 * 60_000,
    eventStore:
      options.eventStore === false
        ? undefined
        : (options.eventStore ?? (({ who }) => memoryEventStore({ who }))),
    // A client whose stream ends for polling needs a time to wait.
    retryMs: options.retryMs ?? (options.pollAfterMs === undefined ? undefined : 1000),
    pollAfterMs: options.pollAfterMs,
    sse: options.sse === true ? { path: '/sse', messagePath: '/message' } : options.sse || undefined,
    clock: options.clock ?? systemClock,
  };
}

function placeAt(path: string | undefined): ResourcePlace | undefined {
  return path === undefined ? undefined : { own: [path], roots: [path] };
}

function bodiesOf(maxBodiesBytes: number | undefined, maxBodyBytes: number): BodyMemory {
  if (maxBodiesBytes !== undefined) return new BodyMemory(maxBodiesBytes);
  return 4 * maxBodyBytes > PROCESS_BODIES.maxBytes ? new BodyMemory(4 * maxBodyBytes) : PROCESS_BODIES;
}

const COUNTS = [
  'maxBodyBytes',
  'maxBodiesBytes',
  'maxRequests',
  'maxStreams',
  'keepAliveMs',
  'maxSessions',
  'sessionIdleMs',
  'retryMs',
  'pollAfterMs',
] as const;
