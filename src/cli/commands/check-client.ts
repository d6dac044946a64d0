import { Command, InvalidArgumentError, Option } from 'commander';
import { CLIENT_CHECKS } from '../../check/client/checks/index.js';
import { CLIENT_SUITES, OVERS, type Over } from '../../check/client/model.js';
import { type ClientReport, checkClient } from '../../check/client/run/check-client.js';
import { commandPlayer } from '../../check/client/run/command-player.js';
import { commandLine, whyNot } from '../../check/client/run/placeholders.js';
import { SCENARIOS } from '../../check/client/scenarios/index.js';
import type { Era } from '../../check/model.js';
import { toJson } from '../../check/report/index.js';
import type { FailOn } from '../../check/run/judge-run.js';
import { suggest } from '../arguments/suggest.js';
import { catchSignals } from '../catch-signals.js';
import { exitCodeOf } from '../check/exit-code.js';
import { renderReport } from '../check/render-report.js';
import { type ReportFiles, writeReports } from '../check/write-reports.js';
import { CliError, usageError } from '../cli-error.js';
import { collect, toMs, toVariable } from '../common-options.js';
import { EXIT } from '../exit-codes.js';
import { createProgressLine } from '../terminal/progress-line.js';
import { processTerminal, type Terminal } from '../terminal/terminal.js';

interface CheckClientOptions extends ReportFiles {
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
}

export function checkClientCommand(behind: readonly string[] | undefined, version: string): Command {
  return new Command('check-client')
    .description('Find out what a client does with servers of each era and each vice.')
    .usage('[options] -- COMMAND ARGS…')
    .argument('[words...]')
    .configureHelp({ visibleArguments: () => [] })
    .addOption(new Option('--over <transport>', 'only this one').choices([...OVERS]))
    .addOption(
      new Option('--era <era>', 'what the client speaks, where it does not show it by itself').choices([
        'modern',
        'legacy',
        'both',
      ]),
    )
    .option('--only <name>', 'only this check, suite or scenario; repeatable', collect)
    .option('-t, --timeout <ms>', 'how long the client may take for one server (default: 15000)', toMs)
    .option('-j, --jobs <number>', 'how many servers at a time', toJobs, 2)
    .option('--cwd <folder>', 'the folder that the client runs in')
    .option('--env <name=value>', 'a variable for the client; repeatable', toVariable)
    .addOption(
      new Option('--fail-on <level>', 'the least that fails the run')
        .choices(['must', 'should'])
        .default('must'),
    )
    .option('--verbose', 'also list what holds, and cut nothing')
    .option('--json', 'print the report as JSON, with all that was said')
    .option('--junit <file>', 'write the report as JUnit XML')
    .option('--sarif <file>', 'write the report as SARIF')
    .option('--html <file>', 'write the report as a page')
    .addHelpText('after', HELP)
    .showHelpAfterError('(isthmus check-client --help explains the options)')
    .exitOverride()
    .action(async (words: string[], options: CheckClientOptions) => {
      if (words.length > 0)
        throw usageError(`What is "${words[0]}"? The command of the client stands behind --`);
      if (!behind || behind.length === 0) {
        throw usageError('There is no client to check', 'isthmus check-client -- node my-client.js {server}');
      }
      checkNames(options.only ?? []);
      process.exitCode = await check(behind, options, version, processTerminal());
    });
}

const HELP = `
The client is started once for each server. {server} in its words is the address (http://…) or the command line of
the server; {url} stands for addresses only, {command} for command lines only, and {command...} for the command line
word by word. Without any of them the address is the last word, and servers over stdio are left out.
It should list the tools, call the first one, and exit with 0 when that worked. MCP_SCENARIO, MCP_STEPS,
MCP_SERVER_URL and MCP_SERVER_COMMAND in its environment say more (docs/check-client.md).

Examples:
  isthmus check-client -- node my-client.js {server}
  isthmus check-client --over http -- python client.py {url}
  isthmus check-client -- isthmus call echo text=hi -- {command...}
  isthmus check-client --only rounds --verbose -- node my-client.js {server}

Exit codes:
  0  every MUST that applies holds (--fail-on should: every SHOULD, too)
  1  something is broken, or no check applied
  2  the command line makes no sense
  3  the client cannot be started
  130  interrupted by Ctrl-C (143: by SIGTERM)`;

async function check(
  words: readonly string[],
  options: CheckClientOptions,
  version: string,
  terminal: Terminal,
): Promise<number> {
  const line = createProgressLine(terminal.stderr, terminal.readsErrors ? 'live' : 'none', terminal.err);
  const interruption = catchSignals(line);
  try {
    const report = await checkClient({
      player: commandPlayer({ words, cwd: options.cwd, env: options.env }),
      label: commandLine(words),
      version,
      ...reach(words, options.over),
      ...(options.only && { only: options.only }),
      ...(options.era && { eras: options.era === 'both' ? ['modern', 'legacy'] : [options.era] }),
      boundMs: options.timeout,
      jobs: options.jobs,
      signal: interruption.signal,
      onRun: (done, all, { scenario, over }) =>
        line.update({ progress: done, total: all, message: `${scenario} over ${over}` }),
    });
    line.hide();
    if (interruption.signal.aborted)
      throw new CliError(interruption.code(), 'Interrupted; nothing was judged');
    checkStarted(report);
    await writeReports(report, options, { failOn: options.failOn });
    terminal.stdout.write(options.json ? toJson(report, options) : renderReport(report, terminal, options));
    return exitCodeOf(report, options.failOn);
  } finally {
    line.hide();
    interruption.release();
  }
}

/** What can be tried, and why the rest cannot. */
function reach(words: readonly string[], only: Over | undefined) {
  const over = only ? [only] : OVERS;
  const missing = Object.fromEntries(
    over.flatMap((each) => {
      const why = whyNot(words, each, only !== undefined);
      return why === undefined ? [] : [[each, why]];
    }),
  ) as Partial<Record<Over, string>>;
  if (Object.keys(missing).length === over.length) {
    throw usageError(
      `The client cannot be told of a server: ${Object.values(missing)[0]}`,
      'Write {server} in its words',
    );
  }
  return { over, missing };
}

function checkStarted({ transcripts, target }: ClientReport): void {
  const [first] = transcripts;
  if (first?.end.error !== undefined && transcripts.every(({ end }) => end.error !== undefined)) {
    throw new CliError(EXIT.cannotConnect, `${target.label}: ${first.end.error}`);
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
