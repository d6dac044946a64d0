import { CHECKS, type CheckOptions, checkServer, type Report, toJson } from '../../check/index.js';
import { choose } from '../../check/run/plan.js';
import { catchSignals, type Interruption } from '../catch-signals.js';
import { chooseTarget, type GivenOptions } from '../choose-target.js';
import { CliError, usageError } from '../cli-error.js';
import { EXIT } from '../exit-codes.js';
import type { Target } from '../target.js';
import { createProgressLine } from '../terminal/progress-line.js';
import { processTerminal, type Terminal, writeJson } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';
import { readBaseline, writeBaseline } from './baseline-files.js';
import type { CheckCommandOptions } from './check-options.js';
import { createCheckProgress } from './check-progress.js';
import { exitCodeOf } from './exit-code.js';
import { explainFailure } from './explain-failure.js';
import { renderCatalogue } from './render-catalogue.js';
import { countLost, renderThrough } from './render-differences.js';
import { renderReport } from './render-report.js';
import { runThrough } from './run-through.js';
import { targetToCheck } from './target-to-check.js';
import { toCheckOptions } from './to-check-options.js';
import { writeReports } from './write-reports.js';

/** `isthmus check`, once it is sure that somebody wants it: the catalogue takes its time to load. */
export async function runCheckCommand(
  words: readonly string[],
  behind: readonly string[] | undefined,
  given: GivenOptions<CheckCommandOptions>,
  version: string,
): Promise<void> {
  const terminal = processTerminal();
  if (given.list) return void terminal.stdout.write(renderCatalogue(CHECKS, given.json === true, terminal));
  const { target, rest, options } = await chooseTarget('check', words, behind, given);
  if (rest.length > 0) throw usageError(`check takes a target and nothing else; what is "${rest[0]}"?`);
  process.exitCode = await check(target, options, version, terminal);
}

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
  const { signal } = interruption;
  const begun = leaveBeforeItBegins(interruption, terminal, progress.end);
  const run: CheckOptions = {
    ...chosen,
    version,
    signal,
    ...(baseline && !options.updateBaseline && { baseline }),
    onFinding(finding, done) {
      begun();
      progress.found(finding, done);
    },
  };
  try {
    if (options.through !== undefined) {
      const report = await runThrough(target, judged, options, run);
      signal.throwIfAborted();
      progress.end();
      if (options.json) writeJson(terminal, report);
      else terminal.stdout.write(renderThrough(report, terminal));
      return countLost(report) === 0 ? EXIT.ok : EXIT.failed;
    }
    const report = await checkServer(judged, run);
    progress.end();
    await writeReports(report, options, {
      failOn: options.failOn,
      ...(options.sarifArtifact !== undefined && { sarifArtifact: options.sarifArtifact }),
    });
    print(report, options, terminal);
    if (signal.aborted) throw new CliError(interruption.code(), 'Interrupted; the checks above were done');
    if (!options.updateBaseline) return exitCodeOf(report, options.failOn);
    const { accepted } = await writeBaseline(options.baseline!, report, {
      ...(baseline && { previous: baseline }),
      failOn: options.failOn,
      chosen: new Set(choose(CHECKS, chosen).map(({ id }) => id)),
      known: new Set(CHECKS.map(({ id }) => id)),
      ...(chosen.eras && { eras: new Set(chosen.eras) }),
    });
    terminal.stderr.write(`isthmus: ${oneLine(options.baseline!)} accepts ${accepted.length} now\n`);
    return EXIT.ok;
  } catch (error) {
    progress.end();
    if (signal.aborted && !(error instanceof CliError))
      throw new CliError(interruption.code(), 'Interrupted');
    throw explainFailure(error, target);
  } finally {
    interruption.release();
  }
}

/** Until the first check there is nothing to finish: who is interrupted then does not wait for a silent server. */
function leaveBeforeItBegins(interruption: Interruption, terminal: Terminal, hide: () => void): () => void {
  const leave = () => {
    hide();
    terminal.stderr.write('isthmus: Interrupted; nothing was checked\n');
    process.exit(interruption.code());
  };
  interruption.signal.addEventListener('abort', leave, { once: true });
  return () => interruption.signal.removeEventListener('abort', leave);
}

function print(report: Report, options: CheckCommandOptions, terminal: Terminal): void {
  const { json, failOn, verbose } = options;
  terminal.stdout.write(
    json
      ? toJson(report, { failOn })
      : renderReport(report, terminal, { failOn, ...(verbose && { verbose }) }),
  );
}
