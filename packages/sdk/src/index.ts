/**
 * The main entry point: define and serve a server, connect to one, host many, bridge the eras.
 * @module
 */
export {
  type Bridge,
  type BridgeOptions,
  createBridge,
  type Upstream,
  upstreamAt,
} from './bridge/index.js';
export * from './client/index.js';
export {
  allowsTool,
  type ConversationOptions,
  createHost,
  describeProblem,
  type Host,
  type HostEvent,
  type HostOptions,
  type HostServers,
  type HostStatus,
  type HostTool,
  type HostTools,
  type HostToolsOptions,
  knownFiles,
  type RemoteDefinition,
  readServers,
  requireServers,
  type ServerDefinition,
  watchServers,
} from './host/index.js';
export * from './oauth/index.js';
export * from './server/index.js';
export { type HttpHandler, type HttpListenOptions, http, httpHandler } from './transport/http.js';
export { type MemoryConnection, type MemoryLink, memory } from './transport/memory.js';
export { type SocketOptions, type TcpOptions, tcp, unixSocket } from './transport/socket.js';
export { type CommandOptions, type StdioOptions, stdio } from './transport/stdio.js';
