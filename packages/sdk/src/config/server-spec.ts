/**
 * One server: what it is called, where it is, how to connect to it, how to keep its process, and what is offered of it.
 * Every configuration format is read into this type. The host, the gateway, the daemon, the commands and the referee use
 * it as it is. It is plain data, so two of them can be compared and sent to another process.
 */
export type ServerSpec = CommandSpec | UrlSpec | SocketSpec;

/** A server that is started as a process and speaks over its stdin and stdout. */
export interface CommandSpec extends ServerSettings, Defined {
  readonly kind: 'command';
  readonly name: string;
  /** Looked up in the path, or absolute. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Absolute. Where a file names none, the folder that relative paths of the file start from. */
  readonly cwd: string;
}

/** A server that is reached over HTTP. */
export interface UrlSpec extends ServerSettings, Defined {
  readonly kind: 'url';
  readonly name: string;
  readonly url: string;
  /**
   * `auto` and `http`: Streamable HTTP, and HTTP with SSE (2024-11-05) where the server refuses it. Files say `http` for
   * both. `http-only` and `sse` do not try the other one.
   */
  readonly transport: 'auto' | 'http' | 'http-only' | 'sse';
  readonly headers: Readonly<Record<string, string>>;
}

/** A server that listens on a socket. No configuration file has one; addresses of the command line do. */
export interface SocketSpec extends ServerSettings, Defined {
  readonly kind: 'socket';
  readonly name: string;
  /** `unix:PATH` or `tcp://HOST:PORT`. */
  readonly address: string;
}

/** A server of a file, with the place where it is defined. */
export type ServerEntry = (CommandSpec | UrlSpec) & Required<Pick<Defined, 'source'>>;

/** Where a server is defined. Servers of the command line and of programs have neither. */
interface Defined {
  readonly source?: Source;
  /** The definitions under the same name that this one replaces, the latest first. */
  readonly overrides?: readonly Source[];
}

/** The server itself, without the place where it is defined: two that differ only in that are the same server. */
export function withoutSource(spec: ServerSpec): ServerSpec {
  const { source: _source, overrides: _overrides, ...rest } = spec;
  return rest;
}

export interface Source {
  /** Absolute. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** For example `mcpServers.weather`. */
  readonly key: string;
}

/**
 * The options of a server. `option-table.ts` has a row for each, with its meaning and its default. The program that runs
 * the server decides what is left out.
 */
export interface ServerSettings extends OfferSettings, ConnectSettings, ProcessSettings {}

/** What is offered of a server. */
interface OfferSettings {
  readonly disabled?: boolean;
  readonly needed?: boolean;
  readonly tools?: ToolLists;
  readonly limits?: LimitSettings;
  readonly stateless?: boolean;
}

/** How to connect to a server, and how long to wait for it. */
interface ConnectSettings {
  readonly timeoutMs?: number;
  readonly connectTimeoutMs?: number;
  readonly silenceMs?: number;
  readonly bootMs?: number;
  /** `auto`, `modern`, `legacy` or a revision. */
  readonly mode?: string;
  readonly maxRounds?: number;
  readonly maxInFlight?: number;
  readonly maxLineBytes?: number;
  readonly idleMs?: number | false;
}

/** How to keep a process. A URL or a socket has no use for these. */
interface ProcessSettings {
  readonly start?: 'lazy' | 'eager';
  readonly processes?: ProcessModel;
  readonly maxProcesses?: number;
  readonly maxQueue?: number;
  readonly maxParked?: number;
  readonly maxAgeMs?: number;
  readonly overlap?: boolean;
  readonly drainMs?: number;
  readonly restart?: false | RestartSettings;
  readonly health?: false | HealthSettings;
  readonly maxUnreadMs?: number | false;
  readonly shutdown?: ShutdownSettings;
  readonly inheritEnv?: 'minimal' | 'all' | readonly string[];
  readonly trustHints?: boolean;
  readonly questions?: 'adaptive' | 'queue' | 'refuse';
  readonly stderrBytes?: number;
  readonly logStderr?: boolean;
}

/** Which conversations share a process. */
export type ProcessModel = 'shared' | 'per-conversation' | 'per-principal' | { readonly pool: number };

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

/** Names of tools as the server has them. `*` stands for any characters. `deny` overrides `allow`. */
export interface ToolLists {
  /** Left out: all of them. */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

/** A call past a limit is refused. The gateway decides what is left out. */
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

/** The values that are set. A key that is there and undefined would make two equal descriptions differ. */
export function given<T extends object>(values: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  const set = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(set) as { [Key in keyof T]?: Exclude<T[Key], undefined> };
}

/** Whether the lists let a tool through, by its name as the server has it. */
export function allowsTool({ allow, deny = [] }: ToolLists, tool: string): boolean {
  if (deny.some((pattern) => matches(pattern, tool))) return false;
  return allow === undefined || allow.some((pattern) => matches(pattern, tool));
}

/** `*` is any number of any characters. Parts are looked for from left to right, so a long name costs no more than a short one. */
function matches(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return pattern === name;
  const last = rest.pop()!;
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length)
    return false;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= name.length - last.length;
}
