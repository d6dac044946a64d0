/** Everything that the files said about servers: those that can be used, and what is wrong with the rest. */
export interface Servers {
  /** By name. A server with an error is not in it. The object has no prototype, so any name is safe to look up. */
  readonly servers: Readonly<Record<string, ServerEntry>>;
  readonly problems: readonly ConfigProblem[];
}

export type ServerEntry = CommandEntry | UrlEntry;

/** A server that is started as a process. */
export interface CommandEntry extends ServerSettings, Origin {
  readonly kind: 'command';
  readonly name: string;
  /** Looked up in the path, or absolute: a relative file is already resolved. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Absolute. Where the file names none, the folder that relative paths of the file start from. */
  readonly cwd: string;
}

/** A server that is reached over HTTP. */
export interface UrlEntry extends ServerSettings, Origin {
  readonly kind: 'url';
  readonly name: string;
  readonly url: string;
  /** `auto`: the file does not say. */
  readonly transport: 'http' | 'sse' | 'auto';
  readonly headers: Readonly<Record<string, string>>;
}

/** How the server is to be kept. What is left out is for whoever runs it to decide. */
export interface ServerSettings {
  readonly disabled?: boolean;
  /** Time for one call. */
  readonly timeoutMs?: number;
  /** `auto`, `modern`, `legacy` or a revision. */
  readonly mode?: string;
  readonly start?: 'lazy' | 'eager';
  readonly processes?: 'shared' | 'per-conversation' | 'per-principal' | { readonly pool: number };
  readonly maxProcesses?: number;
  readonly maxInFlight?: number;
  readonly maxQueue?: number;
  /** How long a process may be without work before it is ended; `false`: for ever. */
  readonly idleMs?: number | false;
  readonly maxAgeMs?: number;
  readonly restart?: false | RestartSettings;
  readonly inheritEnv?: 'minimal' | 'all' | readonly string[];
  readonly trustHints?: boolean;
}

export interface RestartSettings {
  readonly attempts?: number;
  readonly firstDelayMs?: number;
  readonly maxDelayMs?: number;
  readonly stableMs?: number;
}

interface Origin {
  readonly source: Source;
  /** The definitions under the same name that this one replaces, the latest first. */
  readonly overrides?: readonly Source[];
}

/** Where a server is defined. */
export interface Source {
  /** Absolute. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** For example `mcpServers.weather`. */
  readonly key: string;
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
