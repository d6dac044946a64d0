import type { Connector, Listener } from '../exchange/connection.js';
import { httpConnector } from './http-client/connector.js';
import type { HttpConnectOptions } from './http-client/options.js';
import { type HttpListenOptions, httpListener } from './http-server/http-listener.js';

export type { Challenge, HeaderRecord, HttpConnectOptions } from './http-client/options.js';
export type { HttpListenOptions } from './http-server/http-listener.js';
export { type HttpHandler, httpHandler } from './http-server/http-listener.js';
export type {
  Authenticate,
  CorsOptions,
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

/** Connects to the server at a URL, in either era, over Streamable HTTP or HTTP with SSE. */
export function http(url: string | URL, options?: HttpConnectOptions): Connector;
/** Serves both eras over HTTP on its own port. */
export function http(options?: HttpListenOptions): Listener;
export function http(
  first: string | URL | HttpListenOptions = {},
  options?: HttpConnectOptions,
): Connector | Listener {
  if (typeof first === 'string' || first instanceof URL) return httpConnector(first, options);
  return httpListener(first);
}
