import type { IncomingMessage } from 'node:http';
import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import type { Listener } from '@isthmus/sdk/internal/exchange/connection.js';
import { httpAddress } from '@isthmus/sdk/internal/transport/address.js';
import type { Authorize } from '@isthmus/sdk/internal/transport/http-server/admission/authorize.js';
import { Endpoint } from '@isthmus/sdk/internal/transport/http-server/endpoint.js';
import { NodeExchange } from '@isthmus/sdk/internal/transport/http-server/exchange/node-exchange.js';
import {
  type AcceptedConnections,
  type NodeServer,
  type NodeServerOptions,
  openNodeServer,
} from '@isthmus/sdk/internal/transport/http-server/node-server.js';
import type { HttpEndpointOptions } from '@isthmus/sdk/internal/transport/http-server/options.js';
import type { AdminPages } from './admin-pages.js';
import { placeOf, resourceAt, WELL_KNOWN } from './resource-at.js';

export interface HttpFrontendOptions extends NodeServerOptions {
  /** The paths that the addresses of the gateway name. */
  readonly mainPaths?: readonly string[];
  readonly pages: AdminPages;
  /** Its name in a cluster, if the gateway has several HTTP servers. */
  readonly place?: string;
  readonly connections?: AcceptedConnections | undefined;
  /** Whether other processes of the cluster serve new clients. */
  readonly isDraining?: (() => boolean) | undefined;
  readonly clock?: Clock;
}

/** Where the transport of 2024-11-05 is. */
export interface SsePaths {
  readonly path: string;
  readonly messagePath: string;
}

/** One HTTP server for all servers of the gateway, each at its own paths, and for the admin pages. */
export class HttpFrontend {
  readonly #options: HttpFrontendOptions;
  /** The endpoint at each path. */
  readonly #places = new Map<string, Endpoint>();
  #server: NodeServer | undefined;
  /** Requests that came before all paths were there. Undefined afterwards. */
  #early: { readonly path: string; readonly exchange: NodeExchange }[] | undefined = [];
  #isStopping = false;

  constructor(options: HttpFrontendOptions) {
    this.#options = options;
  }

  get origin(): string {
    return this.#server?.origin ?? '';
  }

  async open(): Promise<void> {
    const { clock = systemClock } = this.#options;
    this.#server = await openNodeServer(
      this.#options,
      clock,
      (request, response, unread) => {
        // Most clients write the path exactly as we do.
        const written = request.url!;
        const path = this.#places.has(written) ? written : tidy(request);
        const exchange = new NodeExchange(request, response, undefined, unread);
        exchange.written = written;
        const place = this.#places.get(path);
        if (place) place.handle(exchange);
        else if (this.#early) this.#early.push({ path, exchange });
        else this.#options.pages.answer(path, exchange);
      },
      { source: this.#options.connections, isDraining: this.#options.isDraining },
    );
  }

  /** All paths are there. A balancer sends requests as soon as the port is open, and 404 would end its clients. */
  begin(): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const { path, exchange } of early) {
      const place = this.#places.get(path);
      if (place) place.handle(exchange);
      else this.#options.pages.answer(path, exchange);
    }
  }

  /** A listener at a path, with the transport of 2024-11-05 beside it. */
  at(
    shown: string,
    options: Omit<HttpEndpointOptions, 'path' | 'sse'>,
    besidesIt?: SsePaths | false,
  ): Listener {
    const path = inOneWay(shown);
    const sse = besidesIt ?? besides(path);
    const paths = [path, ...(sse ? [sse.path, sse.messagePath] : [])];
    // Without metadata the admin pages answer this path, as they do for servers that do not exist.
    const { mainPaths = [] } = this.#options;
    const resource = resourceAt(shown, mainPaths, options);
    if (options.protectedResource) paths.push(`${WELL_KNOWN}${path}`);
    if (resource.protectedResource) {
      const known = new URL(resource.protectedResource.resource!).pathname;
      paths.push(`${WELL_KNOWN}${inOneWay(known)}`);
    }
    // Clients that do not know a path ask there.
    if (options.protectedResource && path === '/mcp') paths.push(WELL_KNOWN);
    return {
      ownsProcess: false,
      listen: async (accept, served) => {
        const ownNames = [this.#options.host ?? '127.0.0.1'];
        const resourcePlace = placeOf(path, mainPaths, options);
        // After a reload, another service may be at this path. Other members mean the path.
        const place = `${this.#options.place ?? ''}${path}`;
        const settings = { ownNames, ...options, ...resource, resourcePlace, path, sse, place };
        const endpoint = new Endpoint(settings);
        const listening = endpoint.begin(accept, served);
        for (const each of paths) this.#places.set(each, endpoint);
        return {
          address: `${this.origin}${shown}`,
          ended: listening.ended,
          stop: async () => {
            // A request that comes when everything ends is answered as such, or by another process of the cluster.
            const gone = this.#isStopping ? [] : paths.filter((each) => this.#places.get(each) === endpoint);
            for (const each of gone) this.#places.delete(each);
            await listening.stop();
          },
          idle: async () => listening.idle?.(),
          release: async () => listening.release?.(),
        };
      },
    };
  }

  /** Accepts no new clients. */
  stop(): void {
    this.#isStopping = true;
    this.#server?.stop();
  }

  async release(): Promise<void> {
    await this.#server?.release();
  }
}

