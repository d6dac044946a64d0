import { isDeepStrictEqual } from 'node:util';
import { type Clock, systemClock, within } from '@isthmus/sdk/internal/async/clock.js';
import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import type { AccessSettings } from '@isthmus/sdk/internal/config/gateway/read-access.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { HomeRequest } from '@isthmus/sdk/internal/exchange/connection.js';
import { createHost, type Host } from '@isthmus/sdk/internal/host/create-host.js';
import { httpAddress } from '@isthmus/sdk/internal/transport/address.js';
import type { Authorize } from '@isthmus/sdk/internal/transport/http-server/admission/authorize.js';
import type { Authenticate, CoversScopes } from '@isthmus/sdk/internal/transport/http-server/options.js';
import { AccessPolicy } from './access/access-policy.js';
import { createAuthorize } from './access/create-authorize.js';
import { Aggregate } from './aggregate/aggregate.js';
import { reviewTasks } from './aggregate/shared-tasks.js';
import { deniedRecord, refusedRecord } from './audit/audit-access.js';
import { sharedEras } from './cluster/shared-eras.js';
import { type OpenConnect, openConnect } from './connect/open-connect.js';
import {
  type AppliedChanges,
  type CloseOptions,
  checkGatewayOptions,
  type Gateway,
  type GatewayOptions,
} from './gateway.js';
import { GatewayServer, type GatewayServerContext } from './gateway-server.js';
import { GATEWAY, parkedAt, statusOf, unreadyAmong } from './gateway-status.js';
import { AdminPages } from './http/admin-pages.js';
import { AuthServerMirror } from './http/mirror-auth-server.js';
import { MainPath } from './main-path.js';
import { CallerTokens } from './personal/caller-tokens.js';
import { Placement, type ServerPlacement } from './placement/placement.js';
import { canStay, changesBetween, definitionsOf, pathsOf } from './reload-plan.js';
import { isHttp, ServedPlaces } from './served-places.js';
import { type GatewayServerSpec, validateServer } from './server-definition.js';
import type { GatewayStatus } from './server-state.js';
import { metricsOfWorkers } from './workers/metrics-of-workers.js';

export type { AppliedChanges, Gateway, GatewayOptions } from './gateway.js';

/**
 * Serves many servers at one address. It opens the addresses and starts the servers, and does not wait until they are
 * ready.
 *
 * @example
 * ```ts
 * import { createGateway } from '@isthmus/gateway';
 * import { connect, http } from '@isthmus/sdk';
 *
 * const gateway = await createGateway({
 *   addresses: ['http://127.0.0.1:0/mcp'],
 *   units: [
 *     { kind: 'command', name: 'hello', command: 'node', args: ['server.js'], cwd: process.cwd(), env: {} },
 *   ],
 * });
 * const client = await connect(http(`${gateway.addresses[0]!}/hello`));
 * const { content } = await client.callTool('hello');
 * console.log(content); // prints: [ { type: 'text', text: 'Hello!' } ]
 * await client.close();
 * await gateway.close();
 * ```
 */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  checkGatewayOptions(options);
  const gateway = new MultiServerGateway(options);
  await gateway.open();
  return gateway;
}

class MultiServerGateway implements Gateway {
  configProblem: string | undefined;
  readonly #options: GatewayOptions;
  readonly #clock: Clock;
  readonly #host: Host;
  readonly #aggregate: Aggregate;
  readonly #main: MainPath;
  readonly #context: GatewayServerContext;
  readonly #places: ServedPlaces;
  readonly #placement: Placement | undefined;
  readonly #access: AccessPolicy;
  readonly #connect: OpenConnect | undefined;
  readonly #graceMs: number;
  readonly #startedAt: number;
  readonly #ended = createDeferred<void>();
  readonly #over = new AbortController();
  #servers: ReadonlyMap<string, GatewayServer> = new Map();
  #closing: Promise<void> | undefined;
  #endReviews: (() => void) | undefined;

