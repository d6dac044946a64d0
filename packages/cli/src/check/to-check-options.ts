import { CHECKS, type CheckOptions, type CheckTarget } from '@isthmus/check';
import { SUITES, type Suite } from '@isthmus/check/internal/model.js';
import { fits } from '@isthmus/check/internal/run/plan.js';
import { targetOfSpec } from '@isthmus/check/internal/wire/targets.js';
import { fromJson } from '../arguments/read-arguments.js';
import { suggest } from '../arguments/suggest.js';
import { usageError } from '../cli-error.js';
import type { CheckCommandOptions } from '../commands/check.js';
import type { CommonOptions } from '../common-options.js';
import { type CommandTarget, labelOf, withSettings } from '../target.js';

/** The options of a run, from the command line. Refuses unknown names of suites and checks. */
export function toCheckOptions(options: CheckCommandOptions): CheckOptions {
  const { suite, only, skip, era, callTools, tools, allow, seed, fuzz, timeout } = options;
  for (const pattern of [...(only ?? []), ...(skip ?? [])]) checkPattern(pattern);
  if (options.updateBaseline && options.baseline === undefined) {
    throw usageError(
      '--update-baseline needs a file to write',
      '--baseline mcp-baseline.json --update-baseline',
    );
  }
  checkThroughOptions(options);
  return {
    ...(suite && { suites: suite.map(toSuite) }),
    ...(only && { only }),
    ...(skip && { skip }),
    ...(era && { eras: [era] }),
    ...(callTools && { callTools }),
    ...(tools === false && { noTools: true }),
    ...(allow && { allow }),
    ...(options.args && { args: toArguments(options.args) }),
    ...(seed !== undefined && { seed }),
    ...(fuzz !== undefined && { fuzzRuns: fuzz }),
    ...(timeout !== undefined && { patience: { answerMs: timeout, helloMs: Math.max(timeout, 20_000) } }),
  };
}

function checkThroughOptions(options: CheckCommandOptions): void {
  if (options.through === undefined) {
    if (options.throughPath === undefined) return;
    throw usageError('--through-path needs --through BRIDGE');
  }
  const unusable = (['baseline', 'junit', 'sarif', 'html'] as const).find(
    (name) => options[name] !== undefined,
  );
  if (unusable === undefined) return;
  throw usageError(
    `--${unusable} works for one report, and --through compares two`,
    '--json has both reports and every difference',
  );
}

function toSuite(name: string): Suite {
  const suite = SUITES.find((each) => each === name);
  if (suite) return suite;
  const meant = suggest(name, SUITES);
  throw usageError(
    `There is no suite "${name}"`,
    meant === undefined ? `There are ${SUITES.join(', ')}` : `Did you mean ${meant}?`,
  );
}

function checkPattern(pattern: string): void {
  const ids = CHECKS.map(({ id }) => id);
  if (ids.some((id) => fits(pattern, id))) return;
  const meant = suggest(pattern, ids);
  throw usageError(
    `There is no check "${pattern}"`,
    meant === undefined ? 'isthmus check --list names them' : `Did you mean ${meant}?`,
  );
}

function toArguments(given: readonly string[]): Record<string, Record<string, unknown>> {
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf('=');
      if (at <= 0) throw usageError(`--args "${text}" names no tool`, `--args 'echo={"text": "hi"}'`);
      return [text.slice(0, at), fromJson(text.slice(at + 1))];
    }),
  );
}

/** The server to check, with the options of the command line. */
export function targetToCheck(target: CommandTarget, options: CommonOptions): CheckTarget {
  return targetOfSpec(withSettings(target, options), labelOf(target));
}
