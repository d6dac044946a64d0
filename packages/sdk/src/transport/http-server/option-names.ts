import type { OptionNames } from '../../arguments.js';
import type { HttpListenOptions } from './http-listener.js';
import type { NodeServerOptions } from './node-server.js';
import type { HttpEndpointOptions } from './options.js';

export const ENDPOINT_OPTIONS: OptionNames<HttpEndpointOptions> = {
  path: true,
  place: true,
  allowedHosts: true,
  ownNames: true,
  allowedOrigins: true,
  cors: true,
  authenticate: true,
  protectedResource: true,
  authorize: true,
  trustProxy: true,
  resourcePlace: true,
  maxBodyBytes: true,
  maxBodiesBytes: true,
  maxRequests: true,
  maxStreams: true,
  keepAliveMs: true,
  legacy: true,
  maxSessions: true,
  sessionIdleMs: true,
  eventStore: true,
  retryMs: true,
  pollAfterMs: true,
  sse: true,
  clock: true,
};

const NODE_SERVER_OPTIONS: OptionNames<NodeServerOptions> = {
  host: true,
  port: true,
  headersTimeoutMs: true,
  requestTimeoutMs: true,
  idleTimeoutMs: true,
  answerTimeoutMs: true,
  maxUnreadBytes: true,
  maxHeaderBytes: true,
  maxConnections: true,
};

export const LISTEN_OPTIONS: OptionNames<HttpListenOptions> = { ...ENDPOINT_OPTIONS, ...NODE_SERVER_OPTIONS };
