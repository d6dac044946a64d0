/** Servers from the files that people already have. */
export type {
  CommandEntry,
  ConfigProblem,
  ReadOptions,
  RestartSettings,
  ServerEntry,
  ServerSettings,
  Servers,
  Source,
  UrlEntry,
} from './entry.js';
export { type KnownFile, knownFiles, type Whereabouts } from './known-files.js';
export { readServers, requireServers } from './read-servers.js';
export { describeProblem } from './report.js';
