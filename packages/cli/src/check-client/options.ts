import { CLIENT_CHECKS } from '@isthmus/check/internal/client/catalogue.js';
import { CLIENT_SUITES, OVERS, type Over } from '@isthmus/check/internal/client/model.js';
import { SCENARIOS } from '@isthmus/check/internal/client/scenarios/index.js';
import type { Era } from '@isthmus/check/internal/model.js';
import type { FailOn } from '@isthmus/check/internal/run/grade.js';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { suggest } from '../arguments/suggest.js';
import type { ReportFiles } from '../check/write-reports.js';
import { usageError } from '../cli-error.js';
import { collect, toMs, toVariable } from '../common-options.js';

export interface CheckClientOptions extends ReportFiles {
  readonly over?: Over;
  readonly era?: Era | 'both';
  readonly only?: readonly string[];
  readonly timeout?: number;
  readonly jobs: number;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly failOn: FailOn;
  readonly json?: boolean;
  readonly verbose?: boolean;
  readonly list?: boolean;
  readonly baseline?: string;
  readonly updateBaseline?: boolean;
}

export function withClientOptions(command: Command): Command {
  return command
    .addOption(new Option('--over <transport>', 'only this one').choices([...OVERS]))
    .addOption(
      new Option('--era <era>', 'what the client speaks, where it does not show it by itself').choices([
        'modern',
        'legacy',
        'both',
      ]),
    )
    .option('--only <name>', 'only this check, suite or scenario; repeatable', collect)
    .option('-t, --timeout <ms>', 'how long the client may take for one server (default: 90000)', toMs)
    .option('-j, --jobs <number>', 'how many servers at a time', toJobs, 2)
    .option('--cwd <folder>', 'the folder that the client runs in')
    .option('--env <name=value>', 'a variable for the client; repeatable', toVariable)
    .addOption(
      new Option('--fail-on <level>', 'the least that fails the run')
        .choices(['must', 'should'])
        .default('must'),
    )
    .option('--baseline <file>', 'failures that are known; one that is mended or gone fails the run')
    .option('--update-baseline', 'write what fails now into the file of --baseline')
    .option('--verbose', 'also list what holds, and cut nothing')
    .option('--json', 'print the report as JSON, with all that was said')
    .option('--junit <file>', 'write the report as JUnit XML')
    .option('--sarif <file>', 'write the report as SARIF')
    .option('--html <file>', 'write the report as a page')
    .option('--list', 'list the checks, and run none');
}

/** What can be seen to be wrong before anything is started. */
export function checkOptions({ only = [], baseline, updateBaseline }: CheckClientOptions): void {
  checkNames(only);
  if (updateBaseline && baseline === undefined) {
    throw usageError(
      '--update-baseline has no file to write',
      '--baseline client-baseline.json --update-baseline',
    );
  }
}

function checkNames(only: readonly string[]): void {
  const known = [
    ...CLIENT_SUITES,
    ...CLIENT_CHECKS.map(({ id }) => id),
    ...SCENARIOS.map(({ name }) => name),
  ];
  for (const name of only) {
    if (known.includes(name) || name.endsWith('*')) continue;
    const meant = suggest(name, known);
    throw usageError(`There is no check, suite or scenario "${name}"`, meant && `Did you mean ${meant}?`);
  }
}

function toJobs(text: string): number {
  const jobs = Number(text);
  if (!Number.isInteger(jobs) || jobs < 1 || jobs > 64) throw new InvalidArgumentError('It must be 1 to 64.');
  return jobs;
}
