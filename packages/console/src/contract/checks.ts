import type { EraName } from './words.js';

export interface CheckRequest {
  readonly suites?: readonly string[];
  readonly only?: readonly string[];
  readonly eras?: readonly EraName[];
  /** Also calls tools that may change something. */
  readonly callTools?: boolean;
  readonly allow?: readonly string[];
  readonly seed?: number;
}

export interface CheckCatalogue {
  readonly suites: readonly { readonly name: string; readonly checks: number }[];
  /** Whether the referee starts copies of the server of its own. */
  readonly startsCopies: boolean;
  readonly runs: readonly CheckProgress[];
}

export interface CheckProgress {
  readonly id: number;
  readonly state: 'running' | 'done' | 'stopped' | 'failed';
  readonly done: number;
  readonly of: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly grade?: string;
  /** The newest finding, in the events of a feed. */
  readonly finding?: FindingView;
  /** Why it failed. */
  readonly problem?: string;
}

export interface CheckRun extends CheckProgress {
  readonly findings: readonly FindingView[];
  /** The report of `isthmus check --json`, once it is there. */
  readonly report?: unknown;
}

export interface FindingView {
  readonly id: string;
  readonly suite: string;
  readonly title: string;
  readonly era?: EraName;
  readonly outcome: 'pass' | 'fail' | 'warn' | 'error' | 'skip' | 'accepted';
  readonly level?: string;
  readonly rules: readonly string[];
  readonly seen?: string;
  readonly mend?: string;
  /** What was sent and received. */
  readonly wire?: readonly string[];
  /** The command line that runs this check alone. */
  readonly again: string;
}
