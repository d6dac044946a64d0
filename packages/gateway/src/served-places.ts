import { hkdfSync } from 'node:crypto';
import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { Service } from '@isthmus/sdk/internal/exchange/call.js';
import type { HomeRequest, Listener } from '@isthmus/sdk/internal/exchange/connection.js';
import { type Served, serve } from '@isthmus/sdk/internal/server/serve.js';
import { listenerFor } from '@isthmus/sdk/internal/transport/address.js';
import type { Authorize } from '@isthmus/sdk/internal/transport/http-server/admission/authorize.js';
import type { CloseOptions, GatewayOptions } from './gateway.js';
import type { GatewayServer } from './gateway-server.js';
import type { AdminPages } from './http/admin-pages.js';
import { type HttpFrontends, openHttpFrontends } from './http/frontend.js';

export interface ServedPlacesOptions
  extends Pick<
    GatewayOptions,
    'addresses' | 'endpoint' | 'server' | 'sse' | 'stateKeys' | 'maxParked' | 'cluster' | 'connections'
  > {
  readonly graceMs: number;
  readonly clock: Clock;
  /** The member of the cluster that serves a request for a server, or for the main path. */
  readonly home?:
    | ((server: GatewayServer | undefined, request: HomeRequest) => string | undefined)
    | undefined;
  /** Decides what callers may do at the paths of a server, or with `undefined` at the main path. */
  authorize?(server: GatewayServer | undefined): Authorize;
}

/**
 * Where a gateway serves what: one service at the main path of each HTTP address, each server at paths of its own, and
 * one service on the streams (`stdio`, `unix:`, `tcp:`).
 */
export class ServedPlaces {
  readonly #options: ServedPlacesOptions;
  #frontends: HttpFrontends | undefined;
  #main: { readonly service: Service; readonly served: Served } | undefined;
  /** Changes of the main path are made one after the other. */
  #changing: Promise<void> = Promise.resolve();
  #streams: Served | undefined;
  readonly #ofServers = new Map<GatewayServer, Served>();
  /** Replaced, and still draining. */
  readonly #leaving = new Set<Served>();

  constructor(options: ServedPlacesOptions) {
    this.#options = options;
  }

  /** The addresses in the order in which they were given, with real ports. */
  get addresses(): readonly string[] {
    const streams = [...(this.#streams?.addresses ?? [])];
    return this.#options.addresses.map((address) =>
      isHttp(address) ? this.#frontends!.addressOf(address) : streams.shift()!,
    );
  }

  async openHttp(pages: AdminPages): Promise<void> {
    const { addresses, endpoint = {}, server, sse, clock, connections, cluster } = this.#options;
    const authorize = this.#options.authorize?.(undefined);
    const isDraining = cluster && (() => cluster.members.isDraining);
    const settings = { ...server, endpoint, sse, pages, clock, connections, isDraining, authorize };
    this.#frontends = await openHttpFrontends(addresses.filter(isHttp), settings);
  }

  /** All paths are there. */
  begin(): void {
    this.#frontends?.begin();
  }

  /** Serves a service on the streams. Returns undefined where there are none. */
  async openStreams(
    service: Service,
    servers: readonly GatewayServer[],
  ): Promise<{ readonly closed: Promise<void> } | undefined> {
    const streams = this.#options.addresses.filter((address) => !isHttp(address));
    if (streams.length === 0) return undefined;
    const listeners = streams.map((address) => listenerFor(address));
    this.#streams = await this.#serve(service, listeners, MAIN, servers);
    return this.#streams;
  }

  async addServer(server: GatewayServer, paths: readonly string[]): Promise<void> {
    const { maxSessions } = server.definition.limits ?? {};
    const authorize = this.#options.authorize?.(server);
    const own = { ...(maxSessions !== undefined && { maxSessions }), ...(authorize && { authorize }) };
    const listeners = paths.flatMap((path) => this.#frontends!.at(path, own));
    if (listeners.length === 0) return;
    const served = await this.#serve(server.service, listeners, `server ${server.name}`, [server]);
    this.#ofServers.set(server, served);
  }

  /** Settles when the sessions and calls at the paths of this server are over. */
  async removeServer(server: GatewayServer): Promise<void> {
    const served = this.#ofServers.get(server);
    this.#ofServers.delete(server);
    if (served) await this.#leave(served);
  }

  /** Serves this at the main path from now on. What was served there before is drained. */
  setMain(
    choose: () => { readonly service: Service; readonly servers: readonly GatewayServer[] },
  ): Promise<void> {
    this.#changing = this.#changing.then(async () => {
      const { service, servers } = choose();
      const before = this.#main;
      if (before?.service === service || this.#frontends!.isEmpty) return;
      const served = await this.#serve(service, this.#frontends!.main(), MAIN, servers);
      this.#main = { service, served };
      if (before) await this.#leave(before.served);
    });
    return this.#changing;
  }

  /** Accepts no new clients. Settles when what runs has ended or was aborted. */
  async close(options: Required<CloseOptions>): Promise<void> {
    this.#frontends?.stop();
    const all = [...this.#ofServers.values(), ...this.#leaving, this.#streams, this.#main?.served];
    await Promise.all(all.map((each) => each?.close(options)));
  }

  /** Closes the sockets of the HTTP addresses. */
  async release(): Promise<void> {
    await this.#frontends?.release();
  }

  async #leave(served: Served): Promise<void> {
    this.#leaving.add(served);
    await served.close();
    this.#leaving.delete(served);
  }

  /** The states of rounds are bound to `place`. */
  #serve(
    service: Service,
    listeners: readonly Listener[],
    place: string,
    servers: readonly GatewayServer[],
  ): Promise<Served> {
    const { graceMs, clock, stateKeys, maxParked, cluster, home } = this.#options;
    const only = place === MAIN ? undefined : servers[0];
    return serve(service, listeners, {
      ownsProcess: false,
      graceMs,
      clock,
      ...(cluster && { cluster, place }),
      ...(home && { home: (request: HomeRequest) => home(only, request) }),
      ...placeKeys(stateKeys, place),
      ...parkingOf(maxParked, servers),
    });
  }
}

export function isHttp(address: string): boolean {
  return address.startsWith('http://');
}

/**
 * The keys of one place (the main path, or one server), derived from those of the operator. A client cannot take a state
 * that one server has given out to another server, and all replicas still agree.
 */
function placeKeys(
  keys: readonly string[] | undefined,
  place: string,
): { readonly stateKey?: readonly Uint8Array[] } {
  if (!keys) return {};
  const info = `isthmus request-state ${place}`;
  const derive = (key: string) =>
    new Uint8Array(hkdfSync('sha256', Buffer.from(key, 'base64url'), '', info, 32));
  return { stateKey: keys.map(derive) };
}

/** A round waits here and at the process, so the bound here must not be below that of any process. */
function parkingOf(
  given: number | undefined,
  servers: readonly GatewayServer[],
): { readonly maxParked?: number } {
  const own = servers.flatMap(({ definition: spec }) =>
    spec.kind === 'command' ? (spec.maxParked ?? []) : [],
  );
  if (own.length === 0) return given === undefined ? {} : { maxParked: given };
  return { maxParked: Math.max(given ?? 1000, ...own) };
}

const MAIN = 'main';
