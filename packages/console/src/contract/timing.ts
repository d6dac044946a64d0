import type { EpochMs, ServerQuery } from './words.js';

/** The calls of one tool, prompt or method. */
export interface TimingRow {
  readonly name: string;
  readonly method: string;
  readonly calls: number;
  readonly errors: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  /** The last 2,000 of all rows together: when it began, how long it took, whether it failed. */
  readonly points: readonly (readonly [began: EpochMs, ms: number, failed: 0 | 1, call: number])[];
}

export interface SeriesQuery extends ServerQuery {
  /** Default: one hour ago. */
  readonly from?: EpochMs;
}

/** One number for each step of 5 s; `null` where nothing was called. */
export interface SeriesView {
  readonly server?: string;
  readonly from: EpochMs;
  readonly stepMs: number;
  readonly calls: readonly number[];
  readonly errors: readonly number[];
  readonly p50: readonly (number | null)[];
  readonly p95: readonly (number | null)[];
  readonly p99: readonly (number | null)[];
  readonly rssBytes: readonly (number | null)[];
  readonly cpu: readonly (number | null)[];
}

/** The step that has just ended, for one server. */
export interface SeriesPoint {
  readonly server: string;
  readonly at: EpochMs;
  readonly calls: number;
  readonly errors: number;
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}
