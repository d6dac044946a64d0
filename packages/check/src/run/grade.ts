import type { Counts, Finding, Grade, Interrupted, Report } from '../model.js';
import { isOpinion } from '../rules/index.js';

/**
 * The grade of all findings. Only checks that apply count, once for every era in which they ran. A check that could not be
 * finished counts as a broken `MUST`, whatever its level, since its result is unknown. The baseline does not change the
 * grade. An opinion (a SHOULD without a rule) counts as a SHOULD, so it can only cost the `+`. docs/check-ci.md explains the
 * letters.
 */
export function gradeOf(
  findings: readonly Finding[],
  { goneAfter, interrupted }: { goneAfter?: string | undefined; interrupted?: Interrupted | undefined } = {},
): Grade {
  const grade = gradeOfSeen(findings);
  if (interrupted) {
    return {
      ...grade,
      letter: 'F',
      why: `The run ${describeStop(interrupted)}, so there is nothing to grade.`,
    };
  }
  if (goneAfter === undefined) return grade;
  const letter = grade.letter === 'F' ? 'F' : 'D';
  return {
    ...grade,
    letter,
    why: `The server was gone after ${goneAfter}. Only what was seen before counts, and the grade is at most D. ${grade.why}`,
  };
}

function gradeOfSeen(findings: readonly Finding[]): Grade {
  const must = shareOf(findings.filter(isMust));
  const should = shareOf(findings.filter((finding) => !isMust(finding)));
  const shares = { must: percent(must), should: percent(should) };
  if (must.all + should.all === 0) {
    return { letter: 'F', ...shares, why: 'No check applied, so there is nothing to grade.' };
  }
  if (must.held < must.all) return { ...shares, ...belowA(must, shares.must) };
  const held = must.all > 0 ? `All ${must.all} MUST that apply hold` : 'No MUST applies';
  if (should.held < should.all) {
    const broken = `${should.all - should.held} of ${should.all} SHOULD ${should.all - should.held === 1 ? 'does' : 'do'} not`;
    return {
      letter: 'A',
      ...shares,
      why: `${held}; ${broken}${opinionsIn(findings)}, and A+ needs all of them.`,
    };
  }
  const rest = should.all > 0 ? `, and so do all ${should.all} SHOULD` : '';
  return {
    letter: 'A+',
    ...shares,
    why: must.all > 0 ? `${held}${rest}.` : `${held}; all ${should.all} SHOULD hold.`,
  };
}

/** How many of the broken SHOULD are opinions. */
function opinionsIn(findings: readonly Finding[]): string {
  const opinions = findings.filter((each) => each.outcome === 'warn' && isOpinion(each)).length;
  if (opinions === 0) return '';
  return ` (${opinions} of them ${opinions === 1 ? 'an opinion' : 'opinions'} without a rule)`;
}

/** The lowest share of the `MUST` for each letter, in percent. Below the last it is an F. */
const STEPS = [
  { letter: 'B', from: 95 },
  { letter: 'C', from: 85 },
  { letter: 'D', from: 70 },
] as const;

export function countsOf(findings: readonly Finding[]): Counts {
  const counts = { pass: 0, fail: 0, warn: 0, skip: 0, error: 0, accepted: 0 };
  for (const { outcome, accepted } of findings) counts[accepted ? 'accepted' : outcome] += 1;
  return counts;
}

interface Share {
  readonly held: number;
  readonly all: number;
}

function isMust({ level, outcome }: Finding): boolean {
  return level === 'MUST' || outcome === 'error';
}

function shareOf(findings: readonly Finding[]): Share {
  const applied = findings.filter(({ outcome }) => outcome !== 'skip');
  return { held: applied.filter(({ outcome }) => outcome === 'pass').length, all: applied.length };
}

/** Rounded down, so that 100 means all of them. */
function percent({ held, all }: Share): number {
  return all === 0 ? 100 : Math.floor((held / all) * 1000) / 10;
}

function belowA({ held, all }: Share, share: number): Pick<Grade, 'letter' | 'why'> {
  const at = STEPS.findIndex(({ from }) => share >= from);
  const next = at < 0 ? STEPS.at(-1) : STEPS[at - 1];
  const broken = all - held;
  const what = `${broken} of ${all} MUST that apply ${broken === 1 ? 'is' : 'are'} broken (${share} % hold)`;
  const takes = next ? `${next.letter} needs ${next.from} %` : 'A needs all of them';
  return { letter: STEPS[at]?.letter ?? 'F', why: `${what}; ${takes}.` };
}

/** What fails a run: only a broken `MUST`, or also a broken `SHOULD`. */
export type FailOn = 'must' | 'should';

/** Whether a run passed, and why it did not. */
export interface RunVerdict {
  readonly passed: boolean;
  /** Why it failed, a clause each: `2 MUST are broken`. Empty when it passed. */
  readonly reasons: readonly string[];
}

/** Whether the run passed. A run that was interrupted, has unfinished checks, or in which no check applied, does not pass. */
export function verdictOf(
  { counts, stale, goneAfter, interrupted }: Pick<Report, 'counts' | 'stale' | 'goneAfter' | 'interrupted'>,
  failOn: FailOn = 'must',
): RunVerdict {
  const { pass, fail, warn, error, accepted } = counts;
  const applied = pass + fail + warn + error + accepted;
  const reasons = [
    ...(interrupted ? [`the run ${describeStop(interrupted)}`] : []),
    ...(goneAfter === undefined
      ? []
      : [`the server was gone after ${goneAfter}, so only what was seen before is judged`]),
    ...(applied === 0 ? ['no check applied'] : []),
    ...(fail > 0 ? [`${fail} MUST ${fail === 1 ? 'is' : 'are'} broken`] : []),
    ...(failOn === 'should' && warn > 0 ? [`${warn} SHOULD ${warn === 1 ? 'is' : 'are'} broken`] : []),
    ...(error > 0 ? [`${error} ${error === 1 ? 'check' : 'checks'} could not be finished`] : []),
    ...(stale.length > 0
      ? [
          `${stale.length} ${stale.length === 1 ? 'entry of the baseline is' : 'entries of the baseline are'} stale`,
        ]
      : []),
  ];
  return { passed: reasons.length === 0, reasons };
}

export function describeStop({ done, of }: Interrupted): string {
  return `was interrupted after ${done} of ${of} checks`;
}
