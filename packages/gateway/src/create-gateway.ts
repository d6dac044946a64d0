import { isDeepStrictEqual } from 'node:util';
import { type Clock, systemClock, within } from '@isthmus/sdk/internal/async/clock.js';
import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { Service } from '@isthmus/sdk/internal/exchange/call.js';
import type { Listener } from '@isthmus/sdk/internal/exchange/connection.js';
import { createHost, type Host } from '@isthmus/sdk/internal/host/create-host.js';
import { type Served, serve } from '@isthmus/sdk/internal/server/serve.js';
import { httpAddress, listenerFor } from '@isthmus/sdk/internal/transport/address.js';
import { VERSION } from '@isthmus/sdk/internal/version.js';
import type { Implementation } from '@isthmus/sdk/internal/wire/model.js';
import { Aggregate } from './aggregate/aggregate.js';
import type { AppliedChanges, CloseOptions, Gateway, GatewayOptions } from './gateway.js';
import { GatewayServer, type GatewayServerContext } from './gateway-server.js';
import { AdminPages } from './http/admin-pages.js';
import { openHttpFrontends } from './http/frontend.js';
import { placeKeys } from './place-keys.js';
import { canStay, definitionsOf, isNotMissed, pathsOf } from './reload-plan.js';
import type { GatewayServerSpec } from './server-definition.js';
import type { GatewayServerStatus, GatewayStatus } from './server-state.js';
import { validateServer } from './validate-server.js';

export type { AppliedChanges, Gateway, GatewayOptions } from './gateway.js';

/** Opens the addresses, and starts the servers; it does not wait for them. */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const gateway = new TheGateway(options);
  await gateway.open();
  return gateway;
}

class TheGateway implements Gateway {
  configProblem: string | undefined;
  readonly #options: GatewayOptions;
  readonly #clock: Clock;
  readonly #host: Host;
  readonly #aggregate: Aggregate;
  readonly #context: GatewayServerContext;
  readonly #startedAt: number;
  readonly #ended = createDeferred<void>();
  readonly #over = new AbortController();
  #units: ReadonlyMap<string, PlacedUnit> = new Map();
  #fronts: Awaited<ReturnType<typeof openHttpFrontends>> | undefined;
  /** What is served at the main path, and by whom. */
  #main: { readonly service: Service; readonly served: Served } | undefined;
  /** One change of it after the other. */
  #placing: Promise<void> = Promise.resolve();
  #streams: Served | undefined;
  /** Replaced, and not over yet. */
  readonly #leaving = new Set<Served>();
  #closing: Promise<void> | undefined;

