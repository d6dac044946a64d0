import type { IncomingMessage, ServerResponse } from 'node:http';
import { checkedOptions } from '../../arguments.js';
import type { Listener } from '../../exchange/connection.js';
import { Endpoint } from './endpoint.js';
import { FetchExchange } from './exchange/fetch-exchange.js';
import { NodeExchange } from './exchange/node-exchange.js';
import { checkPort, type NodeServerOptions, openNodeServer } from './node-server.js';
import { ENDPOINT_OPTIONS } from './option-names.js';
import type { HttpEndpointOptions } from './options.js';

/** Options of `http(options)`: the port, and how the endpoint serves. */
export interface HttpListenOptions extends HttpEndpointOptions, NodeServerOptions {}

/** Serves HTTP on its own port. */
export function httpListener(options: HttpListenOptions): Listener {
  checkPort(options);
  const endpoint = new Endpoint({ ownNames: [options.host ?? '127.0.0.1'], ...options });
  return {
    ownsProcess: false,
    async listen(accept, served) {
      const { cluster } = served;
      const server = await openNodeServer(
        options,
        endpoint.settings.clock,
        (request, response, unread) => {
          endpoint.handle(new NodeExchange(request, response, undefined, unread));
        },
        cluster && { isDraining: () => cluster.members.isDraining },
      );
      const listening = endpoint.begin(accept, served);
      return {
        address: `${server.origin}${endpoint.settings.path ?? ''}`,
        ended: server.ended,
        async stop() {
          endpoint.stop();
          server.stop();
        },
        idle: async () => listening.idle?.(),
        async release() {
          await listening.release?.();
          await server.release();
        },
      };
    },
  };
}

/** An endpoint inside another web server, which passes requests to it. Serve it like any other listener. */
export interface HttpHandler extends Listener {
  /** For `node:http` and frameworks on top of it. `parsed`: the body, if a framework has read it already. */
  node(request: IncomingMessage, response: ServerResponse, parsed?: unknown): void;
  /** For servers with the Web's `Request` and `Response`. */
  fetch(request: Request): Promise<Response>;
}

/**
 * Makes an endpoint for a web server that you have already.
 *
 * ```ts
 * const endpoint = httpHandler();
 * await serve(server, endpoint);
 * app.all('/mcp', (c) => endpoint.fetch(c.req.raw)); // Hono
 * ```
 */
export function httpHandler(options: HttpEndpointOptions = {}): HttpHandler {
  checkedOptions('httpHandler', options, ENDPOINT_OPTIONS, (name) =>
    name === 'port' || name === 'host' ? '; the web server around it has the port' : undefined,
  );
  // The web server around it has checked the path.
  const endpoint = new Endpoint({ path: undefined, ...options });
  return {
    ownsProcess: false,
    listen: async (accept, served) => endpoint.begin(accept, served),
    node(request, response, parsed) {
      endpoint.handle(new NodeExchange(request, response, parsed));
    },
    fetch(request) {
      const exchange = new FetchExchange(request);
      endpoint.handle(exchange);
      return exchange.response;
    },
  };
}
