import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { Listener } from '@isthmus/sdk/internal/exchange/connection.js';
import { httpAddress } from '@isthmus/sdk/internal/transport/address.js';
import type { NodeServerOptions } from '@isthmus/sdk/internal/transport/http-server/node-server.js';
import type { HttpEndpointOptions } from '@isthmus/sdk/internal/transport/http-server/options.js';
import type { AdminPages } from './admin-pages.js';
import { HttpFrontend, type SsePaths } from './frontend.js';

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
