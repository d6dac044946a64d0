import type { Command } from 'commander';
import { CHECKS, checkServer, type Target as Judged, type Report } from '../../check/index.js';
import { toJson } from '../../check/report/index.js';
import type { CheckOptions } from '../../check/run/check-server.js';
import { checkThrough } from '../../check/through/check-through.js';
import { startBridge } from '../../check/through/start-bridge.js';
import { IsthmusError, messageOf } from '../../errors.js';
import { catchSignals } from '../catch-signals.js';
import { readBaseline, writeBaseline } from '../check/baseline-files.js';
import { type CheckCommandOptions, toCheckOptions, withCheckOptions } from '../check/check-options.js';
import { createCheckProgress } from '../check/check-progress.js';
import { CHECK_EXIT_HELP, exitCodeOf } from '../check/exit-code.js';
import { renderCatalogue } from '../check/render-catalogue.js';
import { countLost, renderThrough } from '../check/render-differences.js';
import { renderReport } from '../check/render-report.js';
import { targetToCheck } from '../check/target-to-check.js';
import { writeReports } from '../check/write-reports.js';
import { chooseTarget, type GivenOptions } from '../choose-target.js';
import { CliError, usageError } from '../cli-error.js';
import { clientCommand } from '../common-options.js';
import { EXIT } from '../exit-codes.js';
import { splitCommand } from '../habits/split-command.js';
import { commandLine, type Target } from '../target.js';
import { createProgressLine } from '../terminal/progress-line.js';
import { processTerminal, type Terminal, writeJson } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';

export function checkCommand(behind: readonly string[] | undefined, version: string): Command {
  return withCheckOptions(
    clientCommand('check', '', {
      description: 'Find out whether a server is sound: protocol, resilience, lifetime, HTTP, tools, eras.',
      examples: EXAMPLES,
      help: [HELP],
      exitHelp: CHECK_EXIT_HELP,
    }),
  ).action(async (words: string[], given: GivenOptions<CheckCommandOptions>) => {
    const terminal = processTerminal();
    if (given.list) return void terminal.stdout.write(renderCatalogue(CHECKS, given.json === true, terminal));
    const { target, rest, options } = await chooseTarget('check', words, behind, given);
    if (rest.length > 0) throw usageError(`check takes a target and nothing else; what is "${rest[0]}"?`);
    process.exitCode = await check(target, options, version, terminal);
  });
}

const EXAMPLES = [
  'isthmus check -- node my-server.js',
  'isthmus check http://127.0.0.1:8080/mcp --html report.html',
  'isthmus check --config .mcp.json weather --fail-on should',
  'isthmus check --suite tools --call-tools -- npx -y @modelcontextprotocol/server-everything',
  "isthmus check --through 'isthmus serve --port {port}' -- node my-server.js",
];

const HELP = `
Tools of the server are called only when they say that they only read (readOnlyHint); --call-tools and --allow call more.
A broken MUST fails the run, a broken SHOULD warns (--fail-on should fails it, too). What does not apply says why.

--through BRIDGE is a command line, in quotes. {command...} in it becomes the command of the target, {command} the same in
one word, {url} its address; without any of them the target stands at its end. A bridge with {port} is talked to over
HTTP at that port, others over stdio.`;

async function check(
  target: Target,
  options: CheckCommandOptions,
  version: string,
  terminal: Terminal,
): Promise<number> {
  const chosen = toCheckOptions(options);
  const judged = targetToCheck(target, options);
  const baseline =
    options.baseline === undefined
      ? undefined
      : await readBaseline(options.baseline, { update: options.updateBaseline === true });
  const progress = createCheckProgress(terminal);
  const interruption = catchSignals(createProgressLine(terminal.stderr, 'none', terminal.err));
  const run: CheckOptions = {
    ...chosen,
    version,
    onFinding: progress.found,
    signal: interruption.signal,
    ...(baseline && !options.updateBaseline && { baseline }),
  };
  try {
    if (options.through !== undefined)
      return await through(target, judged, options, run, terminal, progress.end);
    const report = await checkServer(judged, run);
    progress.end();
    await writeReports(report, options, {
      failOn: options.failOn,
      ...(options.sarifArtifact !== undefined && { sarifArtifact: options.sarifArtifact }),
    });
    if (options.updateBaseline && baseline) {
      await writeBaseline(options.baseline!, report, { previous: baseline, failOn: options.failOn });
    }
    print(report, options, terminal);
    if (interruption.signal.aborted)
      throw new CliError(interruption.code(), 'Interrupted; the checks above were done');
    return options.updateBaseline ? EXIT.ok : exitCodeOf(report, options.failOn);
  } catch (error) {
    progress.end();
    throw toCliError(error, target, judged.label);
  } finally {
    interruption.release();
  }
}

function print(report: Report, options: CheckCommandOptions, terminal: Terminal): void {
  if (options.json) return void terminal.stdout.write(`${toJson(report)}\n`);
  const looks = { failOn: options.failOn, ...(options.verbose && { verbose: true }) };
  terminal.stdout.write(renderReport(report, terminal, looks));
}

async function through(
  target: Target,
  direct: Judged,
  options: CheckCommandOptions,
  run: CheckOptions,
  terminal: Terminal,
  hide: () => void,
): Promise<number> {
  const words = splitCommand(options.through!, '--through');
  const bridge = await startBridge({
    words,
    server: serverOf(target),
    inheritEnv: 'all',
    ...(options.throughPath !== undefined && { path: options.throughPath }),
  });
  try {
    const report = await checkThrough(direct, bridge.target, run);
    hide();
    if (options.json) writeJson(terminal, report);
    else terminal.stdout.write(renderThrough(report, terminal));
    return countLost(report) === 0 ? EXIT.ok : EXIT.failed;
  } finally {
    await bridge.close();
  }
}

function serverOf(target: Target): { readonly command?: readonly string[]; readonly url?: string } {
  if (target.kind === 'command') return { command: [target.command, ...target.args] };
  return { url: target.kind === 'url' ? target.url : target.address };
}

function toCliError(error: unknown, target: Target, label: string): unknown {
  if (!(error instanceof IsthmusError)) {
    const code = (error as NodeJS.ErrnoException | undefined)?.code;
    if (code === undefined || !/^E[A-Z]+$/.test(code)) return error;
    return new CliError(EXIT.cannotConnect, `Cannot connect: ${oneLine(messageOf(error))}`);
  }
  const evidence = (error.evidence ?? []).map((line) => oneLine(line)).filter(Boolean);
  if (error.code === 'INVALID_OPTION') return usageError(error.message);
  if (error.code === 'CANNOT_START') return new CliError(EXIT.cannotConnect, error.message, { evidence });
  if (error.code !== 'NO_COMMON_REVISION') return error;
  const unreachable = evidence.every((line) =>
    /ECONNREFUSED|ENOENT|EACCES|ENOTFOUND|could not be started|the process exited/.test(line),
  );
  if (unreachable) {
    const why = [
      ...new Set(
        evidence.map((line) => line.replace(/^(modern|legacy): (server\/discover: |initialize: )?/, '')),
      ),
    ];
    return new CliError(EXIT.cannotConnect, `Cannot connect to ${oneLine(label)}`, { evidence: why });
  }
  return new CliError(EXIT.protocol, error.message, {
    evidence,
    hint: `${commandLine('probe', target)} shows more`,
  });
}
