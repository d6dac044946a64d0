import { identify } from '../../transport/http-server/authentication.js';
import { jsonHeaders, NO_HEADERS } from '../../transport/http-server/event-text.js';
import type { HttpExchange, HttpHeaders } from '../../transport/http-server/exchange.js';
import { admit } from '../../transport/http-server/guard.js';
import {
  type HttpEndpointOptions,
  type HttpEndpointSettings,
  resolveEndpoint,
} from '../../transport/http-server/options.js';
import { refuse } from '../../transport/http-server/visit.js';
import type { GatewayStatus } from '../status.js';
import { isHealthy } from '../unit-state.js';

export interface PagesOptions {
  /** Who may read what is not for everybody. */
  readonly endpoint: HttpEndpointOptions;
  /** More paths that say whether it is alive. */
  readonly healthPaths?: readonly string[] | undefined;
  status(): Promise<GatewayStatus>;
  /** The names of the servers that are needed and are not ready. */
  unready(): Promise<readonly string[]>;
  metrics(): Promise<{ readonly type: string; readonly text: string }>;
}

/** The pages for whoever runs it: `/healthz`, `/readyz`, `/status`, `/metrics`. */
export class Pages {
  readonly #options: PagesOptions;
  readonly #settings: HttpEndpointSettings;

  constructor(options: PagesOptions) {
    this.#options = options;
    // No server is asked for here: a token is good for any path.
    this.#settings = { ...resolveEndpoint(options.endpoint), resourcePlace: undefined };
  }

  /** Answers whatever belongs to no server. */
  answer(path: string, exchange: HttpExchange): void {
    const page = PAGES[path] ?? (this.#options.healthPaths?.includes(path) ? 'healthz' : undefined);
    const isRead = exchange.method === 'GET' || exchange.method === 'HEAD';
    if (page && !isRead) {
      return refuse({ exchange, headers: {} }, 405, 'This is only to be read', { allow: 'GET, HEAD' });
    }
    const shown = page ? this.#show(page, exchange) : this.#showNothing(path, exchange);
    void shown.catch(() => respond(exchange, 500, { error: 'Internal error' }));
  }

  /** Strangers do not learn which servers there are by trying names: theirs is the same answer for all. */
  async #showNothing(path: string, exchange: HttpExchange): Promise<void> {
    if (!(await this.#isWelcome(exchange))) return;
    const error = `There is nothing at ${path}; /status has the addresses of the servers`;
    respond(exchange, 404, { error });
  }

  async #show(page: Page, exchange: HttpExchange): Promise<void> {
    switch (page) {
      case 'healthz':
        return respond(exchange, 200, { alive: true });
      case 'readyz': {
        const unready = await this.#options.unready();
        const isReady = unready.length === 0;
        // Names are nothing for those who have yet to say who they are, nor for pages of other sites.
        const isStranger =
          this.#settings.authenticate !== undefined || admit(exchange, this.#settings).kind === 'refused';
        const waitingFor = isStranger ? unready.length : unready;
        return respond(
          exchange,
          isReady ? 200 : 503,
          isReady ? { ready: true } : { ready: false, waitingFor },
        );
      }
      default:
        if (await this.#isWelcome(exchange)) await this.#showInside(page, exchange);
    }
  }

  async #showInside(page: 'status' | 'metrics', exchange: HttpExchange): Promise<void> {
    if (page === 'metrics') {
      const { type, text } = await this.#options.metrics();
      return exchange.respond(200, { 'content-type': type, ...FRESH }, text);
    }
    const status = await this.#options.status();
    const isAnyHealthy = Object.values(status.servers).some(isHealthy);
    respond(exchange, isAnyHealthy ? 200 : 503, status);
  }

  /** The same doors as for everybody else: pages of other sites, strange hosts, strangers. */
  async #isWelcome(exchange: HttpExchange): Promise<boolean> {
    const stranger = { exchange, headers: NO_HEADERS };
    const admission = admit(exchange, this.#settings);
    if (admission.kind === 'refused') {
      refuse(stranger, admission.status, admission.why);
      return false;
    }
    if (!this.#settings.authenticate) return true;
    const caller = await identify(exchange, this.#settings);
    if (caller.kind === 'refused') refuse(stranger, caller.status, caller.why, caller.headers);
    return caller.kind === 'known';
  }
}

type Page = 'healthz' | 'readyz' | 'status' | 'metrics';

const PAGES: Readonly<Record<string, Page>> = Object.assign(Object.create(null), {
  '/healthz': 'healthz',
  '/health': 'healthz',
  '/livez': 'healthz',
  '/ping': 'healthz',
  '/readyz': 'readyz',
  '/ready': 'readyz',
  '/status': 'status',
  '/metrics': 'metrics',
});

const FRESH: HttpHeaders = { 'cache-control': 'no-store' };

function respond(exchange: HttpExchange, status: number, value: unknown): void {
  exchange.respond(status, jsonHeaders(FRESH), `${JSON.stringify(value)}\n`);
}
