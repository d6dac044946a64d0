import type { AccessLevel } from './access.js';
import type { ConnectionProblem } from './connections.js';
import type { EpochMs, EraName } from './words.js';

/** As `/status` has it, for the page. */
export interface StatusView {
  readonly pid: number;
  readonly version: string;
  readonly startedAt: EpochMs;
  readonly listening: readonly string[];
  readonly ready: boolean;
  /** In the order of the configuration. */
  readonly servers: readonly ServerView[];
  /** Why the configuration file was not taken over. */
  readonly configProblem?: string;
  readonly callsPerSecond: number;
  readonly errorShare: number;
}

export interface ServerView {
  readonly name: string;
  readonly kind: 'command' | 'url';
  readonly state: 'ready' | 'starting' | 'restarting' | 'asleep' | 'failed' | 'needs-login' | 'off';
  readonly reason?: string;
  readonly needed: boolean;
  readonly era?: EraName;
  readonly evidence?: string;
  readonly server?: { readonly name: string; readonly version: string };
  readonly paths: readonly string[];
  readonly processes: readonly ProcessView[];
  readonly restarts: number;
  /** When the next start is due. */
  readonly nextAttemptAt?: EpochMs;
  readonly lastExit?: { readonly at: EpochMs; readonly reason: string; readonly stderr: readonly string[] };
  readonly load: {
    readonly running: number;
    readonly waiting: number;
    readonly asking: number;
    readonly conversations: number;
  };
  readonly callsPerSecond: number;
  readonly errorShare: number;
  readonly p95?: number;
  readonly rssBytes?: number;
  /** Of one core, in percent. */
  readonly cpu?: number;
}

export interface ProcessView {
  readonly state: string;
  readonly generation: number;
  readonly pid?: number;
  readonly owner?: string;
  readonly era?: EraName;
  readonly uptimeMs?: number;
  readonly inFlight: number;
  readonly parked: number;
  readonly queued: number;
  /** The proof that this process, and not an earlier one, has answered. */
  readonly receipt?: {
    readonly handshake: 'server/discover' | 'initialize';
    readonly handshakeAt: EpochMs;
    readonly list?: { readonly method: string; readonly items: number; readonly at: EpochMs };
    readonly listError?: string;
    readonly complete: boolean;
  };
  readonly noise: number;
  readonly rssBytes?: number;
  readonly cpu?: number;
}

export interface ServerDetail extends ServerView {
  readonly history: readonly { readonly at: EpochMs; readonly what: string; readonly generation?: number }[];
  readonly limits: Readonly<Record<string, number>>;
  readonly refused: number;
  readonly tools?: { readonly allow?: readonly string[]; readonly deny?: readonly string[] };
  readonly likely: ConnectionProblem['likely'];
}

export interface Reloaded {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  readonly unchanged: readonly string[];
  readonly problem?: string;
}

export interface CallerRow {
  /** Absent: not authenticated. */
  readonly principal?: string;
  /** The names that its clients give themselves. */
  readonly clients: readonly string[];
  readonly eras: readonly EraName[];
  readonly sessions: number;
  readonly now: number;
  readonly calls: number;
  readonly errors: number;
  readonly lastAt: EpochMs;
  /** How many calls run and wait, of those that may run at once. Empty without a principal: these are several callers. */
  readonly limits: readonly {
    readonly server: string;
    readonly running: number;
    readonly waiting: number;
    readonly of: number;
  }[];
}

export interface SessionRow {
  /** Not the session id of the protocol, which is a credential. */
  readonly id: number;
  readonly server: string;
  readonly principal?: string;
  readonly client?: string;
  readonly revision: string;
  readonly since: EpochMs;
  readonly subscribed: number;
}

/** The settings as they were taken over. Values of variables and headers are never here, only their names. */
export interface SettingsView {
  readonly files: readonly string[];
  readonly problems: readonly {
    readonly file?: string;
    readonly line?: number;
    readonly column?: number;
    readonly message: string;
  }[];
  readonly warnings: readonly string[];
  readonly servers: readonly ServerSettingsView[];
  readonly listening: readonly string[];
  /** In words. */
  readonly auth: readonly string[];
  readonly console: {
    readonly address: string;
    readonly recording: 'allowed' | 'forbidden';
    readonly keys: readonly { readonly name: string; readonly levels: readonly AccessLevel[] }[];
  };
}

export interface ServerSettingsView {
  readonly name: string;
  readonly kind: 'command' | 'url';
  /** The program, or the address without its query. */
  readonly what: string;
  /** The names of its variables or headers. */
  readonly secrets: readonly string[];
  /** The other options, as the file has them. */
  readonly options: Readonly<Record<string, unknown>>;
}
