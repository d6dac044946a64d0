import { CHECKS, checkServer, toJson } from '@isthmus/check';
import { type Finding, SUITES, type Suite } from '@isthmus/check/internal/model.js';
import { ARROWS } from '@isthmus/check/internal/report/plain-text.js';
import { standingOf } from '@isthmus/check/internal/report/standing.js';
import { fits } from '@isthmus/check/internal/run/plan.js';
import type { CheckRequest, FindingView } from '@isthmus/console';
import type { CheckRunner } from '@isthmus/console/internal/checks/check-store.js';
import { invalid } from '@isthmus/console/internal/http/console-error.js';
import { VERSION } from '@isthmus/sdk/internal/version.js';
import { targetToCheck } from '../check/to-check-options.js';
import { withToken } from '../login/auth-options.js';
import { type CommandTarget, commandLine } from '../target.js';

export const CHECK_SUITES = SUITES.map((name) => ({
  name,
  checks: CHECKS.filter(({ suite }) => suite === name).length,
}));

/** Runs the referee for the console. It opens connections of its own: a command is started again for it. */
export function consoleCheck(find: () => Promise<CommandTarget>): CheckRunner['run'] {
  return async (request, onFinding, signal) => {
    const options = toOptions(request);
    const target = await find();
    const report = await checkServer(targetToCheck(await withToken(target), { mode: 'auto' }), {
      ...options,
      version: VERSION,
      signal,
      onFinding: (finding, { done, of }) => onFinding(viewOf(finding, target), done, of),
    });
    return { grade: report.grade.letter, report: JSON.parse(toJson(report)) as unknown };
  };
}

function toOptions({ suites, only, ...rest }: CheckRequest) {
  const unknownSuite = suites?.find((name) => !SUITES.some((suite) => suite === name));
  if (unknownSuite !== undefined) throw invalid(`There is no suite "${unknownSuite.slice(0, 100)}"`);
  const unknown = only?.find((pattern) => !CHECKS.some(({ id }) => fits(pattern, id)));
  if (unknown !== undefined) throw invalid(`There is no check "${unknown.slice(0, 100)}"`);
  return { ...rest, ...(suites && { suites: suites as readonly Suite[] }), ...(only && { only }) };
}

function viewOf(finding: Finding, target: CommandTarget): FindingView {
  const { id, suite, title, era, level, rules, seen, hint, wire, outcome } = finding;
  const isGood = outcome === 'pass' || outcome === 'skip';
  return {
    ...{ id, suite, title, outcome: standingOf(finding), level, rules, seen },
    ...(era && { era }),
    ...(!isGood && { mend: hint }),
    ...(wire.length > 0 && { wire: wire.map(({ from, text }) => `${ARROWS[from]} ${text}`) }),
    again: commandLine('check', target, '--only', id),
  };
}
