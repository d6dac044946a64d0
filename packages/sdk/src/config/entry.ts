/** Everything that the files said about servers: those that can be used, and what is wrong with the rest. */
export interface Servers {
  /** By name. A server with an error is not in it. The object has no prototype, so any name is safe to look up. */
  readonly servers: Readonly<Record<string, ServerEntry>>;
  readonly problems: readonly ConfigProblem[];
  /** The blocks `gateway` of all files as one: what a later file says wins, word by word. */
  readonly gateway: GatewaySettings;
}

export type ServerEntry = CommandEntry | UrlEntry;

/** A server that is started as a process. */
export interface CommandEntry extends EntrySettings, Origin {
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
export interface UrlEntry extends EntrySettings, Origin {
  readonly kind: 'url';
  readonly name: string;
  readonly url: string;
  /** `auto`: the file does not say. */
  readonly transport: 'http' | 'sse' | 'auto';
  readonly headers: Readonly<Record<string, string>>;
}

/** How the server is to be kept. What is left out is for whoever runs it to decide. */
export interface EntrySettings extends UnitWords, ProcessWords {
  readonly disabled?: boolean;
  /** Time for one call. */
  readonly timeoutMs?: number;
  /** Time for all of connecting, with finding out the era. */
  readonly connectTimeoutMs?: number;
  /** How long a server that shows life may be silent on the first question before it counts as legacy. */
  readonly silenceMs?: number;
  /** How long a server may take to show life before it counts as legacy. */
  readonly bootMs?: number;
  /** `auto`, `modern`, `legacy` or a revision. */
  readonly mode?: string;
  /** How often the server may ask back within one call. */
  readonly maxRounds?: number;
  /** Calls that the server is given at once. */
  readonly maxInFlight?: number;
  /** How long a process, or a session with a URL, may be without work before it is ended; `false`: for ever. */
  readonly idleMs?: number | false;
  /** The longest line of a process, or answer of a URL; a longer one costs its call. */
  readonly maxLineBytes?: number;
}

/** What a gateway does about the server. */
interface UnitWords {
  /** Which of its tools are shown and may be called. */
  readonly tools?: ToolLists;
  /** Whether readiness waits for it. Default true. */
  readonly needed?: boolean;
  readonly limits?: LimitSettings;
  /** It keeps nothing for its callers, so that different principals may share it. Default false. */
  readonly stateless?: boolean;
}

/** What only a process can have. */
interface ProcessWords {
  readonly start?: 'lazy' | 'eager';
  readonly processes?: 'shared' | 'per-conversation' | 'per-principal' | { readonly pool: number };
  readonly maxProcesses?: number;
  /** Calls that may wait for a process, or for room in it. */
  readonly maxQueue?: number;
  /** Calls of a process that may wait for an answer to a question. */
  readonly maxParked?: number;
  readonly maxAgeMs?: number;
  /** Starts a fresh process before the old one has ended. */
  readonly overlap?: boolean;
  /** How long calls may take when their process is to be replaced. */
  readonly drainMs?: number;
  readonly restart?: false | RestartSettings;
  readonly health?: false | HealthSettings;
  /** A process that has read nothing of its stdin for so long is killed. */
  readonly maxUnreadMs?: number | false;
  readonly shutdown?: ShutdownSettings;
  readonly inheritEnv?: 'minimal' | 'all' | readonly string[];
  readonly trustHints?: boolean;
  readonly questions?: 'adaptive' | 'queue' | 'refuse';
  /** How much of what it writes to stderr is kept. */
  readonly stderrBytes?: number;
}

export interface RestartSettings {
  readonly attempts?: number;
  readonly firstDelayMs?: number;
  readonly maxDelayMs?: number;
  readonly stableMs?: number;
  /** From 0 to 1. */
  readonly jitter?: number;
}

export interface HealthSettings {
  readonly everyMs?: number;
  readonly timeoutMs?: number;
  readonly maxSilentMs?: number;
}

export interface ShutdownSettings {
  readonly closeMs?: number;
  readonly termMs?: number;
  readonly killMs?: number;
}

/** Names of tools as the server has them; `*` stands for any characters. What is denied is never allowed. */
export interface ToolLists {
  /** Left out: all of them. */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

/** Past a limit a call is refused, and others are not affected. What is left out is for the gateway to decide. */
export interface LimitSettings {
  /** Calls that run at once. */
  readonly maxConcurrent?: number;
  /** Calls that wait for one of them to end. */
  readonly maxQueue?: number;
  /** Calls of one caller that run at once. */
  readonly maxConcurrentPerCaller?: number;
  /** Open subscriptions. */
  readonly maxListens?: number;
  /** Sessions of legacy clients. */
  readonly maxSessions?: number;
  /** Calls of one caller within a minute. */
  readonly ratePerMinute?: number;
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
