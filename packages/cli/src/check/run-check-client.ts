import { CLIENT_CHECKS, choose } from '@isthmus/check/internal/client/catalogue.js';
import { CLIENT_SUITES, OVERS, type Over } from '@isthmus/check/internal/client/model.js';
import { type ClientReport, checkClient, scopeOf } from '@isthmus/check/internal/client/run/check-client.js';
import { commandLine, commandPlayer, whyNot } from '@isthmus/check/internal/client/run/player.js';
import { SCENARIOS } from '@isthmus/check/internal/client/scenarios/index.js';
import { toJson } from '@isthmus/check/internal/report/json.js';
import { levelInWords } from '@isthmus/check/internal/rules/index.js';
import { VERSION } from '@isthmus/sdk/internal/version.js';
import { suggest } from '../arguments/suggest.js';
import { CliError, EXIT, usageError } from '../cli-error.js';
import type { CheckClientOptions } from '../commands/check-client.js';
import { catchSignals } from '../session/catch-signals.js';
import { createProgressLine } from '../terminal/progress-line.js';
import { processTerminal, type Terminal } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';
import { renderReport } from './render-report.js';
import { readBaseline, writeBaseline, writeReports } from './report-files.js';
import { exitCodeOf } from './run-check.js';

/** `command` is the command line of the client. */
export async function runCheckClientCommand(
  args: readonly string[],
  command: readonly string[] | undefined,
  options: CheckClientOptions,
): Promise<void> {
  const terminal = processTerminal();
  if (options.list) return void terminal.stdout.write(renderLists(terminal));
  if (args.length > 0) {
    throw usageError(
      `Unexpected argument "${args[0]}"`,
      'Put the command of the client after --: isthmus check-client -- node my-client.js {server}',
    );
  }
  if (!command || command.length === 0) {
    throw usageError('No client given', 'isthmus check-client -- node my-client.js {server}');
  }
  checkNames(options.only ?? []);
  if (options.updateBaseline && options.baseline === undefined) {
    throw usageError(
      '--update-baseline needs a file to write',
      '--baseline client-baseline.json --update-baseline',
    );
  }
  process.exitCode = await check(command, options, terminal);
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

async function check(
  command: readonly string[],
  options: CheckClientOptions,
  terminal: Terminal,
): Promise<number> {
  const { baseline: file, updateBaseline: update = false, only = [], auth = false, era, failOn } = options;
  const transports = usableTransports(command, options.over);
  const baseline = file === undefined ? undefined : await readBaseline(file, { update });
  const line = createProgressLine(terminal.stderr, terminal.readsErrors ? 'live' : 'none', terminal.err);
  const interruption = catchSignals(line);
  try {
    const report = await checkClient({
      player: commandPlayer({ words: command, cwd: options.cwd, env: options.env }),
      label: commandLine(command),
      version: VERSION,
      ...transports,
      only,
      auth,
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
      throw new CliError(interruption.exitCode(), 'Interrupted; nothing was checked');
    }
    checkStarted(report, command);
    await writeReports(report, options, { failOn });
    terminal.stdout.write(
      options.json ? toJson(report, { failOn }) : renderReport(report, terminal, options),
    );
    if (file === undefined || !update) return exitCodeOf(report, failOn);
    const scope = scopeOf(choose(only, { auth }).checks);
    const { accepted } = await writeBaseline(file, report, {
      ...scope,
      ...(baseline && { previous: baseline }),
      failOn,
    });
    terminal.stderr.write(`isthmus: ${oneLine(file)} now accepts ${accepted.length}\n`);
    return EXIT.ok;
  } finally {
    line.hide();
    interruption.release();
  }
}

/** The transports that the command of the client has a placeholder for, and why the others are left out. */
function usableTransports(command: readonly string[], only: Over | undefined) {
  const over = only ? [only] : OVERS;
  const missing: Partial<Record<Over, string>> = {};
  for (const each of over) {
    const why = whyNot(command, each, only !== undefined);
    if (why !== undefined) missing[each] = why;
  }
  if (over.every((each) => missing[each] !== undefined)) {
    throw usageError(
      `The client would not know the address of a server: ${Object.values(missing)[0]}`,
      'Write {server} in its command line',
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

/** The names that `--only` takes: scenarios, suites and checks. */
function renderLists({ out }: Pick<Terminal, 'out'>): string {
  const widest = Math.max(
    ...[...CLIENT_CHECKS.map(({ id }) => id), ...SCENARIOS.map(({ name }) => name)].map(
      ({ length }) => length,
    ),
  );
  const servers = SCENARIOS.map(
    ({ name, title, over }) => `  ${name.padEnd(widest)}  ${over.join(', ').padEnd(11)}  ${title}`,
  );
  const parts = CLIENT_SUITES.map((suite) => {
    const own = CLIENT_CHECKS.filter((each) => each.suite === suite);
    const lines = own.map(
      ({ id, level, rules, title }) =>
        `  ${id.padEnd(widest)}  ${levelInWords({ level, rules }).padEnd(16)}  ${title}`,
    );
    return `${out.bold(suite)} (${own.length})\n${lines.join('\n')}`;
  });
  const all = [`${out.bold('servers')} (${SCENARIOS.length})\n${servers.join('\n')}`, ...parts];
  return `${all.join('\n\n')}\n\n${CLIENT_CHECKS.length} checks\n`;
}
