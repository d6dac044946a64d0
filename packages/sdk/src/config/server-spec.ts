/**
 * The description of one server: its name, its endpoint, and the options for its connection, its process and what is offered
 * of it. Every configuration format is read into this type. The host, the gateway, the daemon, the commands and the referee
 * use it. It is plain data, so it can be compared and sent to another process.
 */
export type ServerSpec = CommandSpec | UrlSpec | SocketSpec;

/** A server that is started as a process and connected over its stdin and stdout. */
export interface CommandSpec extends ServerSettings, Defined {
  readonly kind: 'command';
  readonly name: string;
  /** A name that is looked up in PATH, or an absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Absolute. Default in a file: the project of the file. */
  readonly cwd: string;
}

/** A server that is reached over HTTP. */
export interface UrlSpec extends ServerSettings, Defined {
  readonly kind: 'url';
  readonly name: string;
  readonly url: string;
  /**
   * `auto` and `http`: Streamable HTTP first, then HTTP with SSE (2024-11-05) if the server refuses it. In files `http` is
   * common for both. `http-only` and `sse` use only one of them.
   */
  readonly transport: 'auto' | 'http' | 'http-only' | 'sse';
  readonly headers: Readonly<Record<string, string>>;
  /** Default: no login. A header `Authorization` switches it off. */
  readonly auth?: UrlAuth;
}

/**
 * How requests get their login. `stored` uses the logins of this user and renews them; it never begins one.
 * `client-credentials` needs no user. `token-exchange` is for gateways: the token of each caller is changed for one of the
 * server (RFC 8693). `per-user` is for gateways, too: each caller logs in to the server itself.
 */
export interface UrlAuth {
  readonly mode: 'stored' | 'client-credentials' | 'token-exchange' | 'per-user';
  readonly clientId?: string;
  readonly clientSecret?: string | { readonly file: string };
  /** Signs assertions in the place of a secret. */
  readonly privateKey?: {
    readonly pem: { readonly file: string };
    readonly algorithm: string;
    readonly keyId?: string;
  };
  readonly issuer?: string;
  readonly tokenEndpoint?: string;
  readonly scopes?: readonly string[];
  /** `false` sends none. */
  readonly resource?: string | false;
  /** The value of `audience` in a token exchange. */
  readonly audience?: string;
  /** Uses PKCE with an authorization server that does not say that it supports it. */
  readonly assumePkce?: boolean;
  /** Lets the metadata of the server lead to private addresses. */
  readonly allowPrivateAddresses?: boolean;
  /** The gateway is known by the address of a document about itself, which it serves (CIMD). For `per-user`. */
  readonly clientMetadata?: boolean;
}

/** A server that listens on a socket. Only the command line can name one, not a configuration file. */
export interface SocketSpec extends ServerSettings, Defined {
  readonly kind: 'socket';
  readonly name: string;
  /** `unix:PATH` or `tcp://HOST:PORT`. */
  readonly address: string;
}

/** A server of a file, with the position of its definition. */
export type ServerEntry = (CommandSpec | UrlSpec) & Required<Pick<Defined, 'source'>>;

/** Where a server is defined. Not set for servers of the command line and of programs. */
interface Defined {
  readonly source?: Source;
  /** The definitions under the same name that this one replaces, the latest first. */
  readonly overrides?: readonly Source[];
}

/** The spec without the position of its definition, for comparisons. */
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
 * the server sets the defaults.
 */
export interface ServerSettings extends OfferSettings, ConnectSettings, ProcessSettings {}

/** What is offered of a server. */
interface OfferSettings {
  readonly disabled?: boolean;
  readonly needed?: boolean;
  readonly tools?: ToolLists;
  readonly limits?: LimitSettings;
  readonly stateless?: boolean;
  /** Where its processes are in a cluster. */
  readonly placement?: 'auto' | 'local' | 'one';
  readonly promoteAfterMs?: number;
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

/** How to run the process of a command. Not for URLs and sockets. */
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
  /** Default: all tools. */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

/** A call above a limit is refused. The gateway sets the defaults. */
export interface LimitSettings {
  /** Calls that run at once. */
  readonly maxConcurrent?: number;
  /** Calls that wait until a running call has ended. */
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

/** Removes undefined values, so that equal specs stay equal in a comparison. */
export function given<T extends object>(values: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  const set = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(set) as { [Key in keyof T]?: Exclude<T[Key], undefined> };
}

/** Whether the lists allow a tool, by its name at the server. */
export function allowsTool({ allow, deny = [] }: ToolLists, tool: string): boolean {
  if (deny.some((pattern) => matches(pattern, tool))) return false;
  return allow === undefined || allow.some((pattern) => matches(pattern, tool));
}

/** `*` is any number of any characters. The parts are searched from left to right, which takes linear time. */
export function matches(pattern: string, name: string): boolean {
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
