import { withoutStderr } from '@isthmus/sdk/internal/bridge/upstream-errors.js';
import type { LastExit, ServerStatus } from '@isthmus/sdk/internal/host/status.js';
import {
  authenticateRequest,
  passGuard,
  tellRefused,
} from '@isthmus/sdk/internal/transport/http-server/admission/authenticate.js';
import { admit, isFromHere } from '@isthmus/sdk/internal/transport/http-server/admission/guard.js';
import { believeProxy } from '@isthmus/sdk/internal/transport/http-server/admission/trust-proxy.js';
import { refuse } from '@isthmus/sdk/internal/transport/http-server/exchange/admitted-request.js';
import {
  jsonHeaders,
  NO_HEADERS,
  UNREADABLE_ELSEWHERE,
} from '@isthmus/sdk/internal/transport/http-server/exchange/event-writer.js';
import type {
  HttpExchange,
  HttpHeaders,
} from '@isthmus/sdk/internal/transport/http-server/exchange/exchange.js';
import {
  type HttpEndpointOptions,
  type HttpEndpointSettings,
  resolveEndpoint,
} from '@isthmus/sdk/internal/transport/http-server/options.js';
import {
  type GatewayServerStatus,
  type GatewayStatus,
  isHealthy,
  type UnreadyServer,
} from '../server-state.js';
import { homePage } from './home-page.js';
import { resourceAt, serverPathOf } from './resource-at.js';

export interface AdminPagesOptions {
  /** The access rules for the pages that are not public. */
  readonly endpoint: HttpEndpointOptions;
  /** The principals that see all of `/status` and `/metrics`. Others see the states of the servers. */
  readonly operators?: readonly string[] | undefined;
  /** The path of the first HTTP address, for the page at `/`. Default `/mcp`. */
  readonly mainPath?: string | undefined;
  /** More paths that answer as `/healthz` does. */
  readonly healthPaths?: readonly string[] | undefined;
  /** Answers the pages at which callers log in to servers. False: it is another path. */
  connect?(path: string, exchange: HttpExchange): boolean;
  /** Answers the addresses at which some clients look for an authorization server. False: it is another path. */
  mirror?(path: string, exchange: HttpExchange): boolean;
  status(): Promise<GatewayStatus>;
  /** The servers that are needed and are not ready. */
  unready(): Promise<readonly UnreadyServer[]>;
  /** How many calls wait for an answer to a question, and whether that is the limit at any server. */
  parked?(): { readonly count: number; readonly isFull: boolean };
  /** Whether other processes of the cluster serve new clients instead of this one. */
  isDraining?(): boolean;
  metrics(): Promise<{ readonly type: string; readonly text: string }>;
}

/** The pages for operators: `/healthz`, `/readyz`, `/status`, `/metrics`; and `/` for people with a browser. */
export class AdminPages {
  readonly #options: AdminPagesOptions;
  readonly #settings: HttpEndpointSettings;
  readonly #operators: ReadonlySet<string>;

  constructor(options: AdminPagesOptions) {
    this.#options = options;
    this.#operators = new Set(options.operators);
    // These pages belong to no server, so a token for any path is accepted.
    this.#settings = { ...resolveEndpoint(options.endpoint), resourcePlace: undefined };
  }

