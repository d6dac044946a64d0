/**
 * Keeps server processes for an application: `isthmus/host`.
 * @module
 */

export type { CallOptions } from '../client/call-options.js';
export type { Client } from '../client/client.js';
export { type EraCache, fileEraCache, memoryEraCache } from '../client/negotiation/era-cache.js';
export type { Changes, Wanted } from '../client/subscriptions.js';
export {
  allowsTool,
  type CommandSpec,
  type ConfigProblem,
  describeProblem,
  type KnownFile,
  knownFiles,
  type ProcessModel,
  type ReadOptions,
  readServers,
  requireServers,
  type ServerEntry,
  type ServerSettings,
  type ServerSpec,
  type Servers,
  type ServersChange,
  type ServersWatch,
  type SocketSpec,
  type ToolLists,
  type UrlSpec,
  type WatchOptions,
  type Whereabouts,
  watchServers,
} from '../config/index.js';
export type { AnswerContext, Answers } from '../era/answers.js';
export type { DiscoveryOutcome, EraVerdict } from '../era/client/era-verdict.js';
export type { QuestionPolicy } from '../era/client-dialect-context.js';
export { IsthmusError, ProtocolError } from '../errors.js';
export type { ConversationOptions } from './conversation.js';
export { createHost, type Host, type HostOptions } from './create-host.js';
export type { ServerDefinition } from './definition.js';
export type { HostEvent } from './host-event.js';
export type { HostServers, RemoteDefinition } from './host-servers.js';
export type { HostTool, HostTools, HostToolsOptions } from './host-tools.js';
export type { HealthCheck } from './process/health.js';
export type { ProcessState, RestartPolicy } from './process/process-state.js';
export type { HostStatus, LastExit, ProcessStatus, Receipt, ServerStatus } from './status.js';
