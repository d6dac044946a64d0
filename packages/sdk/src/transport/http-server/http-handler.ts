import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Listener } from '../../exchange/connection.js';
import { Endpoint } from './endpoint.js';
import { FetchExchange } from './fetch-exchange.js';
import { NodeExchange } from './node-exchange.js';
import type { HttpEndpointOptions } from './options.js';

/** An endpoint that somebody else's web server hands its requests to. Serve it like any other listener. */
export interface HttpHandler extends Listener {
  /** For `node:http` and what is built on it. `parsed`: the body, where a framework has read it already. */
  node(request: IncomingMessage, response: ServerResponse, parsed?: unknown): void;
  /** For what speaks the Web's `Request` and `Response`. */
  fetch(request: Request): Promise<Response>;
}

/**
 * ```ts
 * const endpoint = httpHandler();
 * await serve(server, endpoint);
 * app.all('/mcp', (c) => endpoint.fetch(c.req.raw)); // Hono
 * ```
 */
export function httpHandler(options: HttpEndpointOptions = {}): HttpHandler {
  // Whoever mounts it has decided about the path.
  const endpoint = new Endpoint({ path: undefined, ...options });
  return {
    ownsProcess: false,
    listen: async (accept, served) => endpoint.begin(accept, served),
    node(request, response, parsed) {
      void endpoint.handle(new NodeExchange(request, response, parsed));
    },
    fetch(request) {
      const exchange = new FetchExchange(request);
      void endpoint.handle(exchange);
      return exchange.response;
    },
  };
}