  constructor(options: GatewayOptions) {
    const { clock = systemClock, graceMs = 10_000 } = options;
    const specs = options.units.map(validateServer);
    const callers = new CallerTokens();
    this.#access = new AccessPolicy(options.access);
    this.#options = watchingCallers(options, callers, this.#access);
    this.#clock = clock;
    this.#graceMs = graceMs;
    this.#startedAt = clock.now();
    const { tap, cluster } = options;
    // A process that starts knows what the others have found out about the servers.
    const cache = cluster ? sharedEras(cluster, options.host?.cache) : options.host?.cache;
    this.#host = createHost({
      clock,
      ...(tap && { tap }),
      ...options.host,
      ...(cache !== undefined && { cache }),
      servers: definitionsOf(specs, options.cluster !== undefined),
    });
    this.#aggregate = new Aggregate({
      info: options.info ?? GATEWAY,
      separator: options.separator,
      patienceMs: options.patienceMs,
      clock,
    });
    this.#main = new MainPath(options, this.#aggregate, () => this.#servers);
    const { separator = '__', endpoint } = options;
    const hasPrincipals = endpoint?.authenticate !== undefined;
    this.#placement = cluster && new Placement({ cluster, separator, hasPrincipals });
    this.#connect = openConnect(this.#options, clock, () => this.addresses.find(isHttp)!);
    this.#places = new ServedPlaces({
      ...{ ...this.#options, graceMs, clock },
      authorize: (server) => this.#authorizeAt(server),
      home: this.#placement && ((server, request) => this.#homeFor(server, request)),
    });
    const changed = (server: GatewayServer) => {
      this.#aggregate.review(server);
      options.onChange?.(server.name);
    };
    this.#context = {
      host: this.#host,
      clock,
      cache,
      tap,
      tellsStderr: options.tellsStderr ?? false,
      clean: (text) => options.redactor?.text(text) ?? text,
      observer: options.observer,
      rate: options.rate,
      cluster,
      access: this.#access,
      audit: options.audit,
      taskStore: options.taskStore,
      connect: this.#connect,
      callers,
      around: (service, spec) => options.around?.(service, spec) ?? service,
      onChange: changed,
      onStartFailed: (name, error) => options.onStartFailed?.(name, error),
    };
    this.#host.watch((event) => {
      options.onHostEvent?.(event);
      const server = this.#servers.get(event.server);
      if (server && STATE_EVENTS.has(event.kind)) changed(server);
    });
  }

  get addresses(): readonly string[] {
    return this.#places.addresses;
  }

  get names(): readonly string[] {
    return [...this.#servers.keys()];
  }

  get definitions(): readonly GatewayServerSpec[] {
    return this.#all().map(({ definition }) => definition);
  }

  get coversScopes(): CoversScopes {
    return this.#access.coversScopes;
  }

  get closing(): AbortSignal {
    return this.#over.signal;
  }

  get closed(): Promise<void> {
    return this.#ended.promise;
  }

  async open(): Promise<void> {
    const { addresses, units, endpoint, metrics, healthPaths, operators, cluster } = this.#options;
    const { mirrorAuthServer, taskStore } = this.#options;
    const ownMetrics = async () =>
      (await metrics?.(() => this.#host.status())) ?? { type: 'text/plain', text: '' };
    const mirror =
      mirrorAuthServer === undefined ? undefined : new AuthServerMirror(mirrorAuthServer, this.#clock);
    const pages = new AdminPages({
      endpoint: {
        ownNames: addresses.filter(isHttp).map((each) => httpAddress(each).host),
        ...endpoint,
        // A path without a server has the challenge of one with a server.
        authorize: this.#authorizeAt(undefined),
      },
      healthPaths,
      operators,
      mainPath: addresses.filter(isHttp).map((each) => httpAddress(each).path)[0],
      connect: (path, exchange) => this.#connect?.router.answer(path, exchange) ?? false,
      mirror: mirror && ((path, exchange) => mirror.answer(path, exchange)),
      status: () => this.status(),
      unready: () => unreadyAmong(this.#all()),
      parked: () => parkedAt(this.#host, this.names),
      isDraining: () => cluster?.members.isDraining ?? false,
      metrics: cluster ? metricsOfWorkers(cluster, ownMetrics, this.closed) : ownMetrics,
    });
    try {
      await this.#places.openHttp(pages);
      await this.#take(units.map(validateServer));
      this.#places.begin();
      const streams = await this.#places.openStreams(this.#main.streamService(), this.#all());
      const bridgeOf = (name: string) => this.#servers.get(name)?.bridge;
      if (taskStore && !this.closing.aborted)
        this.#endReviews = reviewTasks(taskStore, this.#clock, bridgeOf);
      void streams?.closed.then(() => this.close());
    } catch (error) {
      await this.close({ graceMs: 0 });
      throw error;
    }
  }

  unit(name: string): GatewayServer {
    const server = this.#servers.get(name);
    if (server) return server;
    const known = this.#servers.size > 0 ? `there are ${this.names.join(', ')}` : 'there are none';
    throw new IsthmusError('INVALID_OPTION', `There is no server ${JSON.stringify(name)}; ${known}`);
  }

  apply(units: readonly GatewayServerSpec[], access?: AccessSettings): AppliedChanges {
    const specs = units.map(validateServer);
    if (access) this.#access.replace(access);
    const before = this.definitions;
    this.#host.configure(definitionsOf(specs, this.#placement !== undefined)).catch(() => {});
    void this.#take(specs);
    return changesBetween(before, specs);
  }

  status(): Promise<GatewayStatus> {
    return statusOf(this, this.#all(), this.#options, this.#startedAt);
  }

  async unready(): Promise<readonly string[]> {
    return (await unreadyAmong(this.#all())).map(({ name }) => name);
  }

  async close({ graceMs = this.#graceMs, abortMs = 0 }: CloseOptions = {}): Promise<void> {
    this.#over.abort();
    this.#endReviews?.();
    // A second call may shorten the times of the first one.
    const drained = this.#places.close({ graceMs, abortMs });
    this.#closing ??= (async () => {
      await drained;
      await Promise.all(this.#all().map((server) => server.close()));
      await this.#host.close();
      await this.#places.release();
      this.#ended.resolve();
    })();
    await drained;
    await this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Adds the servers that are new or whose offer has changed, and removes those that are gone. */
  async #take(specs: readonly GatewayServerSpec[]): Promise<void> {
    this.#placement?.setServers(specs);
    const before = this.#servers;
    const after = new Map<string, GatewayServer>();
    const opening: Promise<unknown>[] = [];
    for (const spec of specs) {
      const known = before.get(spec.name);
      if (known && canStay(known.definition, spec)) {
        if (!isDeepStrictEqual(known.definition, spec)) known.redefine(spec);
        after.set(spec.name, known);
        continue;
      }
      const server = new GatewayServer(spec, this.#context);
      after.set(spec.name, server);
      opening.push(this.#places.addServer(server, pathsOf(spec.name)));
    }
    this.#servers = after;
    const gone = [...before].filter(([name, server]) => after.get(name) !== server);
    this.#aggregate.setMembers(this.#all());
    opening.push(this.#places.setMain(() => ({ service: this.#main.service(), servers: this.#all() })));
    for (const [, server] of gone) void this.#dismiss(server);
    for (const server of after.values()) {
      const isElsewhere = this.#placement?.isElsewhere(server.definition) ?? false;
      if (before.get(server.name) !== server && !isElsewhere) startIfEager(server);
    }
    await Promise.all(opening);
  }

  #homeFor(server: GatewayServer | undefined, request: HomeRequest): string | undefined {
    // Asked for each call: most gateways have servers that any member can serve.
    if (!this.#placement?.isNeeded) return undefined;
    const servers = server ? [server] : this.#all();
    return this.#placement.homeFor(
      servers.map(({ definition }) => definition),
      request,
    );
  }

  isElsewhere(name: string): boolean {
    return this.#placement?.isElsewhere(this.unit(name).definition) ?? false;
  }

  placements(): Readonly<Record<string, ServerPlacement>> {
    return this.#placement?.describe(this.definitions) ?? {};
  }

  async #dismiss(server: GatewayServer): Promise<void> {
    // Calls of the aggregate reach it, too.
    const drained = within(this.#clock, this.#graceMs, this.#aggregate.drained(server));
    await Promise.all([this.#places.removeServer(server), drained]);
    await server.close();
  }

  /** The decisions of the endpoint of one server, or of the main path. */
  #authorizeAt(server: GatewayServer | undefined): Authorize {
    const { audit } = this.#options;
    return createAuthorize({
      access: this.#access,
      server,
      find: (message, caller) => this.#main.targetOf(message, caller),
      learn: (request) => this.#main.learnTools(request, this.#clock),
      ...(audit && {
        onDenied: (denied) => audit.refuse(deniedRecord(denied, audit)),
        onRefused: (refused) =>
          audit.isActive() ? audit.refuse(refusedRecord(refused, server?.name)) : undefined,
      }),
    });
  }

  #all(): readonly GatewayServer[] {
    return [...this.#servers.values()];
  }
}

/** The tokens of callers are seen where they are checked, and nowhere else. A scope may include those that all callers need. */
function watchingCallers(
  options: GatewayOptions,
  callers: CallerTokens,
  access: AccessPolicy,
): GatewayOptions {
  const { endpoint } = options;
  if (!endpoint?.authenticate) return options;
  const watched = callers.watch(endpoint.authenticate);
  const { coversScopes: covers } = access;
  const authenticate: Authenticate = (request) =>
    watched(access.hasImplied ? { ...request, covers } : request);
  return { ...options, endpoint: { ...endpoint, authenticate } };
}

function startIfEager(server: GatewayServer): void {
  const { kind, start, disabled } = server.definition;
  const isLazy = kind === 'command' && start === 'lazy';
  // The status has the error, and `onStartFailed` has reported it.
  if (!isLazy && !disabled) server.start().catch(() => {});
}

const STATE_EVENTS: ReadonlySet<string> = new Set([
  'start',
  'ready',
  'receipt',
  'exit',
  'restart',
  'crash-loop',
  'drain',
]);
