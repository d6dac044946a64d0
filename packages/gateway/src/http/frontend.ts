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

/** One HTTP server for all servers of the gateway, each at its own paths, and for the admin pages. */
export class HttpFrontend {
  readonly #options: HttpFrontendOptions;
  /** The endpoint at each path. */
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
      // Most clients write the path exactly as we do.
      const written = request.url!;
      const path = this.#places.has(written) ? written : tidy(request);
      const exchange = new NodeExchange(request, response, undefined, unread);
      exchange.written = written;
      const place = this.#places.get(path);
      if (place) place.handle(exchange);
      else this.#options.pages.answer(path, exchange);
    });
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
    if (options.protectedResource) paths.push(`${WELL_KNOWN}${path}`);
    // Clients that do not know a path ask there.
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

  /** Accepts no new clients. */
  stop(): void {
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
  readonly clock: Clock;
}

/** The HTTP servers of a gateway, one for each HTTP address. All serve the same. */
export interface HttpFrontends {
  readonly isEmpty: boolean;
  addressOf(address: string): string;
  /** A listener at this path of each HTTP server. */
  at(path: string, own: Pick<HttpEndpointOptions, 'maxSessions'>): readonly Listener[];
  /** A listener at the path that each address names. */
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