/** `/mcp` has `/sse` and `/message`; `/mcp/NAME` has `/mcp/NAME/sse`; `/servers/NAME/mcp` has `/servers/NAME/sse`. */
function besides(path: string): SsePaths {
  // A server can have the name mcp.
  const isFolder = path.endsWith('/mcp') && !path.startsWith('/mcp/');
  const folder = isFolder ? path.slice(0, -'/mcp'.length) : path.replace(/\/$/, '');
  return { path: `${folder}/sse`, messagePath: `${folder}/message` };
}

/** Writes the path of the request in our form, and returns it. */
function tidy(request: IncomingMessage): string {
  const { url = '/' } = request;
  const query = url.indexOf('?');
  const given = query < 0 ? url : url.slice(0, query);
  // People often type `/mcp/`.
  const path = inOneWay(given.length > 1 && given.endsWith('/') ? given.slice(0, -1) : given);
  request.url = path + url.slice(given.length);
  return path;
}

/** Clients escape different characters: `c++` and `c%2B%2B` are the same server. */
function inOneWay(path: string): string {
  try {
    return path
      .split('/')
      .map((segment) => encodeURIComponent(decodeURIComponent(segment)))
      .join('/');
  } catch {
    return path;
  }
}

export interface HttpFrontendsOptions extends Omit<NodeServerOptions, 'host' | 'port'> {
  readonly endpoint: Omit<HttpEndpointOptions, 'path' | 'sse'>;
  readonly pages: AdminPages;
  /** The paths of the transport of 2024-11-05, beside the path of an address; `false`: none. */
  readonly sse?: SsePaths | false | undefined;
  readonly connections?: AcceptedConnections | undefined;
  readonly isDraining?: (() => boolean) | undefined;
  readonly clock: Clock;
  /** Decides what callers may do at the paths of the addresses. */
  readonly authorize?: Authorize | undefined;
}

/** The HTTP servers of a gateway, one for each HTTP address. All serve the same. */
export interface HttpFrontends {
  readonly isEmpty: boolean;
  addressOf(address: string): string;
  /** A listener at this path of each HTTP server. */
  at(path: string, own: Pick<HttpEndpointOptions, 'maxSessions' | 'authorize'>): readonly Listener[];
  /** A listener at the path that each address names. */
  main(): readonly Listener[];
  /** All paths are there: requests for others are refused from now on. */
  begin(): void;
  stop(): void;
  release(): Promise<void>;
}

export async function openHttpFrontends(
  addresses: readonly string[],
  options: HttpFrontendsOptions,
): Promise<HttpFrontends> {
  const { endpoint, sse, authorize, ...server } = options;
  const main = { ...endpoint, ...(authorize && { authorize }) };
  const mainPaths = addresses.map((address) => httpAddress(address).path);
  const fronts = addresses.map((address, index) => {
    const { host, port, path } = httpAddress(address);
    const own = index === 0 ? {} : { place: `address ${index + 1} ` };
    return { address, path, front: new HttpFrontend({ ...server, ...own, host, port, mainPaths }) };
  });
  const close = async () => {
    for (const { front } of fronts) front.stop();
    await Promise.all(fronts.map(({ front }) => front.release()));
  };
  try {
    for (const { front } of fronts) await front.open();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    isEmpty: fronts.length === 0,
    addressOf(address) {
      const { front, path } = fronts.find((each) => each.address === address)!;
      return `${front.origin}${path}`;
    },
    at: (path, own) => fronts.map(({ front }) => front.at(path, { ...endpoint, ...own })),
    main: () => fronts.map(({ front, path }) => front.at(path, main, sse)),
    begin() {
      for (const { front } of fronts) front.begin();
    },
    stop() {
      for (const { front } of fronts) front.stop();
    },
    async release() {
      await Promise.all(fronts.map(({ front }) => front.release()));
    },
  };
}
