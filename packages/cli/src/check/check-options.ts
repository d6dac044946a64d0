import { type Era, SUITES } from '@isthmus/check/internal/model.js';
import type { FailOn } from '@isthmus/check/internal/run/grade.js';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type CommonOptions, collect } from '../common-options.js';
import type { ReportFiles } from './write-reports.js';

export interface CheckCommandOptions extends CommonOptions, ReportFiles {
  readonly suite?: readonly string[];
  readonly only?: readonly string[];
  readonly skip?: readonly string[];
  readonly era?: Era;
  readonly callTools?: boolean;
  /** `false` with --no-tools. */
  readonly tools?: boolean;
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
    .option('--no-tools', 'call no tools but those of --allow, not even those that say that they only read')
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

function toWhole(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= 2 ** 31) return value;
  throw new InvalidArgumentError('It must be a whole number.');
}
