import type { IncomingMessage } from 'node:http';
import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import type { Listener } from '@isthmus/sdk/internal/exchange/connection.js';
import { httpAddress } from '@isthmus/sdk/internal/transport/address.js';
import { Endpoint } from '@isthmus/sdk/internal/transport/http-server/endpoint.js';
import { NodeExchange } from '@isthmus/sdk/internal/transport/http-server/exchange/node-exchange.js';
import {
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
  readonly clock?: Clock;
}

/** Where the transport of 2024-11-05 is. */
export interface SsePaths {
  readonly path: string;
  readonly messagePath: string;
}

/** One web server for all: each server has its addresses, and beside them are the pages for whoever runs it. */
export class HttpFrontend {
  readonly #options: HttpFrontendOptions;
  /** Who answers at which path. */
  readonly #places = new Map<string, Endpoint>();
  #server: NodeServer | undefined;

  constructor(options: HttpFrontendOptions) {
    this.#options = options;
  }

  get origin(): string {
    return this.#server?.origin ?? '';
  }

  async open(): Promise<void> {
    const { clock = systemClock } = this.#options;
    this.#server = await openNodeServer(this.#options, clock, (request, response, unread) => {
      // Most write it as we do.
      const written = request.url!;
      const path = this.#places.has(written) ? written : tidy(request);
      const exchange = new NodeExchange(request, response, undefined, unread);
      exchange.written = written;
      const place = this.#places.get(path);
      if (place) void place.handle(exchange);
      else this.#options.pages.answer(path, exchange);
    });
  }

  /** A listener at a path of its own; with the transport of 2024-11-05 beside it. */
  at(
    shown: string,
    options: Omit<HttpEndpointOptions, 'path' | 'sse'>,
    besidesIt?: SsePaths | false,
  ): Listener {
    const path = inOneWay(shown);
    const sse = besidesIt ?? besides(path);
    const paths = [path, ...(sse ? [sse.path, sse.messagePath] : [])];
    // Where there is no metadata the pages answer, as they do for servers that do not exist.
    if (options.protectedResource) paths.push(`${WELL_KNOWN}${path}`);
    // Clients that know no path ask there.
    if (options.protectedResource && path === '/mcp') paths.push(WELL_KNOWN);
    return {
      ownsProcess: false,
      listen: async (accept, served) => {
        const ownNames = [this.#options.host ?? '127.0.0.1'];
        const resource = resourceAt(shown, options);
        const resourcePlace = placeOf(path, this.#options.mainPaths ?? [], options);
        const endpoint = new Endpoint({ ownNames, ...options, ...resource, resourcePlace, path, sse });
        const listening = endpoint.begin(accept, served);
        for (const each of paths) this.#places.set(each, endpoint);
        return {
          address: `${this.origin}${shown}`,
          ended: listening.ended,
          stop: async () => {
            for (const each of paths) if (this.#places.get(each) === endpoint) this.#places.delete(each);
            await listening.stop();
          },
        };
      },
    };
  }

  /** Takes nobody new. */
  stop(): void {
    this.#server?.stop();
  }

  async release(): Promise<void> {
    await this.#server?.release();
  }
}

/** `/mcp` has `/sse` and `/message`; `/mcp/NAME` has `/mcp/NAME/sse`; `/servers/NAME/mcp` has `/servers/NAME/sse`. */
function besides(path: string): SsePaths {
  // A server may be called mcp.
  const isFolder = path.endsWith('/mcp') && !path.startsWith('/mcp/');
  const folder = isFolder ? path.slice(0, -'/mcp'.length) : path.replace(/\/$/, '');
  return { path: `${folder}/sse`, messagePath: `${folder}/message` };
}

/** Leaves the request with its path written as we write it, and gives that path. */
function tidy(request: IncomingMessage): string {
  const { url = '/' } = request;
  const query = url.indexOf('?');
  const given = query < 0 ? url : url.slice(0, query);
  // `/mcp/` is what many a person types.
  const path = inOneWay(given.length > 1 && given.endsWith('/') ? given.slice(0, -1) : given);
  request.url = path + url.slice(given.length);
  return path;
}

/** What may be escaped and what must be is understood differently: `c++` and `c%2B%2B` are the same server. */
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
  /** Where the transport of 2024-11-05 is beside the path that an address names; `false`: nowhere. */
  readonly sse?: SsePaths | false | undefined;
  readonly clock: Clock;
}

/** The web servers of a gateway, one for each HTTP address: all have everything. */
export interface HttpFrontends {
  readonly isEmpty: boolean;
  addressOf(address: string): string;
  /** A listener at this path of each of them. */
  at(path: string, own: Pick<HttpEndpointOptions, 'maxSessions'>): readonly Listener[];
  /** A listener at the path that each of the addresses names. */
  main(): readonly Listener[];
  stop(): void;
  release(): Promise<void>;
}

export async function openHttpFrontends(
  addresses: readonly string[],
  options: HttpFrontendsOptions,
): Promise<HttpFrontends> {
  const { endpoint, sse, ...server } = options;
  const mainPaths = addresses.map((address) => httpAddress(address).path);
  const fronts = addresses.map((address) => {
    const { host, port, path } = httpAddress(address);
    return { address, path, front: new HttpFrontend({ ...server, host, port, mainPaths }) };
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
    main: () => fronts.map(({ front, path }) => front.at(path, endpoint, sse)),
    stop() {
      for (const { front } of fronts) front.stop();
    },
    async release() {
      await Promise.all(fronts.map(({ front }) => front.release()));
    },
  };
}
