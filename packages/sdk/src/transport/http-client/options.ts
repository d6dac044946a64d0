import { type Clock, systemClock } from '../../async/clock.js';
import { IsthmusError } from '../../errors.js';
import type { Tap } from '../../exchange/tap.js';
import type { ClientCapabilities } from '../../wire/model.js';
import { MAX_ANSWER_BYTES } from '../socket.js';

/** HTTP headers by name. */
export type HeaderRecord = Readonly<Record<string, string>>;

/** Options of `http(url, options)`: headers, credentials, retries, transport. */
export interface HttpConnectOptions {
  /** Sent with every request, never to another origin. A function is called for each request. */
  readonly headers?: HeaderRecord | (() => HeaderRecord | Promise<HeaderRecord>);
  /**
   * Called when the server answers with 401. The returned headers replace those of the same name from now on, and the
   * request is repeated once. `undefined` gives up. Concurrent requests share one call.
   */
  readonly onUnauthorized?: (
    challenge: Challenge,
  ) => HeaderRecord | undefined | Promise<HeaderRecord | undefined>;
  /** Logs in to the server, for example `oauth()`. A header `Authorization` above switches it off. */
  readonly auth?: HttpAuth;
  /** Sends the requests instead of undici, which is not loaded then. It has to handle proxies as well. */
  readonly fetch?: typeof globalThis.fetch;
  /** Called for what no error reports, such as a tool that was left out of a list. */
  readonly onWarning?: (warning: string) => void;
  /** How long to wait for a busy server (429, 503 with `Retry-After`). Default 10 s; 0 does not wait. */
  readonly maxRetryAfterMs?: number;
  /** Default 5. */
  readonly maxRedirects?: number;
  /** Also follows redirects to other origins, without the headers above. Default false. */
  readonly allowCrossOriginRedirects?: boolean;
  /** A longer answer fails its call. Default 64 MiB. */
  readonly maxAnswerBytes?: number;
  /** Requests that are open at the same time; the others wait. Default 256. */
  readonly maxConcurrent?: number;
  /**
   * The transport of 2024-11-05 (HTTP with SSE). `auto` (default): when `initialize` is refused as servers of that
   * revision do. `only`: without trying Streamable HTTP. `never`.
   */
  readonly sse?: 'auto' | 'only' | 'never';
  /** Time for the TCP and TLS handshakes. Default 10 s. */
  readonly connectTimeoutMs?: number;
  /** Time for a POST without a deadline of its own: notifications, answers, opening a stream. Default 30 s. */
  readonly postTimeoutMs?: number;
  readonly clock?: Clock;
  /** Sees what goes over the connections, with status and headers. Values that may be secrets are left out. */
  readonly tap?: Tap | undefined;
}

/** What the server sent with a 401. */
export interface Challenge {
  readonly url: string;
  readonly status: number;
  /** The header `WWW-Authenticate`. */
  readonly wwwAuthenticate: string | undefined;
}

/** Where the logins for servers come from. */
export interface HttpAuth {
  /** Extensions of the protocol that the login uses. The client declares them. */
  readonly extensions?: ClientCapabilities['extensions'] | undefined;
  /** The login for the server at a URL. Called once for each connector, with its first request. */
  forServer(url: URL): ServerAuth | Promise<ServerAuth>;
}

/** The extension that clients without a user declare (AUTH-C-090). */
export const CLIENT_CREDENTIALS: NonNullable<HttpAuth['extensions']> = {
  'io.modelcontextprotocol/oauth-client-credentials': {},
};

/** The login for one server. */
export interface ServerAuth {
  /** The header `Authorization` of the next request. Not a promise while nothing has to be renewed. */
  authorization(): string | undefined | Promise<string | undefined>;
  /** The server has refused a request. True: repeat it with the new header. */
  refused(refusal: AuthRefusal): Promise<boolean>;
}

/** A request that a server refused because its login is missing, or allows too little. */
export interface AuthRefusal {
  readonly status: 401 | 403;
  /** The header `WWW-Authenticate`. */
  readonly wwwAuthenticate: string | undefined;
  /** The header `Authorization` that the request had. */
  readonly authorization: string | undefined;
  /** How often this request was refused before. */
  readonly attempt: number;
}

type Optional = 'headers' | 'onUnauthorized' | 'auth' | 'fetch' | 'onWarning' | 'tap';
export type HttpSettings = Required<Omit<HttpConnectOptions, Optional>> & Pick<HttpConnectOptions, Optional>;

export function resolveHttp(options: HttpConnectOptions): HttpSettings {
  const settings: HttpSettings = {
    ...options,
    maxRetryAfterMs: options.maxRetryAfterMs ?? 10_000,
    maxRedirects: options.maxRedirects ?? 5,
    allowCrossOriginRedirects: options.allowCrossOriginRedirects ?? false,
    maxAnswerBytes: options.maxAnswerBytes ?? MAX_ANSWER_BYTES,
    maxConcurrent: options.maxConcurrent ?? 256,
    sse: options.sse ?? 'auto',
    connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
    postTimeoutMs: options.postTimeoutMs ?? 30_000,
    clock: options.clock ?? systemClock,
  };
  for (const [name, least] of NUMBERS) {
    if (Number.isSafeInteger(settings[name]) && settings[name] >= least) continue;
    throw invalid(`${name} must be a whole number of at least ${least}, got ${String(settings[name])}`);
  }
  if (!['auto', 'only', 'never'].includes(settings.sse)) {
    throw invalid(`sse must be auto, only or never, got ${String(settings.sse)}`);
  }
  if (typeof settings.headers !== 'function') checkHeaders(settings.headers ?? {});
  return settings;
}

/** An `http:` or `https:` URL without user and password. */
export function httpUrl(text: string | URL): URL {
  const url = URL.canParse(String(text)) ? new URL(String(text)) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw invalid(`"${String(text)}" is not an http:// or https:// URL`);
  }
  if (url.username !== '' || url.password !== '') {
    throw invalid(`${nameOf(url)}: put user and password into the header Authorization, not into the URL`);
  }
  url.hash = '';
  return url;
}

/** The URL without its query, which may hold secrets. */
export function nameOf(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

/** Throws for a header that cannot be sent. The error names the header and not its value, which is a secret. */
export function checkHeaders(headers: HeaderRecord): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
      throw invalid(`${JSON.stringify(name)} is not a valid header name`);
    }
    if (typeof value !== 'string' || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      throw invalid(`the value of the header ${name} has characters that a header cannot hold`);
    }
  }
}

const NUMBERS = [
  ['maxRetryAfterMs', 0],
  ['maxRedirects', 0],
  ['maxAnswerBytes', 1],
  ['maxConcurrent', 1],
  ['connectTimeoutMs', 1],
  ['postTimeoutMs', 1],
] as const;

function invalid(message: string): IsthmusError {
  return new IsthmusError('INVALID_OPTION', `http: ${message}`, { sent: 'no' });
}
