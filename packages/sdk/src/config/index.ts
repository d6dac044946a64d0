/** Reads servers from the configuration files of MCP applications. */

export type { AccessEffect, AccessRule, AccessSettings, ScopeRules } from './gateway/read-access.js';
export type { ClusterSettings } from './gateway/read-cluster.js';
export type { GatewaySettings } from './gateway/read-gateway.js';
export { mergeGateways } from './gateway/read-gateway.js';
export { type KnownFile, knownFiles, type Whereabouts } from './known-files.js';
export type { Servers } from './read-servers.js';
export { byName, doubtsAboutAccess, readServers, requireServers } from './read-servers.js';
export type { ConfigProblem } from './report.js';
export { describeProblem } from './report.js';
export type {
  CommandSpec,
  HealthSettings,
  LimitSettings,
  ProcessModel,
  RestartSettings,
  ServerEntry,
  ServerSettings,
  ServerSpec,
  ShutdownSettings,
  SocketSpec,
  Source,
  ToolLists,
  UrlSpec,
} from './server-spec.js';
export { allowsTool } from './server-spec.js';
export type { ReadOptions } from './survey.js';
export { type Definition, type SurveyedFile, surveyServers } from './survey.js';
export { type PortableServer, plain, toPortable } from './to-portable.js';
export type { WatchFolder } from './watch-folders.js';
export { type ServersChange, type ServersWatch, type WatchOptions, watchServers } from './watch-servers.js';
