import { type Command, InvalidArgumentError, Option } from 'commander';
import { CHECKS, type CheckOptions } from '../../check/index.js';
import { type Era, SUITES, type Suite } from '../../check/model.js';
import type { FailOn } from '../../check/run/judge-run.js';
import { fits } from '../../check/run/plan.js';
import { fromJson } from '../arguments/read-arguments.js';
import { suggest } from '../arguments/suggest.js';
import { usageError } from '../cli-error.js';
import { type CommonOptions, collect } from '../common-options.js';
import type { ReportFiles } from './write-reports.js';

export interface CheckCommandOptions extends CommonOptions, ReportFiles {
  readonly suite?: readonly string[];
  readonly only?: readonly string[];
  readonly skip?: readonly string[];
  readonly era?: Era;
  readonly callTools?: boolean;
  readonly allow?: readonly string[];
  readonly args?: readonly string[];
  readonly seed?: number;
  readonly fuzz?: number;
  readonly failOn: FailOn;
  readonly baseline?: string;
  readonly updateBaseline?: boolean;
  readonly through?: string;
  readonly throughPath?: string;
  readonly sarifArtifact?: string;
  readonly verbose?: boolean;
  readonly list?: boolean;
}

export function withCheckOptions(command: Command): Command {
  // What is spoken is found out, and --era leaves one of them out; what goes to stderr is shown where it explains something.
  for (const name of ['--mode', '--stderr']) {
    const at = command.options.findIndex(({ long }) => long === name);
    if (at >= 0) (command.options as Option[]).splice(at, 1);
  }
  const timeout = command.options.find(({ long }) => long === '--timeout');
  if (timeout) timeout.description = 'how long an answer may take (default: 5000)';
  return command
    .option('--suite <name>', `only this suite: ${SUITES.join(', ')}; repeatable`, collect)
    .option('--only <check>', 'only this check; * stands for anything: "tools/*"; repeatable', collect)
    .option('--skip <check>', 'not this check; repeatable', collect)
    .addOption(new Option('--era <era>', 'only this era').choices(['modern', 'legacy']))
    .option(
      '--call-tools',
      'also call tools that do not say that they only read, unless they say that they destroy',
    )
    .option('--allow <tool>', 'call this tool, whatever it says of itself; repeatable', collect)
    .option('--args <tool=json>', 'arguments to call a tool with; repeatable', collect)
    .option('--seed <number>', 'makes up the same input again', toWhole)
    .option('--fuzz <runs>', 'how many inputs each check that makes them up tries (default: 100)', toWhole)
    .addOption(
      new Option('--fail-on <level>', 'the least that fails the run')
        .choices(['must', 'should'])
        .default('must'),
    )
    .option('--baseline <file>', 'failures that are known; one that is mended or gone fails the run')
    .option('--update-baseline', 'write what fails now into the file of --baseline')
    .option(
      '--through <bridge>',
      'run the target by itself and behind this bridge, and report every difference',
    )
    .option('--through-path <path>', 'where a bridge with a {port} answers (default: /mcp)')
    .option('--junit <file>', 'write the report as JUnit XML')
    .option('--sarif <file>', 'write the report as SARIF 2.1.0')
    .option('--sarif-artifact <file>', 'the file of the repository that SARIF shows results at')
    .option('--html <file>', 'write the report as one page')
    .option('--verbose', 'also list what holds and what does not apply, and cut nothing')
    .option('--list', 'list the checks, and run none');
}

/** What the options mean for the run; complaints about names that nothing has. */
export function toCheckOptions(options: CheckCommandOptions): CheckOptions {
  const { suite, only, skip, era, callTools, allow, seed, fuzz, timeout } = options;
  for (const pattern of [...(only ?? []), ...(skip ?? [])]) checkPattern(pattern);
  if (options.updateBaseline && options.baseline === undefined) {
    throw usageError(
      '--update-baseline has no file to write',
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
    throw usageError('--through-path is for a bridge, and there is no --through');
  }
  const strange = (['baseline', 'junit', 'sarif', 'html'] as const).find(
    (name) => options[name] !== undefined,
  );
  if (strange === undefined) return;
  throw usageError(
    `--${strange} is about one report, and --through compares two`,
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
      if (at <= 0) throw usageError(`"${text}" has no tool`, `--args 'echo={"text": "hi"}'`);
      return [text.slice(0, at), fromJson(text.slice(at + 1))];
    }),
  );
}

function toWhole(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= 2 ** 31) return value;
  throw new InvalidArgumentError('It must be a whole number.');
}
