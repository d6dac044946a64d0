import { checkedOptions, type OptionNames } from '../arguments.js';
import type { Connector, Listener } from '../exchange/connection.js';
import { httpConnector } from './http-client/connector.js';
import type { HttpConnectOptions } from './http-client/options.js';
import { type HttpListenOptions, httpListener } from './http-server/http-listener.js';
import { LISTEN_OPTIONS } from './http-server/option-names.js';

export type {
  AuthRefusal,
  Challenge,
  HeaderRecord,
  HttpAuth,
  HttpConnectOptions,
  ServerAuth,
} from './http-client/options.js';
export type { AccessRequest, Authorize, Denial } from './http-server/admission/authorize.js';
export type { HttpListenOptions } from './http-server/http-listener.js';
export { type HttpHandler, httpHandler } from './http-server/http-listener.js';
export type {
  Authenticate,
  CorsOptions,
  Grant,
  HttpEndpointOptions,
  HttpRequestFacts,
  ProtectedResource,
  Refusal,
} from './http-server/options.js';
export {
  EventMemory,
  type EventStore,
  type EventStoreFactory,
  type EventStoreOptions,
  memoryEventStore,
  type StoredEvent,
} from './http-server/sessions/event-store.js';

/**
 * Connects to the server at a URL, in either era, over Streamable HTTP or HTTP with SSE.
 *
 * @example
 * ```ts
 * import { connect, createServer, http, serve } from '@isthmus/sdk';
 *
 * const server = createServer({ name: 'hello', version: '1.0.0' });
 * const served = await serve(server, http({ port: 0 }));
 * const [url] = served.addresses; // http://127.0.0.1:PORT/mcp
 *
 * const client = await connect(http(url!, { headers: { 'X-Team': 'blue' } }));
 * console.log(client.server.info?.name); // prints: hello
 * await client.close();
 * await served.close();
 * ```
 */
export function http(url: string | URL, options?: HttpConnectOptions): Connector;
/** Serves both eras over HTTP on its own port. */
export function http(options?: HttpListenOptions): Listener;
export function http(
  first: string | URL | HttpListenOptions = {},
  options?: HttpConnectOptions,
): Connector | Listener {
  if (typeof first === 'string' || first instanceof URL) {
    return httpConnector(first, checkedOptions('http', options ?? {}, CONNECT_OPTIONS));
  }
  return httpListener(
    checkedOptions('http', first, LISTEN_OPTIONS, (name) =>
      name === 'url' ? '; to connect, write http(url, options)' : undefined,
    ),
  );
}

const CONNECT_OPTIONS: OptionNames<HttpConnectOptions> = {
  headers: true,
  onUnauthorized: true,
  auth: true,
  fetch: true,
  onWarning: true,
  maxRetryAfterMs: true,
  maxRedirects: true,
  allowCrossOriginRedirects: true,
  maxAnswerBytes: true,
  maxConcurrent: true,
  sse: true,
  connectTimeoutMs: true,
  postTimeoutMs: true,
  clock: true,
  tap: true,
};
