import type { Listener } from '../exchange/connection.js';
import { type HttpListenOptions, httpListener } from './http-server/http-listener.js';

export {
  type EventStore,
  type EventStoreOptions,
  memoryEventStore,
  type StoredEvent,
} from './http-server/event-store.js';
export { type HttpHandler, httpHandler } from './http-server/http-handler.js';
export type { HttpListenOptions } from './http-server/http-listener.js';
export type {
  Authenticate,
  CorsOptions,
  HttpEndpointOptions,
  HttpRequestFacts,
  ProtectedResource,
  Refusal,
} from './http-server/options.js';

/** Serves both eras over HTTP, on a port of its own. */
export function http(options: HttpListenOptions = {}): Listener {
  return httpListener(options);
}