  constructor(options: GatewayOptions) {
    const { clock = systemClock } = options;
    const units = options.units.map(validateServer);
    this.#options = options;
    this.#clock = clock;
    this.#startedAt = clock.now();
    this.#host = createHost({ clock, ...options.host, servers: definitionsOf(units) });
    this.#aggregate = new Aggregate({
      info: options.info ?? GATEWAY,
      separator: options.separator,
      patienceMs: options.patienceMs,
      clock,
    });
    const changed = (unit: GatewayServer) => {
      this.#aggregate.review(unit);
      options.onChange?.(unit.name);
    };
    this.#context = {
      host: this.#host,
      clock,
      cache: options.host?.cache,
      tellsStderr: options.tellsStderr ?? false,
      clean: (text) => options.redactor?.text(text) ?? text,
      observer: options.observer,
      rate: options.rate,
      around: (service, unit) => options.around?.(service, unit) ?? service,
      onChange: changed,
      onStartFailed: (name, error) => options.onStartFailed?.(name, error),
    };
    this.#host.watch((event) => {
      options.onHostEvent?.(event);
      const unit = this.#units.get(event.server)?.unit;
      if (unit && ABOUT_STATE.has(event.kind)) changed(unit);
    });
  }

  get addresses(): readonly string[] {
    const streams = [...(this.#streams?.addresses ?? [])];
    return this.#options.addresses.map((address) =>
      isHttp(address) ? this.#fronts!.addressOf(address) : streams.shift()!,
    );
  }

  get names(): readonly string[] {
    return [...this.#units.keys()];
  }

  get definitions(): readonly GatewayServerSpec[] {
    return [...this.#units.values()].map(({ unit }) => unit.definition);
  }

  get closed(): Promise<void> {
    return this.#ended.promise;
  }

  async open(): Promise<void> {
    const { addresses, units, endpoint = {}, server, single, metrics, sse, healthPaths } = this.#options;
    const pages = new AdminPages({
      endpoint: { ownNames: addresses.filter(isHttp).map((each) => httpAddress(each).host), ...endpoint },
      healthPaths,
      operators: this.#options.operators,
      status: () => this.status(),
      unready: () => this.unready(),
      parked: () => this.#parked(),
      metrics: async () => (await metrics?.(() => this.#host.status())) ?? { type: 'text/plain', text: '' },
    });
    try {
      this.#fronts = await openHttpFrontends(addresses.filter(isHttp), {
        ...server,
        endpoint,
        sse,
        pages,
        clock: this.#clock,
      });
      await this.#take(units.map(validateServer));
      const streams = addresses.filter((address) => !isHttp(address)).map((address) => listenerFor(address));
      if (streams.length > 0) {
        const service = single ? this.#units.values().next().value!.unit.service : this.#aggregate;
        this.#streams = await this.#serve(service, streams, MAIN, this.#allUnits());
        void this.#streams.closed.then(() => this.close());
      }
    } catch (error) {
      await this.close({ graceMs: 0 });
      throw error;
    }
  }

  unit(name: string): GatewayServer {
    const placed = this.#units.get(name);
    if (placed) return placed.unit;
    const known = this.#units.size > 0 ? `there are ${this.names.join(', ')}` : 'there are none';
    throw new IsthmusError('INVALID_OPTION', `There is no server ${JSON.stringify(name)}; ${known}`);
  }

  apply(given: readonly GatewayServerSpec[]): AppliedChanges {
    const units = given.map(validateServer);
    const before = new Map([...this.#units].map(([name, { unit }]) => [name, unit.definition]));
    this.#host.configure(definitionsOf(units)).catch(() => {});
    void this.#take(units);
    const names = units.map(({ name }) => name);
    const isSame = (unit: GatewayServerSpec) => isDeepStrictEqual(before.get(unit.name), unit);
    return {
      added: names.filter((name) => !before.has(name)),
      changed: units.filter((unit) => before.has(unit.name) && !isSame(unit)).map(({ name }) => name),
      removed: [...before.keys()].filter((name) => !names.includes(name)),
      unchanged: units.filter(isSame).map(({ name }) => name),
    };
  }

  async status(): Promise<GatewayStatus> {
    const placed = [...this.#units.values()];
    const statuses = await Promise.all(placed.map(({ unit, paths }) => unit.status(paths)));
    const servers: Record<string, GatewayServerStatus> = Object.create(null);
    for (const status of statuses) servers[status.name] = status;
    const status: GatewayStatus = {
      pid: process.pid,
      version: GATEWAY.version,
      startedAt: new Date(this.#startedAt).toISOString(),
      listening: this.addresses,
      ready: statuses.every(isNotMissed),
      servers,
      configProblem: this.configProblem,
    };
    const { redactor } = this.#options;
    return redactor ? JSON.parse(redactor.json(JSON.stringify(status))) : status;
  }

  async unready(): Promise<readonly string[]> {
    const units = [...this.#units.values()].map(({ unit }) => unit);
    await Promise.all(units.map((unit) => unit.refreshState()));
    return units
      .filter((unit) => !isNotMissed({ needed: unit.definition.needed ?? true, state: unit.state().state }))
      .map(({ name }) => name);
  }

  #parked(): { readonly count: number; readonly isFull: boolean } {
    const known = this.names.flatMap((name) => this.#host.snapshot(name) ?? []);
    return {
      count: known.reduce((sum, { parked }) => sum + parked, 0),
      isFull: known.some(({ processes, maxParked }) => processes.some((each) => each.parked >= maxParked)),
    };
  }

  get closing(): AbortSignal {
    return this.#over.signal;
  }

  async close({
    graceMs = this.#options.graceMs ?? GRACE_MS,
    abortMs = 0,
  }: CloseOptions = {}): Promise<void> {
    this.#over.abort();
    this.#fronts?.stop();
    const served = [...this.#units.values()].map((placed) => placed.served);
    const all = [...served, ...this.#leaving, this.#streams, this.#main?.served];
    const drained = Promise.all(all.map((each) => each?.close({ graceMs, abortMs })));
    this.#closing ??= (async () => {
      await drained;
      await Promise.all([...this.#units.values()].map(({ unit }) => unit.close()));
      await this.#host.close();
      await this.#fronts?.release();
      this.#ended.resolve();
    })();
    await drained;
    await this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Takes over these servers: those that are new or offered otherwise get a place, those that are gone lose it. */
  async #take(definitions: readonly GatewayServerSpec[]): Promise<void> {
    const before = this.#units;
    const after = new Map<string, PlacedUnit>();
    const opening: Promise<unknown>[] = [];
    for (const definition of definitions) {
      const known = before.get(definition.name);
      if (known && canStay(known.unit.definition, definition)) {
        if (!isDeepStrictEqual(known.unit.definition, definition)) known.unit.redefine(definition);
        after.set(definition.name, known);
        continue;
      }
      const unit = new GatewayServer(definition, this.#context);
      const paths = pathsOf(definition.name);
      const placed: PlacedUnit = { unit, paths, served: undefined };
      after.set(definition.name, placed);
      opening.push(this.#place(placed));
    }
    this.#units = after;
    const gone = [...before].filter(([name, placed]) => after.get(name) !== placed);
    this.#aggregate.setParts([...after.values()].map(({ unit }) => unit));
    this.#placing = this.#placing.then(() => this.#placeMain());
    opening.push(this.#placing);
    for (const [, placed] of gone) void this.#dismiss(placed);
    for (const placed of after.values()) {
      if (before.get(placed.unit.name) !== placed) this.#startIfEager(placed.unit);
    }
    await Promise.all(opening);
  }

  async #place(placed: PlacedUnit): Promise<void> {
    const { maxSessions } = placed.unit.definition.limits ?? {};
    const own = maxSessions === undefined ? {} : { maxSessions };
    const listeners = placed.paths.flatMap((path) => this.#fronts!.at(path, own));
    if (listeners.length > 0)
      placed.served = await this.#serve(placed.unit.service, listeners, `server ${placed.unit.name}`, [
        placed.unit,
      ]);
  }

  /** The only server as it is, or all of them as one. */
  async #placeMain(): Promise<void> {
    const [only, ...others] = this.#units.values();
    const service = only && others.length === 0 ? only.unit.service : this.#aggregate;
    const before = this.#main;
    if (before?.service === service || this.#fronts!.isEmpty) return;
    this.#main = {
      service,
      served: await this.#serve(service, this.#fronts!.main(), MAIN, this.#allUnits()),
    };
    if (before) await this.#leave(before.served);
  }

  async #dismiss({ unit, served }: PlacedUnit): Promise<void> {
    const graceMs = this.#options.graceMs ?? GRACE_MS;
    // Its calls come by way of all servers together, too.
    const drained = within(this.#clock, graceMs, this.#aggregate.drained(unit));
    await Promise.all([served && this.#leave(served), drained]);
    await unit.close();
  }

  async #leave(served: Served): Promise<void> {
    this.#leaving.add(served);
    await served.close();
    this.#leaving.delete(served);
  }

  #allUnits(): readonly GatewayServer[] {
    return [...this.#units.values()].map(({ unit }) => unit);
  }

  /** `place` is what the states of rounds are bound to. */
  #serve(
    service: Service,
    listeners: readonly Listener[],
    place: string,
    units: readonly GatewayServer[],
  ): Promise<Served> {
    const graceMs = this.#options.graceMs ?? GRACE_MS;
    const keys = placeKeys(this.#options.stateKeys, place);
    const parking = parkingOf(this.#options.maxParked, units);
    return serve(service, listeners, {
      ownsProcess: false,
      graceMs,
      clock: this.#clock,
      ...keys,
      ...parking,
    });
  }

  #startIfEager(unit: GatewayServer): void {
    const { kind, start, disabled } = unit.definition;
    const isLazy = kind === 'command' && start === 'lazy';
    // What went wrong is in the status, and whoever watches has been told.
    if (!isLazy && !disabled) unit.start().catch(() => {});
  }
}

interface PlacedUnit {
  readonly unit: GatewayServer;
  readonly paths: readonly string[];
  served: Served | undefined;
}

/** A round waits here and in the process behind, so the bound here is not below that of any process. */
function parkingOf(
  given: number | undefined,
  units: readonly GatewayServer[],
): { readonly maxParked?: number } {
  const own = units.flatMap(({ definition: { kind, maxParked } }) =>
    kind === 'command' ? (maxParked ?? []) : [],
  );
  if (own.length === 0) return given === undefined ? {} : { maxParked: given };
  return { maxParked: Math.max(given ?? 1000, ...own) };
}

function isHttp(address: string): boolean {
  return address.startsWith('http://');
}

const ABOUT_STATE: ReadonlySet<string> = new Set([
  'start',
  'ready',
  'receipt',
  'exit',
  'restart',
  'crash-loop',
  'drain',
]);
const GRACE_MS = 10_000;
const MAIN = 'main';
const GATEWAY: Implementation = { name: 'isthmus', version: VERSION };
