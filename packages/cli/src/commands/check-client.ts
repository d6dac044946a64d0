import { OVERS, type Over } from '@isthmus/check/internal/client/model.js';
import type { Era } from '@isthmus/check/internal/model.js';
import type { FailOn } from '@isthmus/check/internal/run/grade.js';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { ReportFiles } from '../check/report-files.js';
import { collect, toMs, toVariable } from '../common-options.js';

export interface CheckClientOptions extends ReportFiles {
  readonly over?: Over;
  readonly era?: Era | 'both';
  readonly only?: readonly string[];
  readonly auth?: boolean;
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

export function checkClientCommand(afterDashes: readonly string[] | undefined): Command {
  return new Command('check-client')
    .description('Check a client against good, old and misbehaving servers.')
    .usage('[options] -- COMMAND ARGS…')
    .argument('[args...]')
    .configureHelp({ visibleArguments: () => [] })
    .addHelpText('after', HELP)
    .showHelpAfterError('(isthmus check-client --help explains the options)')
    .exitOverride()
    .addOption(new Option('--over <transport>', 'only this transport').choices([...OVERS]))
    .addOption(
      new Option('--era <era>', 'the era of the client, where its requests do not show it').choices([
        'modern',
        'legacy',
        'both',
      ]),
    )
    .option('--only <name>', 'only this check, suite or scenario; repeatable', collect)
    .option('--auth', 'also check how the client logs in (OAuth), over HTTP')
    .option('-t, --timeout <ms>', 'limit for one server (default: 90000)', toMs)
    .option('-j, --jobs <number>', 'number of servers at the same time', toJobs, 2)
    .option('--cwd <folder>', 'the folder that the client runs in')
    .option('--env <name=value>', 'a variable for the client; repeatable', toVariable)
    .addOption(
      new Option('--fail-on <level>', 'the lowest level that fails the run')
        .choices(['must', 'should'])
        .default('must'),
    )
    .option('--baseline <file>', 'known failures; an entry that is fixed or gone fails the run')
    .option('--update-baseline', 'write what fails now into the file of --baseline')
    .option('--verbose', 'also list what passes, and shorten nothing')
    .option('--json', 'print the report as JSON, with all messages')
    .option('--junit <file>', 'write the report as JUnit XML')
    .option('--sarif <file>', 'write the report as SARIF')
    .option('--html <file>', 'write the report as one HTML page')
    .option('--list', 'list the checks without running them')
    .action(async (args: string[], options: CheckClientOptions) => {
      const { runCheckClientCommand } = await import('../check/run-check-client.js');
      await runCheckClientCommand(args, afterDashes, options);
    });
}

const HELP = `
The client is started once for each server. {server} in its command line becomes the address (http://…) or the command
line of the server; {url} is for addresses only, {command} for command lines only, and {command...} for a command line
as separate arguments. Without any of them the address is added at the end, and servers over stdio are left out.
The client should list the tools, call the first one, and exit with 0 when that worked. MCP_SCENARIO, MCP_STEPS,
MCP_SERVER_URL and MCP_SERVER_COMMAND in its environment have more details (isthmus docs check-client).

Examples:
  isthmus check-client -- node my-client.js {server}
  isthmus check-client --over http -- python client.py {url}
  isthmus check-client -- isthmus call echo text=hi -- {command...}
  isthmus check-client --auth -- node my-client.js {server}
  isthmus check-client --only rounds --verbose -- node my-client.js {server}

Exit codes:
  0  every MUST that applies holds (--fail-on should: every SHOULD, too), or the baseline has those that do not
  1  a rule is broken, no check applied, or an entry of the baseline is stale
  2  the command line or the baseline is invalid
  3  the client cannot be started
  130  interrupted by Ctrl-C (143: by SIGTERM)`;

function toJobs(text: string): number {
  const jobs = Number(text);
  if (!Number.isInteger(jobs) || jobs < 1 || jobs > 64) throw new InvalidArgumentError('It must be 1 to 64.');
  return jobs;
}
