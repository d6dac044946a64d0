import type { CheckCatalogue, CheckRequest, FindingView } from '../contract.js';

/** Runs the referee on one server. The command line hands it over. */
export interface CheckRunner {
  readonly suites: CheckCatalogue['suites'];
  readonly startsCopies: boolean;
  /** Settles with the report of `isthmus check --json`. A stopped run has the findings until then. */
  run(
    request: CheckRequest,
    onFinding: (finding: FindingView, done: number, of: number) => void,
    signal: AbortSignal,
  ): Promise<{ readonly grade?: string | undefined; readonly report: unknown }>;
}
