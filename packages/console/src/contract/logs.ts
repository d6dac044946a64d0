import type { EpochMs, ServerQuery } from './words.js';

export type LogLevelName =
  | 'debug'
  | 'info'
  | 'notice'
  | 'warning'
  | 'error'
  | 'critical'
  | 'alert'
  | 'emergency';

export interface LogLevelSet {
  /** `session`: of this connection (legacy). `each request`: of calls without one (modern). */
  readonly how: 'session' | 'each request';
}

export interface LogsQuery extends ServerQuery {
  /** The last lines. Default 200, at most 2,000. */
  readonly lines?: number;
}

export interface LogRow {
  /** Rises by one. */
  readonly number: number;
  readonly at: EpochMs;
  readonly server?: string;
  /** `log`: a message of the server. `process`: what happened to it. */
  readonly source: 'stderr' | 'log' | 'process';
  readonly level?: string;
  readonly logger?: string;
  readonly text: string;
  readonly call?: number;
  readonly pid?: number;
  readonly generation?: number;
  /** How many lines before this one were left out. */
  readonly missed?: number;
}
