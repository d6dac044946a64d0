import { choose } from '@isthmus/check/internal/client/catalogue.js';
import { OVERS, type Over } from '@isthmus/check/internal/client/model.js';
import { type ClientReport, checkClient, scopeOf } from '@isthmus/check/internal/client/run/check-client.js';
import { commandLine, commandPlayer, whyNot } from '@isthmus/check/internal/client/run/player.js';
import { toJson } from '@isthmus/check/internal/report/json.js';
import { Command } from 'commander';
import { catchSignals } from '../catch-signals.js';
import { readBaseline, writeBaseline } from '../check/baseline-files.js';
import { exitCodeOf } from '../check/exit-code.js';
import { renderReport } from '../check/render-report.js';
import { writeReports } from '../check/write-reports.js';
import { type CheckClientOptions, checkOptions, withClientOptions } from '../check-client/options.js';
import { renderLists } from '../check-client/render-lists.js';
import { CliError, usageError } from '../cli-error.js';
import { EXIT } from '../exit-codes.js';
import { createProgressLine } from '../terminal/progress-line.js';
import { processTerminal, type Terminal } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';

export function checkClientCommand(behind: readonly string[] | undefined, version: string): Command {
  const command = new Command('check-client')
    .description('Find out what a client does with servers of each era and each vice.')
    .usage('[options] -- COMMAND ARGS…')
    .argument('[words...]')
    .configureHelp({ visibleArguments: () => [] })
    .addHelpText('after', HELP)
    .showHelpAfterError('(isthmus check-client --help explains the options)')
    .exitOverride();
  return withClientOptions(command).action(async (words: string[], options: CheckClientOptions) => {
    const terminal = processTerminal();
    if (options.list) return void terminal.stdout.write(renderLists(terminal));
    if (words.length > 0) {
      throw usageError(`What is "${words[0]}"? The command of the client stands behind --`);
    }
    if (!behind || behind.length === 0) {
      throw usageError('There is no client to check', 'isthmus check-client -- node my-client.js {server}');
    }
    checkOptions(options);
    process.exitCode = await check(behind, options, version, terminal);
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
  0  every MUST that applies holds (--fail-on should: every SHOULD, too), or the baseline knows those that do not
  1  something is broken, no check applied, or an entry of the baseline is stale
  2  the command line, or the baseline, makes no sense
  3  the client cannot be started
  130  interrupted by Ctrl-C (143: by SIGTERM)`;

async function check(
  words: readonly string[],
  options: CheckClientOptions,
  version: string,
  terminal: Terminal,
): Promise<number> {
  const { baseline: file, updateBaseline: update = false, only = [], era, failOn } = options;
  const reached = reach(words, options.over);
  const baseline = file === undefined ? undefined : await readBaseline(file, { update });
  const line = createProgressLine(terminal.stderr, terminal.readsErrors ? 'live' : 'none', terminal.err);
  const interruption = catchSignals(line);
  try {
    const report = await checkClient({
      player: commandPlayer({ words, cwd: options.cwd, env: options.env }),
      label: commandLine(words),
      version,
      ...reached,
      only,
      ...(era && { eras: era === 'both' ? ['modern', 'legacy'] : [era] }),
      baseline: update ? undefined : baseline,
      boundMs: options.timeout,
      jobs: options.jobs,
      signal: interruption.signal,
      onRun: (done, all, { scenario, over }) =>
        line.update({ progress: done, total: all, message: `${scenario} over ${over}` }),
    });
    line.hide();
    if (interruption.signal.aborted) {
      throw new CliError(interruption.code(), 'Interrupted; nothing was judged');
    }
    checkStarted(report, words);
    await writeReports(report, options, { failOn });
    terminal.stdout.write(
      options.json ? toJson(report, { failOn }) : renderReport(report, terminal, options),
    );
    if (file === undefined || !update) return exitCodeOf(report, failOn);
    const scope = scopeOf(choose(only).checks);
    const { accepted } = await writeBaseline(file, report, {
      ...scope,
      ...(baseline && { previous: baseline }),
      failOn,
    });
    terminal.stderr.write(`isthmus: ${oneLine(file)} accepts ${accepted.length} now\n`);
    return EXIT.ok;
  } finally {
    line.hide();
    interruption.release();
  }
}

/** What can be tried, and why the rest cannot. */
function reach(words: readonly string[], only: Over | undefined) {
  const over = only ? [only] : OVERS;
  const missing: Partial<Record<Over, string>> = {};
  for (const each of over) {
    const why = whyNot(words, each, only !== undefined);
    if (why !== undefined) missing[each] = why;
  }
  if (over.every((each) => missing[each] !== undefined)) {
    throw usageError(
      `The client cannot be told of a server: ${Object.values(missing)[0]}`,
      'Write {server} in its words',
    );
  }
  return { over, missing };
}

function checkStarted({ transcripts }: ClientReport, [command = '']: readonly string[]): void {
  const [first] = transcripts;
  if (first?.end.error !== undefined && transcripts.every(({ end }) => end.error !== undefined)) {
    throw new CliError(EXIT.cannotConnect, `The client does not start: ${oneLine(first.end.error)}`, {
      hint: `Is ${oneLine(command)} installed, and in the PATH?`,
    });
  }
}
