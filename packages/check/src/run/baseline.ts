import type { Era, Finding } from '../model.js';
import type { FailOn } from './judge-run.js';

/** A failure that is known and put up with for now. Without an era it is meant in each. */
export interface Accepted {
  readonly check: string;
  readonly era?: Era;
  /** Why, or until when: for people. */
  readonly note?: string;
}

export interface Baseline {
  readonly version: 1;
  readonly accepted: readonly Accepted[];
}

/** What a run was about, where it was not about everything. What it left out says nothing about the baseline. */
export interface BaselineScope {
  /** Ids of the checks that were chosen (`--only`, `--suite`). Absent: all. */
  readonly chosen?: ReadonlySet<string>;
  /** The eras that were chosen. Absent: all. */
  readonly eras?: ReadonlySet<Era>;
  /** Ids of all checks that there are: an entry for none of them is stale in every run. */
  readonly known?: ReadonlySet<string>;
}

export interface AppliedBaseline {
  /** The same, and those that the baseline knows are marked. */
  readonly findings: readonly Finding[];
  /** A sentence for each entry that accepts nothing any more. Each fails the run. */
  readonly stale: readonly string[];
}

/**
 * Marks the failures and warnings that the baseline knows. An entry whose check holds now, does not apply or does not
 * exist is stale: a list of excuses must not outlive what it excuses. A check that could not be brought to an end is
 * not excused, and says nothing about its entry.
 */
export function applyBaseline(
  findings: readonly Finding[],
  baseline: Baseline,
  scope: BaselineScope = {},
): AppliedBaseline {
  return {
    findings: findings.map((finding) =>
      isBroken(finding) && baseline.accepted.some((entry) => isAbout(entry, finding))
        ? { ...finding, accepted: true }
        : finding,
    ),
    stale: baseline.accepted.flatMap((entry) => {
      const why = whyStale(entry, findings, scope);
      return why === undefined ? [] : [`${nameOf(entry)} ${why}`];
    }),
  };
}

export interface UpdateOptions extends BaselineScope {
  /** What was accepted before: its notes stay, and what this run left out stays as it was. */
  readonly previous?: Baseline;
  /** Only what fails the run is new in the baseline. Default `must`. */
  readonly failOn?: FailOn;
}

/** The baseline with which the same run would be green, but for checks that could not be brought to an end. */
export function updateBaseline(findings: readonly Finding[], options: UpdateOptions = {}): Baseline {
  const { previous, failOn = 'must', ...scope } = options;
  const kept = (previous?.accepted ?? []).filter((entry) => whyStale(entry, findings, scope) === undefined);
  const added = findings
    .filter(({ outcome }) => outcome === 'fail' || (outcome === 'warn' && failOn === 'should'))
    .filter((finding) => !kept.some((entry) => isAbout(entry, finding)))
    .map(({ id, era }): Accepted => ({ check: id, ...(era && { era }) }));
  return { version: 1, accepted: [...kept, ...added].sort(byName) };
}

function isBroken({ outcome }: Finding): boolean {
  return outcome === 'fail' || outcome === 'warn';
}

function isAbout({ check, era }: Accepted, finding: Finding): boolean {
  return check === finding.id && (era === undefined || era === finding.era);
}

function whyStale(entry: Accepted, findings: readonly Finding[], scope: BaselineScope): string | undefined {
  const { check, era } = entry;
  if (scope.known && !scope.known.has(check))
    return 'is no check: correct its name, or take it out of the baseline';
  if (scope.chosen && !scope.chosen.has(check)) return undefined;
  const met = findings.filter((finding) => isAbout(entry, finding));
  // An entry for both eras may be about the one that was left out.
  if (scope.eras && (era ? !scope.eras.has(era) : met.every((finding) => finding.era))) return undefined;
  // What was not judged because of another fault says nothing about its entry, either.
  if (met.some((each) => isBroken(each) || each.outcome === 'error' || each.causedBy !== undefined))
    return undefined;
  if (met.some(({ outcome }) => outcome === 'pass')) return 'holds now: take it out of the baseline';
  const skipped = met[0];
  return skipped
    ? `does not apply any more (${skipped.seen})`
    : 'did not run: it does not exist here any more';
}

function nameOf({ check, era }: Accepted): string {
  return era === undefined ? check : `${check} (${era})`;
}

/** By code units: the same on every machine. */
function byName(one: Accepted, other: Accepted): number {
  const [a, b] = [nameOf(one), nameOf(other)];
  return a < b ? -1 : a > b ? 1 : 0;
}
