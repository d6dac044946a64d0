import { orAborted } from '../../async/abort.js';
import type { Credentials } from './credentials.js';
import type { Dispatch, HttpAnswer, HttpRequest } from './dispatch.js';
import { networkFailure, statusFailure } from './failures.js';
import type { HttpSettings } from './options.js';
import { pause } from './pause.js';
import { classifyRedirect, isRedirect } from './redirects.js';

/** Makes requests and sees them through what HTTP puts in the way: redirects, 401, servers that are busy. */
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
  async ask(request: HttpRequest): Promise<HttpAnswer> {
    const { signal } = request;
    let { url } = request;
    let trusted = true;
    let redirects = 0;
    let waits = 0;
    let renewed = false;
    for (;;) {
      const { generation } = this.#credentials;
      const answer = await this.#once({ ...request, url }, trusted);
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
        if (next.kind === 'refuse') throw statusFailure(this.label, { status, words: next.why });
        redirects += 1;
        url = next.url;
        // Once elsewhere, always elsewhere: the way back may be another's choice.
        trusted &&= next.sameOrigin;
      } else if (status === 401 && trusted && !renewed && this.#settings.onUnauthorized) {
        const wwwAuthenticate = answer.header('www-authenticate');
        const challenge = { url: request.url.href, status, wwwAuthenticate };
        const again = await orAborted(this.#credentials.renew(generation, challenge), signal, () => {});
        if (!again) return answer;
        answer.discard();
        renewed = true;
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

  async #once(request: HttpRequest, trusted: boolean): Promise<HttpAnswer> {
    const own = trusted ? await this.#credentials.headers() : {};
    try {
      return await this.#dispatch({ ...request, headers: { ...own, ...request.headers } });
    } catch (error) {
      request.signal.throwIfAborted();
      throw networkFailure(error, this.label);
    }
  }
}

/** How often one request is put off by a busy server before that is the answer. */
const MAX_WAITS = 3;

/** `Retry-After`: seconds or a date (RFC 9110 §10.2.3), in milliseconds from now; `undefined` for anything else. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  // Dates begin with a day; `Date.parse` alone would find one in almost anything.
  const date = /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