  /** Answers all paths that do not belong to a server. */
  answer(path: string, exchange: HttpExchange): void {
    believeProxy(exchange, this.#settings.trustsProxy);
    if (this.#options.connect?.(path, exchange) || this.#options.mirror?.(path, exchange)) return;
    const page = PAGES[path] ?? (this.#options.healthPaths?.includes(path) ? 'healthz' : undefined);
    const isRead = exchange.method === 'GET' || exchange.method === 'HEAD';
    // A client that posts to the root has the wrong path: it gets the answer of any unknown path.
    if (page && page !== 'home' && !isRead) {
      return refuse({ exchange, headers: {} }, 405, 'This is only to be read', { allow: 'GET, HEAD' });
    }
    const shown = page && isRead ? this.#show(page, exchange) : this.#showNothing(path, exchange);
    void shown.catch(() => respond(exchange, 500, { error: 'Internal error' }));
  }

  /**
   * An unauthenticated client must not learn the names of servers by trying them. It gets the same answer as from a server
   * with that name, with its metadata and its challenge.
   */
  async #showNothing(path: string, exchange: HttpExchange): Promise<void> {
    const { endpoint, mainPath } = this.#options;
    const mainPaths = mainPath === undefined ? [] : [mainPath];
    const own = serverPathOf(path, mainPaths, endpoint);
    const settings = { ...this.#settings, path: own, ...resourceAt(own, mainPaths, endpoint) };
    const headers = passGuard(exchange, path, settings);
    if (!headers || !(await authenticateRequest(exchange, headers, settings))) return;
    const error = `There is nothing at ${path}; /status has the addresses of the servers`;
    respond(exchange, 404, { error });
  }

  async #show(page: Page, exchange: HttpExchange): Promise<void> {
    switch (page) {
      case 'healthz':
        return respond(exchange, 200, { alive: true });
      case 'readyz': {
        const unready = await this.#options.unready();
        const draining = this.#options.isDraining?.() ? { draining: true } : {};
        const isReady = unready.length === 0 && !('draining' in draining);
        // Unauthenticated clients and pages of other sites get the number of servers, and not their names.
        const isStranger =
          this.#settings.authenticate !== undefined || admit(exchange, this.#settings).kind === 'refused';
        const told = (servers: readonly UnreadyServer[]) =>
          isStranger ? servers.length : servers.map(({ name }) => name);
        const missing = unready.filter(({ needsLogin }) => needsLogin);
        const { count = 0, isFull = false } = this.#options.parked?.() ?? {};
        const parked = count > 0 ? { parked: count, ...(isFull && { parkedFull: true }) } : {};
        const needsLogin = missing.length > 0 ? { needsLogin: told(missing) } : {};
        const answer = isReady ? { ready: true } : { ready: false, waitingFor: told(unready), ...needsLogin };
        return respond(exchange, isReady ? 200 : 503, { ...answer, ...draining, ...parked });
      }
      case 'home':
        return this.#showHome(exchange);
      default:
        return this.#showInside(page, exchange);
    }
  }

  /** For everyone whose Host is accepted. It says nothing about the servers. */
  async #showHome(exchange: HttpExchange): Promise<void> {
    if (!passGuard(exchange, '/', this.#settings)) return;
    const { mainPath = '/mcp' } = this.#options;
    const address = `http://${exchange.header('host') ?? 'localhost'}${mainPath}`;
    const { type, text } = homePage(address, (exchange.header('accept') ?? '').includes('text/html'));
    exchange.respond(200, { 'content-type': type, 'content-security-policy': POLICY, ...FRESH }, text);
  }

  async #showInside(page: 'status' | 'metrics', exchange: HttpExchange): Promise<void> {
    const headers = passGuard(exchange, page, this.#settings);
    const caller = headers && (await authenticateRequest(exchange, headers, this.#settings));
    if (!caller) return;
    const sight = this.#sightOf(caller.principal, exchange);
    if (page === 'status') {
      const status = await this.#options.status();
      const isAnyHealthy = Object.values(status.servers).some(isHealthy);
      return respond(exchange, isAnyHealthy ? 200 : 503, VIEWS[sight](status));
    }
    if (sight === 'health' && caller.principal !== undefined) {
      const why = 'The metrics are for operators: --operator names one';
      const { principal, grant } = caller;
      const refusal = { status: 403, why: 'The caller is not an operator' } as const;
      const who = { caller: { principal, clientId: grant?.clientId } };
      const data = tellRefused(exchange, this.#settings, { ...refusal, ...who });
      return refuse({ exchange, headers: NO_HEADERS }, 403, why, undefined, data);
    }
    const { type, text } = await this.#options.metrics();
    exchange.respond(200, { 'content-type': type, ...FRESH }, text);
  }

  /** How much a caller may see of the calls of others and of the output of the servers. */
  #sightOf(principal: string | undefined, exchange: HttpExchange): Sight {
    if (principal !== undefined) return this.#operators.has(principal) ? 'all' : 'health';
    // Every user of this machine can reach a loopback address.
    return isFromHere(exchange) ? 'local' : 'health';
  }
}

type Sight = 'all' | 'local' | 'health';

const VIEWS: Readonly<Record<Sight, (status: GatewayStatus) => unknown>> = {
  all: (status) => status,
  local: withoutWords,
  health: healthView,
};

type Page = 'home' | 'healthz' | 'readyz' | 'status' | 'metrics';

const PAGES: Readonly<Record<string, Page>> = Object.assign(Object.create(null), {
  '/': 'home',
  '/healthz': 'healthz',
  '/health': 'healthz',
  '/livez': 'healthz',
  '/ping': 'healthz',
  '/readyz': 'readyz',
  '/ready': 'readyz',
  '/status': 'status',
  '/metrics': 'metrics',
});

/** The page has a few rules of style, and nothing else. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

const FRESH: HttpHeaders = { 'cache-control': 'no-store', ...UNREADABLE_ELSEWHERE };

function respond(exchange: HttpExchange, status: number, value: unknown): void {
  exchange.respond(status, jsonHeaders(FRESH), `${JSON.stringify(value)}\n`);
}

/** What every client may see: the servers, their paths and their states. */
interface HealthView {
  readonly ready: boolean;
  readonly servers: Readonly<Record<string, Pick<GatewayServerStatus, 'name' | 'state' | 'paths'>>>;
}

function healthView({ ready, servers }: GatewayStatus): HealthView {
  return { ready, servers: mapped(servers, ({ name, state, paths }) => ({ name, state, paths })) };
}

/** For unauthenticated users of this machine: all except what processes wrote to stderr. */
function withoutWords(status: GatewayStatus): GatewayStatus {
  const servers = mapped(status.servers, (unit) => ({
    ...unit,
    reason: unit.reason && withoutStderr(unit.reason),
    processes: unit.processes && quietServer(unit.processes),
  }));
  return { ...status, servers };
}

function quietServer(status: ServerStatus): ServerStatus {
  const processes = status.processes.map((each) => ({ ...each, lastExit: quietExit(each.lastExit) }));
  return { ...status, lastExit: quietExit(status.lastExit), processes };
}

function quietExit(exit: LastExit | undefined): LastExit | undefined {
  return exit && { ...exit, reason: withoutStderr(exit.reason), stderrTail: '' };
}

/** A server can have any name, also `__proto__`. */
function mapped<T, U>(servers: Readonly<Record<string, T>>, change: (unit: T) => U): Record<string, U> {
  const changed: Record<string, U> = Object.create(null);
  for (const [name, unit] of Object.entries(servers)) changed[name] = change(unit);
  return changed;
}
