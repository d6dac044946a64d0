import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { addressRule } from '@isthmus/sdk/internal/oauth/discovery/addresses.js';
import { metadataUrls } from '@isthmus/sdk/internal/oauth/discovery/authorization-server.js';
import { createOAuthHttp } from '@isthmus/sdk/internal/oauth/discovery/oauth-http.js';
import type { HttpExchange } from '@isthmus/sdk/internal/transport/http-server/exchange/exchange.js';

/**
 * Sends clients of 2025-03-26 to the authorization server: they look for its metadata at the origin of the MCP server. The document
 * itself comes from there, so its issuer is right (G9).
 */
export class AuthServerMirror {
  readonly #issuer: URL;
  readonly #clock: Clock;
  readonly #http;
  #found: { readonly url: string; readonly until: number } | undefined;
  /** Anyone can ask here, and must not make the gateway ask the authorization server each time. */
  #awayUntil = 0;
  #finding: Promise<string | undefined> | undefined;

  constructor(issuer: string, clock: Clock) {
    this.#issuer = new URL(issuer);
    this.#clock = clock;
    // The operator has named it.
    this.#http = createOAuthHttp({ rule: addressRule({ server: this.#issuer, allowPrivate: true }) });
  }

  /** False: it is another path. */
  answer(path: string, exchange: HttpExchange): boolean {
    const isOurs = PATHS.some((each) => path === each || path.startsWith(`${each}/`));
    if (!isOurs) return false;
    if (exchange.method !== 'GET' && exchange.method !== 'HEAD') {
      exchange.respond(405, { ...PUBLIC, allow: 'GET, HEAD' });
      return true;
    }
    void this.#where().then((url) => {
      if (url === undefined) exchange.respond(503, { ...PUBLIC, 'retry-after': String(AWAY_MS / 1000) });
      else exchange.respond(302, { ...PUBLIC, location: url, 'cache-control': 'max-age=600' });
    });
    return true;
  }

  async #where(): Promise<string | undefined> {
    const now = this.#clock.now();
    if (this.#found && now < this.#found.until) return this.#found.url;
    if (now < this.#awayUntil) return this.#found?.url;
    this.#finding ??= this.#find().finally(() => {
      this.#finding = undefined;
    });
    return this.#finding;
  }

  /** The first of the well-known addresses that has a document. */
  async #find(): Promise<string | undefined> {
    for (const url of metadataUrls(this.#issuer)) {
      const status = await this.#http.send(url, { method: 'GET', redirects: 3 }).then(
        (response) => response.status,
        () => 0,
      );
      if (status !== 200) continue;
      this.#found = { url: url.href, until: this.#clock.now() + KEPT_MS };
      return url.href;
    }
    this.#awayUntil = this.#clock.now() + AWAY_MS;
    // What was found before may still be right.
    return this.#found?.url;
  }
}

const PATHS = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'];
const PUBLIC = { 'access-control-allow-origin': '*', 'x-content-type-options': 'nosniff' };
const KEPT_MS = 600_000;
const AWAY_MS = 5000;
