import { CHECKS, type CheckOptions, checkServer, type Report, toJson } from '@isthmus/check';
import type { Finding } from '@isthmus/check/internal/model.js';
import { cleanLine } from '@isthmus/check/internal/report/plain-text.js';
import { type FailOn, verdictOf } from '@isthmus/check/internal/run/grade.js';
import { choose } from '@isthmus/check/internal/run/plan.js';
import { IsthmusError, messageOf } from '@isthmus/sdk/internal/errors.js';
import { reachReasonOf, tlsObstacleOf } from '@isthmus/sdk/internal/transport/http-client/failures.js';
import { VERSION } from '@isthmus/sdk/internal/version.js';
import { chooseTarget, type GivenOptions } from '../choose-target.js';
import { CliError, EXIT, usageError } from '../cli-error.js';
import type { CheckCommandOptions } from '../commands/check.js';
import { obstacleHint, unauthorizedHint } from '../describe-failure.js';
import { withToken } from '../login/auth-options.js';
import { catchSignals, type Interruption } from '../session/catch-signals.js';
import { type CommandTarget, commandLine } from '../target.js';
import { createProgressLine } from '../terminal/progress-line.js';
import { processTerminal, type Terminal, writeJson } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';
import { renderCatalogue } from './render-catalogue.js';
import { renderReport } from './render-report.js';
import { readBaseline, writeBaseline, writeReports } from './report-files.js';
import { countLost, renderThrough, runThrough } from './through.js';
import { targetToCheck, toCheckOptions } from './to-check-options.js';
import { toTokens } from './to-tokens.js';

export async function runCheckCommand(
  args: readonly string[],
  afterDashes: readonly string[] | undefined,
  given: GivenOptions<CheckCommandOptions>,
): Promise<void> {
  const terminal = processTerminal();
  if (given.list) return void terminal.stdout.write(renderCatalogue(CHECKS, given.json === true, terminal));
  const { target, rest, options } = await chooseTarget('check', args, afterDashes, given);
  if (rest.length > 0) throw usageError(`Unexpected argument "${rest[0]}": check takes only a target`);
  process.exitCode = await check(await withToken(target), options, terminal);
}

async function check(
  target: CommandTarget,
  options: CheckCommandOptions,
  terminal: Terminal,
): Promise<number> {
  const chosen = toCheckOptions(options);
  const tokens = await toTokens(options, target);
  const checked = targetToCheck(target, options);
  const baseline =
    options.baseline === undefined
      ? undefined
      : await readBaseline(options.baseline, { update: options.updateBaseline === true });
  const progress = createCheckProgress(terminal);
  const interruption = catchSignals(createProgressLine(terminal.stderr, 'none', terminal.err));
  const { signal } = interruption;
  const begun = exitBeforeFirstCheck(interruption, terminal, progress.end);
  const run: CheckOptions = {
    ...chosen,
    ...(tokens && { tokens }),
    version: VERSION,
    signal,
    ...(baseline && !options.updateBaseline && { baseline }),
    onFinding(finding, done) {
      begun();
      progress.found(finding, done);
    },
  };
  try {
    if (options.through !== undefined) {
      const report = await runThrough(target, checked, options, run);
      signal.throwIfAborted();
      progress.end();
      if (options.json) writeJson(terminal, report);
      else terminal.stdout.write(renderThrough(report, terminal));
      return countLost(report) === 0 ? EXIT.ok : EXIT.failed;
    }
    const report = await checkServer(checked, run);
    progress.end();
    await writeReports(report, options, {
      failOn: options.failOn,
      ...(options.sarifArtifact !== undefined && { sarifArtifact: options.sarifArtifact }),
    });
    print(report, options, terminal);
    if (signal.aborted)
      throw new CliError(
        interruption.exitCode(),
        'Interrupted; the report above has the checks that were finished',
      );
    if (!options.updateBaseline) return exitCodeOf(report, options.failOn);
    const { accepted } = await writeBaseline(options.baseline!, report, {
      ...(baseline && { previous: baseline }),
      failOn: options.failOn,
      chosen: new Set(choose(CHECKS, chosen).map(({ id }) => id)),
      known: new Set(CHECKS.map(({ id }) => id)),
      ...(chosen.eras && { eras: new Set(chosen.eras) }),
    });
    terminal.stderr.write(`isthmus: ${oneLine(options.baseline!)} now accepts ${accepted.length}\n`);
    return EXIT.ok;
  } catch (error) {
    progress.end();
    if (signal.aborted && !(error instanceof CliError))
      throw new CliError(interruption.exitCode(), 'Interrupted');
    throw explainFailure(error, target, options.through !== undefined);
  } finally {
    interruption.release();
  }
}

