import { messageOf } from '@isthmus/sdk/internal/errors.js';
import { type Finding, type Report, SUITES } from '../model.js';
import { cleanLine } from '../report/plain-text.js';
import { count } from '../report/standing.js';
import type { FailOn } from '../run/grade.js';
import { choose } from '../run/plan.js';
import { CHECKS } from '../suites/index.js';
import {
  describeAll,
  isBroken,
  judge,
  NotSound,
  type SoundOptions,
  type SubjectOrLater,
} from './assert-sound.js';

/**
 * Registers a test: `test` of vitest or `node:test`, or another function with the same first two parameters. The third is a
 * timeout, for runners that have one there.
 */
export type RegisterTest = (
  name: string,
  run: (...context: [TestContext?]) => Promise<void>,
  timeoutMs: number,
) => unknown;

/** What the runner passes to a test: `ctx` of vitest, `t` of `node:test`. */
export interface TestContext {
  readonly skip?: (why?: string) => unknown;
}

/** Options of `testServer`. */
export interface TestServerOptions extends SoundOptions {
  /** A test for each `check` (the default), or for each `suite`. */
  readonly by?: 'check' | 'suite';
  /** The timeout of each test in milliseconds. The first test waits for the whole run. Default 120,000. */
  readonly timeoutMs?: number;
}

/**
 * Registers a test for each check, or for each suite. The checks run once, when the first of the tests runs, and all
 * tests read the same report. The first test fails if the server cannot be checked; then the others are skipped. Checks that
 * do not apply, or that the baseline accepts, are skipped with the reason, by `ctx.skip()` of vitest or `t.skip()` of
 * `node:test`. With a baseline, the last test fails if it is not up to date.
 *
 * ```ts
 * import { test } from 'vitest'; // or from 'node:test'
 * import { testServer } from 'isthmus/check';
 *
 * testServer(test, { command: 'node', args: ['server.js'] });
 * ```
 */
export function testServer(
  test: RegisterTest,
  subject: SubjectOrLater,
  options: TestServerOptions = {},
): void {
  const { by = 'check', failOn = 'must', timeoutMs = 120_000, ...run } = options;
  let started: Promise<Report> | undefined;
  const report = () => {
    started ??= judge(subject, run);
    return started;
  };
  test('the server can be checked', async () => needSomething(await report()), timeoutMs);
  for (const { name, verdict } of parts(by, failOn, run)) {
    test(
      name,
      async (...[context]) => {
        const why = await report().then(
          verdict,
          (error: unknown) => `cannot be checked: ${messageOf(error)}`,
        );
        // `skip` of vitest throws; `skip` of node:test returns.
        if (why !== undefined) await context?.skip?.(why);
      },
      timeoutMs,
    );
  }
}

/** A test: `verdict` throws on a failure, and returns the reason when the test is skipped. */
interface Part {
  readonly name: string;
  readonly verdict: (report: Report) => string | undefined;
}

function parts(by: 'check' | 'suite', failOn: FailOn, run: SoundOptions): Part[] {
  const chosen = choose(run.checks ?? CHECKS, run);
  const suites = SUITES.filter((name) => chosen.some(({ suite }) => suite === name));
  const about = (isMeant: (finding: Finding) => boolean) => (report: Report) =>
    judgeSome(report, report.findings.filter(isMeant), failOn);
  return [
    ...(by === 'suite'
      ? suites.map((name) => ({ name: `suite ${name}`, verdict: about(({ suite }) => suite === name) }))
      : chosen.map((check) => ({
          name: `${check.id}: ${check.title}`,
          verdict: about(({ id }) => id === check.id),
        }))),
    ...(run.baseline ? [{ name: 'the baseline is up to date', verdict: judgeBaseline }] : []),
  ];
}

function needSomething({ counts: { skip, ...others } }: Report): void {
  if (Object.values(others).every((number) => number === 0))
    throw new Error(`None of ${count(skip, 'check')} applies to this server`);
}

function judgeSome(report: Report, findings: readonly Finding[], failOn: FailOn): string | undefined {
  const broken = findings.filter((finding) => isBroken(finding, failOn));
  if (broken.length > 0) throw new NotSound(describeAll(broken), report);
  const silent = findings.filter(({ outcome, accepted }) => outcome === 'skip' || accepted);
  if (silent.length < findings.length) return undefined;
  const reasons = silent.map(
    ({ seen, accepted }) => `${accepted ? 'accepted by the baseline: ' : ''}${seen}`,
  );
  return [...new Set(reasons)].map(cleanLine).join('; ') || 'did not run';
}

function judgeBaseline(report: Report): undefined {
  if (report.stale.length > 0) throw new NotSound(report.stale.map(cleanLine).join('\n'), report);
}
