import { orAborted } from '../../async/abort.js';
import { pause } from './deadline.js';
import { type Dispatch, type HttpAnswer, type HttpRequest, withoutToken } from './dispatch.js';
import { callerFailed, networkFailure, statusFailure } from './failures.js';
import {
  type AuthRefusal,
  type Challenge,
  checkHeaders,
  type HeaderRecord,
  type HttpAuth,
  type HttpSettings,
  type ServerAuth,
} from './options.js';

/** Sends requests, and handles redirects, 401 and busy servers. */
export class RetryingHttp {
  readonly label: string;
  readonly #dispatch: Dispatch;
  readonly #credentials: Credentials;
  readonly #settings: HttpSettings;

  constructor(label: string, dispatch: Dispatch, credentials: Credentials, settings: HttpSettings) {
    this.label = label;
    this.#dispatch = dispatch;
    this.#credentials = credentials;
    this.#settings = settings;
  }

  /** Settles with the last answer, whatever its status; rejects when there is none. */
  async send(request: HttpRequest): Promise<HttpAnswer> {
    const { signal } = request;
    let { url } = request;
    let isTrusted = true;
    let redirects = 0;
    let waits = 0;
    let renewed = false;
    let refusals = 0;
    let late = 0;
    for (;;) {
      const { generation } = this.#credentials;
      const login = isTrusted ? this.#credentials.login() : undefined;
      const authorization = isPromise(login) ? await orAborted(login, signal, () => {}) : login;
      const answer = await this.#once({ ...request, url }, isTrusted, authorization);
      const { status } = answer;
      if (isRedirect(status)) {
        const next = classifyRedirect({
          status,
          method: request.method,
          location: answer.header('location'),
          from: url,
          allowCrossOrigin: this.#settings.allowCrossOriginRedirects,
          left: this.#settings.maxRedirects - redirects,
        });
        answer.discard();
        if (next.kind === 'refuse') throw statusFailure(this.label, { status, excerpt: next.why });
        redirects += 1;
        url = next.url;
        // A foreign server must not choose where our credentials go, even if it redirects back.
        isTrusted &&= next.sameOrigin;
      } else if (status === 401 && isTrusted && !renewed && this.#settings.onUnauthorized) {
        const wwwAuthenticate = answer.header('www-authenticate');
        const challenge = { url: request.url.href, status, wwwAuthenticate };
        const again = await orAborted(this.#credentials.renew(generation, challenge), signal, () => {});
        if (!again) return answer;
        answer.discard();
        renewed = true;
      } else if ((status === 401 || status === 403) && isTrusted && refusals < MAX_REFUSALS) {
        // Another request has renewed the login while this one was under way: nothing has to be done for it.
        const current = this.#credentials.login();
        if (status === 401 && typeof current === 'string' && current !== authorization && late < MAX_LATE) {
          answer.discard();
          late += 1;
          continue;
        }
        const wwwAuthenticate = answer.header('www-authenticate');
        const refusal = { status, wwwAuthenticate, authorization, attempt: refusals } as const;
        const again = await orAborted(this.#credentials.refused(refusal), signal, () => {});
        if (!again) return withoutToken(answer, authorization);
        answer.discard();
        refusals += 1;
      } else if (status === 429 || status === 503) {
        const wait = this.retryAfter(answer);
        if (wait === undefined || wait > this.#settings.maxRetryAfterMs || waits >= MAX_WAITS) return answer;
        answer.discard();
        waits += 1;
        await pause(this.#settings.clock, wait, signal);
      } else return answer;
    }
  }

  retryAfter(answer: HttpAnswer): number | undefined {
    return retryAfterMs(answer.header('retry-after'), this.#settings.clock.now());
  }

  async #once(
    request: HttpRequest,
    isTrusted: boolean,
    authorization: string | undefined,
  ): Promise<HttpAnswer> {
    const own = isTrusted ? await this.#credentials.headers() : {};
    if (authorization !== undefined) own['authorization'] ??= authorization;
    try {
      return await this.#dispatch({ ...request, headers: { ...own, ...request.headers } });
    } catch (error) {
      request.signal.throwIfAborted();
      throw networkFailure(error, this.label);
    }
  }
}

/** A refresh, a new login and a step-up. */
const MAX_REFUSALS = 3;
/** How often one request is repeated because its token was replaced meanwhile. */
const MAX_LATE = 3;
/** How often one request waits for a busy server. */
const MAX_WAITS = 3;

/** `Retry-After`: seconds or a date (RFC 9110 §10.2.3), in milliseconds from now; `undefined` for anything else. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  // An HTTP date begins with a day; `Date.parse` alone accepts almost any text.
  const date = /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** What to do about a redirect. */
export type Redirect =
  | { readonly kind: 'follow'; readonly url: URL; readonly sameOrigin: boolean }
  | { readonly kind: 'refuse'; readonly why: string };

export interface RedirectFacts {
  readonly status: number;
  readonly method: string;
  readonly location: string | undefined;
  readonly from: URL;
  readonly allowCrossOrigin: boolean;
  /** How many more may be followed. */
  readonly left: number;
}

export function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

/** Only 307 and 308 keep method and body. The others may turn a POST into a GET. */
export function classifyRedirect(facts: RedirectFacts): Redirect {
  const { status, method, location, from, allowCrossOrigin, left } = facts;
  if (location === undefined || !URL.canParse(location, from.href)) {
    return { kind: 'refuse', why: 'a redirect without a valid Location' };
  }
  const url = new URL(location, from);
  const target = `${url.origin}${url.pathname}`;
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return { kind: 'refuse', why: `a redirect to ${url.protocol}` };
  }
  if (method !== 'GET' && status !== 307 && status !== 308) {
    return {
      kind: 'refuse',
      why: `a redirect to ${target} that would change the request; use that URL instead`,
    };
  }
  const sameOrigin = url.origin === from.origin;
  if (!sameOrigin && !allowCrossOrigin) {
    return { kind: 'refuse', why: `a redirect to another origin (${target}), which is not followed` };
  }
  if (left <= 0) return { kind: 'refuse', why: `too many redirects (the next one to ${target})` };
  return { kind: 'follow', url, sameOrigin };
}

/** The caller's headers, and how they are renewed. One for all connections of a connector. */
export class Credentials {
  readonly #settings: HttpSettings;
  readonly #url: URL;
  /** The login, if there is one; a promise until the first request has it. */
  #auth: ServerAuth | Promise<ServerAuth> | undefined;
  #renewed: HeaderRecord = {};
  /** Grows with each renewal. A request that was refused with older headers is repeated without another renewal. */
  #generation = 0;
  #renewing: Promise<boolean> | undefined;

  constructor(settings: HttpSettings, url: URL) {
    this.#settings = settings;
    this.#url = url;
  }

  /** The header `Authorization` of the login. Undefined without a login, or where the caller has set the header. */
  login(): string | undefined | Promise<string | undefined> {
    const auth = this.#login;
    if (!auth) return undefined;
    this.#auth ??= auth.forServer(this.#url);
    if (!isPromise(this.#auth)) return this.#auth.authorization();
    return this.#auth.then((opened) => {
      this.#auth = opened;
      return opened.authorization();
    });
  }

  /** Extensions of the protocol that the login uses. */
  get extensions(): HttpAuth['extensions'] {
    return this.#login?.extensions;
  }

  get #login(): HttpAuth | undefined {
    const { auth, headers } = this.#settings;
    return typeof headers === 'object' && hasAuthorization(headers) ? undefined : auth;
  }

  async refused(refusal: AuthRefusal): Promise<boolean> {
    const auth = await this.#auth;
    if (!auth) return false;
    try {
      return await auth.refused(refusal);
    } catch (error) {
      throw callerFailed('http: the login', 'UNAUTHORIZED', error).with({ status: refusal.status });
    }
  }

  get generation(): number {
    return this.#generation;
  }

  /** Names are in lower case, so that each occurs once. */
  async headers(): Promise<Record<string, string>> {
    const { headers } = this.#settings;
    if (typeof headers !== 'function') return { ...lower(headers ?? {}), ...this.#renewed };
    try {
      const own = await headers();
      checkHeaders(own);
      return { ...lower(own), ...this.#renewed };
    } catch (error) {
      throw callerFailed('http: the function for headers', 'INVALID_OPTION', error);
    }
  }

  /** Asks the caller for new headers. True: repeat the request. Concurrent requests share one renewal. */
  renew(refused: number, challenge: Challenge): Promise<boolean> {
    if (refused < this.#generation) return Promise.resolve(true);
    this.#renewing ??= this.#replace(challenge).finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #replace(challenge: Challenge): Promise<boolean> {
    const headers = await this.#renewal(challenge);
    if (!headers) return false;
    this.#renewed = { ...this.#renewed, ...lower(headers) };
    this.#generation += 1;
    return true;
  }

  async #renewal(challenge: Challenge): Promise<HeaderRecord | undefined> {
    try {
      const headers = await this.#settings.onUnauthorized?.(challenge);
      if (headers) checkHeaders(headers);
      return headers;
    } catch (error) {
      throw callerFailed('http: onUnauthorized', 'UNAUTHORIZED', error).with({ status: challenge.status });
    }
  }
}

function hasAuthorization(headers: HeaderRecord): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return value instanceof Promise;
}

function lower(headers: HeaderRecord): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
