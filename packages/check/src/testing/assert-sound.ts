import type { Report } from '../model.js';
import { cleanLine } from '../report/clean-text.js';
import type { CheckOptions } from '../run/check-server.js';
import { type FailOn, verdictOf } from '../run/judge-run.js';
import { describeAll, isBroken, NotSound } from './complain.js';
import { judge } from './judge.js';
import type { SubjectOrLater } from './subject.js';

export interface SoundOptions extends CheckOptions {
  /** The least that is not sound: a broken `MUST`, or also a broken `SHOULD`. Default `must`. */
  readonly failOn?: FailOn;
}

/**
 * Judges a server in a test of any kind, and gives the report when it is sound.
 *
 * ```ts
 * test('the server is sound', () => assertSound({ command: 'node', args: ['server.js'] }), 120_000);
 * ```
 *
 * @throws NotSound whose message lists every check that does not hold: its rule, what was seen, what was expected, and
 * how to mend it. `IsthmusError` where there is nothing to judge: the server cannot be reached, or speaks no MCP.
 */
export async function assertSound(subject: SubjectOrLater, options: SoundOptions = {}): Promise<Report> {
  const { failOn = 'must', ...run } = options;
  const report = await judge(subject, run);
  const { passed, reasons } = verdictOf(report, failOn);
  if (passed) return report;
  const { target, findings, stale, grade, seed } = report;
  const parts = [
    `${cleanLine(target.label)} is not sound: ${reasons.join(', ')} (grade ${grade.letter}, seed ${seed})`,
    describeAll(findings.filter((finding) => isBroken(finding, failOn))),
    stale.map((entry) => `✗ in the baseline: ${cleanLine(entry)}`).join('\n'),
  ];
  throw new NotSound(parts.filter((part) => part !== '').join('\n\n'), report);
}