/** Before the first check there is nothing to finish, so an interruption does not wait for a silent server. */
function exitBeforeFirstCheck(interruption: Interruption, terminal: Terminal, hide: () => void): () => void {
  const leave = () => {
    hide();
    terminal.stderr.write('isthmus: Interrupted; nothing was checked\n');
    process.exit(interruption.exitCode());
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

interface CheckProgress {
  /** Fits `onFinding` of `checkServer`. */
  readonly found: (finding: Finding, progress: { readonly done: number; readonly of: number }) => void;
  readonly end: () => void;
}

/** A line on stderr while the checks run: how many are done, how many failed, and the newest. */
export function createCheckProgress({
  stderr,
  readsErrors,
  err,
}: Pick<Terminal, 'stderr' | 'readsErrors' | 'err'>): CheckProgress {
  const line = createProgressLine(stderr, readsErrors ? 'live' : 'none', err);
  const problems = { fail: 0, error: 0, warn: 0 };
  return {
    found({ outcome, suite, title }, { done, of }) {
      if (outcome in problems) problems[outcome as keyof typeof problems] += 1;
      const counts = Object.entries(problems)
        .filter(([, number]) => number > 0)
        .map(([name, number]) => `${number} ${name}`);
      const message = [counts.join(', '), `${suite}: ${cleanLine(title)}`].filter(Boolean).join('; ');
      line.update({ progress: done, total: of, message });
    },
    end: () => line.hide(),
  };
}

/**
 * Why there is no report, with its exit code. An unexpected error is returned unchanged. With a bridge it is not known which
 * of the two programs failed.
 */
function explainFailure(error: unknown, target: CommandTarget, hasBridge: boolean): unknown {
  if (!(error instanceof IsthmusError)) {
    const code = (error as NodeJS.ErrnoException | undefined)?.code;
    if (code === undefined || !/^E[A-Z]+$/.test(code)) return error;
    return new CliError(EXIT.cannotConnect, `Cannot connect: ${oneLine(messageOf(error))}`);
  }
  const evidence = (error.evidence ?? []).map((line) => oneLine(line)).filter(Boolean);
  if (error.code === 'INVALID_OPTION') return usageError(error.message);
  if (error.code === 'CANNOT_START')
    return new CliError(EXIT.cannotConnect, oneLine(error.message), { evidence });
  if (error.code === 'UNAUTHORIZED')
    return new CliError(EXIT.needsLogin, oneLine(error.message), { hint: unauthorizedHint(error, target) });
  // Neither era could be tried. The label is that of the target, or of the bridge of --through.
  if (error.cause instanceof AggregateError) {
    const reasons = error.cause.errors.map((each) =>
      oneLine(each instanceof IsthmusError ? each.message : reachReasonOf(each)),
    );
    const obstacle = tlsObstacleOf(error.cause.errors[0]);
    return new CliError(EXIT.cannotConnect, oneLine(error.cause.message), {
      evidence: [...new Set(reasons)],
      ...(!hasBridge && { hint: obstacle ? obstacleHint(obstacle) : unreachableHint(target) }),
    });
  }
  if (error.code !== 'NO_COMMON_REVISION') return error;
  return new CliError(EXIT.protocol, oneLine(error.message), {
    evidence,
    hint: `${commandLine('probe', target)} shows more`,
  });
}

function unreachableHint(target: CommandTarget): string {
  if (target.kind !== 'command') return 'Is the server running?';
  return `Run the command directly to see what it needs. ${commandLine('probe', target)} shows more`;
}

/** The exit code of a finished run. A server that cannot be reached and an invalid command line fail before that. */
export function exitCodeOf(
  report: Pick<Report, 'counts' | 'stale' | 'goneAfter' | 'interrupted'>,
  failOn: FailOn = 'must',
): number {
  return verdictOf(report, failOn).passed ? EXIT.ok : EXIT.failed;
}
