/** Servers from the files that people already have. */
export { allowsTool } from './allows-tool.js';
export type {
  CommandEntry,
  ConfigProblem,
  EntrySettings,
  GatewaySettings,
  HealthSettings,
  LimitSettings,
  ReadOptions,
  RestartSettings,
  ServerEntry,
  Servers,
  ShutdownSettings,
  Source,
  ToolLists,
  UrlEntry,
} from './entry.js';
export { type KnownFile, knownFiles, type Whereabouts } from './known-files.js';
export { mergeGateways } from './read-gateway.js';
export { byName, readServers, requireServers } from './read-servers.js';
export { describeProblem } from './report.js';
export {
  type BridgePart,
  type ConnectPart,
  type GatewayPart,
  type HostPart,
  type ServerParts,
  splitEntry,
  type UpstreamPart,
} from './split-entry.js';
export { type Definition, type SurveyedFile, surveyServers } from './survey.js';
export { type PortableServer, plain, toPortable } from './to-portable.js';
export type { WatchFolder } from './watch-folders.js';
export { type ServersChange, type ServersWatch, type WatchOptions, watchServers } from './watch-servers.js';
