import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, systemClock } from '../../async/clock.js';
import type { Listener } from '../../exchange/connection.js';
import { Endpoint } from '../../transport/http-server/endpoint.js';
import { jsonHeaders } from '../../transport/http-server/event-text.js';
import { NodeExchange } from '../../transport/http-server/node-exchange.js';
import {
  type NodeServer,
  type NodeServerOptions,
  openNodeServer,
} from '../../transport/http-server/node-server.js';
import type { HttpEndpointOptions } from '../../transport/http-server/options.js';
import type { Pages } from './pages.js';

export interface FrontOptions extends NodeServerOptions {
  readonly pages: Pages;
  readonly clock?: Clock;
}

/** One web server for all: each server has its addresses, and beside them are the pages for whoever runs it. */
export class Front {
  readonly #options: FrontOptions;
  /** Who answers at which path. */
  readonly #places = new Map<string, Endpoint>();
  #server: NodeServer | undefined;

  constructor(options: FrontOptions) {
    this.#options = options;
  }

  get origin(): string {
    return this.#server?.origin ?? '';
  }

  async open(): Promise<void> {
    const { clock = systemClock } = this.#options;
    this.#server = await openNodeServer(this.#options, clock, (request, response, unread) => {
      dropSlash(request);
      const exchange = new NodeExchange(request, response, undefined, unread);
      const path = pathOf(request);
      const place = this.#places.get(path);
      if (place) void place.handle(exchange);
      else if (!this.#options.pages.answer(path, exchange)) notFound(request, response, path);
    });
  }

  /** A listener at a path of its own; with the transport of 2024-11-05 beside it. */
  at(path: string, options: Omit<HttpEndpointOptions, 'path' | 'sse'>): Listener {
    const sse = besides(path);
    const paths = [path, sse.path, sse.messagePath, `${WELL_KNOWN}${path}`];
    // Clients that know no path ask there.
    if (path === '/mcp') paths.push(WELL_KNOWN);
    return {
      ownsProcess: false,
      listen: async (accept, served) => {
        const endpoint = new Endpoint({ ...options, path, sse });
        const listening = endpoint.begin(accept, served);
        for (const each of paths) this.#places.set(each, endpoint);
        return {
          address: `${this.origin}${path}`,
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
function besides(path: string): { readonly path: string; readonly messagePath: string } {
  const folder = path.endsWith('/mcp') ? path.slice(0, -'/mcp'.length) : path.replace(/\/$/, '');
  return { path: `${folder}/sse`, messagePath: `${folder}/message` };
}

/** `/mcp/` is what many a person types. */
function dropSlash(request: IncomingMessage): void {
  const { url = '/' } = request;
  const path = pathOf(request);
  if (path.length > 1 && path.endsWith('/')) request.url = path.slice(0, -1) + url.slice(path.length);
}

function pathOf({ url = '/' }: IncomingMessage): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

function notFound(request: IncomingMessage, response: ServerResponse, path: string): void {
  request.resume();
  const error = `There is nothing at ${path}; /status has the addresses of the servers`;
  response.writeHead(404, { ...jsonHeaders({}), connection: 'close' }).end(`${JSON.stringify({ error })}\n`);
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource';
