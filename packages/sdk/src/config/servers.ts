import type { LimitSettings, ServerEntry } from './server-spec.js';

/** Everything that the files said about servers: those that can be used, and what is wrong with the rest. */
export interface Servers {
  /** By name. A server with an error is not in it. The object has no prototype, so any name is safe to look up. */
  readonly servers: Readonly<Record<string, ServerEntry>>;
  readonly problems: readonly ConfigProblem[];
  /** The blocks `gateway` of all files as one: what a later file says wins, word by word. */
  readonly gateway: GatewaySettings;
}

/** The block `gateway` at the top of a file. */
export interface GatewaySettings {
  /** Between the name of a server and that of its tool where several servers are one. Default `__`. */
  readonly separator?: string;
  /** Addresses as `serve --listen` takes them. */
  readonly listen?: readonly string[];
  /** For every server that does not say otherwise. */
  readonly limits?: LimitSettings;
  /** How long calls in flight may take when the gateway stops. */
  readonly drainMs?: number;
  /** How long the others are kept waiting for a server that does not answer. */
  readonly patienceMs?: number;
}

/** Something to tell the author of a file. The message names keys and variables, never values. */
export interface ConfigProblem {
  /** An `error` costs the server, or the file where `server` is not set; a `warning` costs nothing. */
  readonly severity: 'error' | 'warning';
  readonly file: string;
  /** From 1, as `column`; both are 0 where the file could not be read at all. */
  readonly line: number;
  readonly column: number;
  /** For example `mcpServers.weather.args[0]`; empty for the file as a whole. */
  readonly key: string;
  readonly message: string;
  /** What to do about it, where the message does not say so itself. */
  readonly hint?: string;
  /** What the file refers to and has no value here: the name of a variable, or `input:ID`. */
  readonly missing?: string;
  readonly server?: string;
}

export interface ReadOptions {
  /** Where `${NAME}` is looked up. Default: the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What relative names of files start from, and the workspace of files that belong to no project. */
  readonly cwd?: string;
  /** `${workspaceFolder}`, and what relative paths in the files start from. Default: the project of each file. */
  readonly workspaceFolder?: string;
  readonly home?: string;
  /** Values of `${input:id}`, which an editor would ask its user for. */
  readonly inputs?: Readonly<Record<string, string>>;
  /** Files that are not there are no error: for `knownFiles()`. */
  readonly skipMissing?: boolean;
}
