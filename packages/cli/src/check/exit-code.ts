import type { Report } from '@isthmus/check/internal/model.js';
import { type FailOn, verdictOf } from '@isthmus/check/internal/run/grade.js';
import { EXIT } from '../exit-codes.js';

/**
 * What a finished run ends with: 0 when it is green, else 1. That a server cannot be reached, or that the command line
 * makes no sense, is decided before there is a report: those have codes of their own.
 */
export function exitCodeOf(
  report: Pick<Report, 'counts' | 'stale' | 'goneAfter'>,
  failOn: FailOn = 'must',
): number {
  return verdictOf(report, failOn).passed ? EXIT.ok : EXIT.failed;
}

export const CHECK_EXIT_HELP = `
Exit codes:
  0  every MUST that applies holds (--fail-on should: every SHOULD, too), or the baseline knows those that do not
  1  something is broken, the server went away, a check could not be finished, no check applied, or an entry of the
     baseline is stale
  2  the command line, or the baseline, makes no sense
  3  cannot connect to the server
  4  the server speaks no era of MCP, so that there is nothing to judge
  130  interrupted by Ctrl-C (143: by SIGTERM)`;
