import { type Clock, systemClock } from '../../async/clock.js';
import { IsthmusError } from '../../errors.js';
import { BodyMemory, PROCESS_BODIES } from './admission/request-limits.js';
import { type EventStoreFactory, memoryEventStore } from './sessions/event-store.js';

/** What a hook may look at before anything else of a request is read. */
export interface HttpRequestFacts {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** By its name, in any case. */
  header(name: string): string | undefined;
  /** What is asked for, as tokens name it. Undefined: a page for operators, which is no resource of its own. */
  readonly resource?: ResourcePlace | undefined;
}

/** Where a server is, as clients know it: paths of URLs, behind a proxy those of the proxy. */
export interface ResourcePlace {
  /** The paths of this one server. */
  readonly own: readonly string[];
  /** All servers of the same web server are at these paths and below. */
  readonly roots: readonly string[];
}

/** Who asks: a name that is the same for the same caller. Undefined: nobody that is known, which is refused (401). */
export type Authenticate = (request: HttpRequestFacts) => Answered | Promise<Answered>;

type Answered = string | Grant | Refusal | undefined;

/** Somebody who is known, and for how long. */
export interface Grant {
  readonly principal: string;
  /**
   * Asked from time to time while a stream is open that was opened with it. `expired`: its streams end, and the caller
   * may come back with a fresh token. `revoked`: its sessions and calls end, too.
   */
  standing?(): CredentialState | Promise<CredentialState>;
}

export type CredentialState = 'good' | 'expired' | 'revoked';

/**
 * A refusal in the hook's own words: 401 for nobody that is known, 403 for somebody who is known and may not, 503
 * where it cannot be found out at the moment.
 */
export interface Refusal {
  readonly status: 401 | 403 | 503;
  /** For `WWW-Authenticate`: `error="insufficient_scope", scope="files:write"`. */
  readonly challenge?: string;
  /** With 503: when to ask again (`Retry-After`). Default 1 s. */
  readonly retryAfterMs?: number;
}

/** RFC 9728: who gives out the tokens for this server. */
export interface ProtectedResource {
  readonly authorizationServers: readonly string[];
  /** The server as clients know it. Default: the address that was asked for. */
  readonly resource?: string;
  readonly scopes?: readonly string[];
  readonly documentation?: string;
}

export interface CorsOptions {
  /** Pages of these origins may call; `*` for all. */
  readonly origins: readonly string[] | '*';
  /** Headers besides those of the protocol. */
  readonly headers?: readonly string[];
}

export interface HttpEndpointOptions {
  /** Where it is. Default `/mcp`; handlers that are mounted somewhere take every path with `undefined`. */
  readonly path?: string | undefined;
  /**
   * Names under which it may be asked for, with or without port. Default on a loopback address: loopback names. On
   * another address of its own, without `authenticate`: IP addresses, localhost and the name that it listens at.
   */
  readonly allowedHosts?: readonly string[];
  /** Set by whoever opens the port: the host names that it listens at. Undefined: another web server has the port. */
  readonly ownNames?: readonly string[] | undefined;
  /** Pages that may ask. Default: those of its own host, and on a loopback address those of loopback names. */
  readonly allowedOrigins?: readonly string[];
  /** Off unless set. */
  readonly cors?: CorsOptions;
  readonly authenticate?: Authenticate;
  readonly protectedResource?: ProtectedResource;
  /** Where it is for tokens that name a path. Default: at its own path. */
  readonly resourcePlace?: ResourcePlace | undefined;
  /** Longer bodies are refused (413). Default 4 MiB. */
  readonly maxBodyBytes?: number;
  /**
   * What the bodies of requests at work may take together; then 503, and 429 for a client that has its share (alone
   * nine sixteenths). Bodies up to 16 KiB are not counted. Default: 64 MiB for all endpoints of the process, or four
   * times `maxBodyBytes` for this one where that is more.
   */
  readonly maxBodiesBytes?: number;
  /**
   * Calls at work at the same time, of all clients; the next one is told to come back (503). One client alone has at
   * most three quarters of them, and one session nine sixteenths (429). Default 2048.
   */
  readonly maxRequests?: number;
  /** Open `subscriptions/listen` of all clients; the client that has most gives way. Default 1024. */
  readonly maxStreams?: number;
  /** A sign of life on a silent stream, and on an answer that takes long. Default 15 s. */
  readonly keepAliveMs?: number;
  /** `sessions` (default), `stateless` (a legacy client can call, and cannot be asked), or what `eras` excludes. */
  readonly legacy?: 'sessions' | 'stateless';
  /** Legacy sessions at this address; the client that has most gives way, with its longest idle one. Default 1000. */
  readonly maxSessions?: number;
  /** A session without calls and streams is forgotten after this. Default 30 min. */
  readonly sessionIdleMs?: number;
  /**
   * What clients can resume from: a store for each session, or `false` for none. Default: in memory, bounded for
   * each session and for the process.
   */
  readonly eventStore?: EventStoreFactory | false;
  /** How long clients are asked to wait before they resume a stream. */
  readonly retryMs?: number;
  /** Streams of clients that can resume (2025-11-25) are let go after this, to be polled. Default: never. */
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
      | 'resourcePlace'
      | 'retryMs'
      | 'pollAfterMs'
      | 'sse'
      | 'eventStore'
      | 'maxBodiesBytes'
    >
  > {
  readonly bodies: BodyMemory;
  readonly path: string | undefined;
  readonly allowedHosts: ReadonlySet<string> | undefined;
  readonly ownNames: ReadonlySet<string> | undefined;
  readonly allowedOrigins: ReadonlySet<string> | undefined;
  readonly cors: CorsOptions | undefined;
  readonly authenticate: Authenticate | undefined;
  readonly protectedResource: ProtectedResource | undefined;
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
      throw new IsthmusError('INVALID_OPTION', `a path begins with /, got ${path}`);
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
    allowedHosts: options.allowedHosts && new Set(options.allowedHosts.map((host) => host.toLowerCase())),
    ownNames: options.ownNames && new Set(options.ownNames.map((name) => name.toLowerCase())),
    allowedOrigins:
      options.allowedOrigins && new Set(options.allowedOrigins.map((each) => each.toLowerCase())),
    cors: options.cors,
    authenticate: options.authenticate,
    protectedResource: options.protectedResource,
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
    // Whoever is let go is told when to come back.
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
