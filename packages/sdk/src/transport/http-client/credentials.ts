import { callerFailed } from './failures.js';
import { type Challenge, checkHeaders, type HeaderRecord, type HttpSettings } from './options.js';

/** The caller's headers, and how they are renewed. One for all connections of a connector. */
export class Credentials {
  readonly #settings: HttpSettings;
  #renewed: HeaderRecord = {};
  /** Goes up with each renewal: whoever was refused with older headers just tries again. */
  #generation = 0;
  #renewing: Promise<boolean> | undefined;

  constructor(settings: HttpSettings) {
    this.#settings = settings;
  }

  get generation(): number {
    return this.#generation;
  }

  /** Names in lower case, so that each is there once. */
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

  /** Whether there is reason to try again. Whoever comes while it is being found out waits for the same answer. */
  renew(refused: number, challenge: Challenge): Promise<boolean> {
    if (refused < this.#generation) return Promise.resolve(true);
    this.#renewing ??= this.#ask(challenge).finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #ask(challenge: Challenge): Promise<boolean> {
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

function lower(headers: HeaderRecord): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
