import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Era, Finding } from '../model.js';
import type { FailOn } from './grade.js';

/** A known failure that does not fail the run. Without `era` it applies to every era. */
export interface Accepted {
  readonly check: string;
  readonly era?: Era;
  /** Why, or until when: for people. */
  readonly note?: string;
}

/** The failures that a project accepts for now, as the file of `--baseline` has them. */
export interface Baseline {
  readonly version: 1;
  readonly accepted: readonly Accepted[];
}

/** Which checks and eras a run covered. Entries of other checks and eras are not judged. */
export interface BaselineScope {
  /** Ids of the checks that were chosen (`--only`, `--suite`). Absent: all. */
  readonly chosen?: ReadonlySet<string>;
  /** The eras that were chosen. Absent: all. */
  readonly eras?: ReadonlySet<Era>;
  /** Ids of all existing checks. An entry with another id is stale in every run. */
  readonly known?: ReadonlySet<string>;
}

interface AppliedBaseline {
  /** The findings; those that the baseline accepts are marked. */
  readonly findings: readonly Finding[];
  /** A sentence for each entry that no longer accepts anything. Each fails the run. */
  readonly stale: readonly string[];
}

/**
 * Marks the failures and warnings that the baseline accepts. An entry whose check holds now, does not apply or does not
 * exist is stale, and fails the run. A check that could not be finished is not accepted, and does not make its entry stale.
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
  /** The baseline before. Its notes are kept, and so are entries of checks that this run did not cover. */
  readonly previous?: Baseline;
  /** Only findings that fail the run are added. Default `must`. */
  readonly failOn?: FailOn;
}

/** The baseline with which the same run would pass, except for checks that could not be finished. */
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
    return 'is not a check: correct its name, or remove it from the baseline';
  if (scope.chosen && !scope.chosen.has(check)) return undefined;
  const met = findings.filter((finding) => isAbout(entry, finding));
  // An entry for both eras may be about the era that the run did not cover.
  if (scope.eras && (era ? !scope.eras.has(era) : met.every((finding) => finding.era))) return undefined;
  // A check that was not judged because of another fault does not make its entry stale.
  if (met.some((each) => isBroken(each) || each.outcome === 'error' || each.causedBy !== undefined))
    return undefined;
  if (met.some(({ outcome }) => outcome === 'pass')) return 'holds now: remove it from the baseline';
  const skipped = met[0];
  return skipped ? `no longer applies (${skipped.seen})` : 'did not run: it does not apply to this target';
}

function nameOf({ check, era }: Accepted): string {
  return era === undefined ? check : `${check} (${era})`;
}

/** By code units: the same on every machine. */
function byName(one: Accepted, other: Accepted): number {
  const [a, b] = [nameOf(one), nameOf(other)];
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Reads the text of a baseline file.
 *
 * @throws IsthmusError `INVALID_OPTION` with what is wrong, and where.
 */
export function parseBaseline(text: string, file: string): Baseline {
  const problem = (what: string) => new IsthmusError('INVALID_OPTION', `The baseline ${file} ${what}`);
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    const why = text.trim() === '' ? 'it is empty' : (cause as Error).message;
    throw problem(`is not JSON: ${why}; --update-baseline writes a new one`);
  }
  if (!isJsonObject(value)) throw problem('is not an object with "version" and "accepted"');
  if (value['version'] !== 1)
    throw problem(`has "version" ${shown(value['version'])}; this program reads version 1`);
  const { accepted } = value;
  if (!Array.isArray(accepted)) throw problem(`has "accepted" ${shown(accepted)}; it is a list`);
  const entries = accepted.map((entry: unknown, at) => {
    const read = readEntry(entry);
    if (typeof read === 'string') throw problem(`has a wrong entry: accepted[${at}] ${read}`);
    return read;
  });
  const names = entries.map(({ check, era }) => `${check}${era === undefined ? '' : ` (${era})`}`);
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined) throw problem(`names ${twice} twice`);
  return { version: 1, accepted: entries };
}

/** The text of a baseline file, one entry on each line, for readable diffs. */
export function formatBaseline({ version, accepted }: Baseline): string {
  const lines = accepted.map(({ check, era, note }) => `    ${onOneLine({ check, era, note })}`);
  const list = lines.length === 0 ? '[]' : `[\n${lines.join(',\n')}\n  ]`;
  return `{\n  "version": ${version},\n  "accepted": ${list}\n}\n`;
}

/** With spaces between its members, as formatters write it. */
function onOneLine(value: object): string {
  return JSON.stringify(value, null, 1).replaceAll(/\n */g, ' ');
}

function readEntry(entry: unknown): Accepted | string {
  if (!isJsonObject(entry))
    return `is ${shown(entry)}; an entry is an object such as {"check": "area/what-is-right"}`;
  const { check, era, note, ...rest } = entry;
  const [unknownKey] = Object.keys(rest);
  if (unknownKey !== undefined) return `has ${shown(unknownKey)}; it may have "check", "era" and "note"`;
  if (typeof check !== 'string' || check === '')
    return `has "check" ${shown(check)}; it is the id of a check`;
  if (era !== undefined && era !== 'modern' && era !== 'legacy')
    return `has "era" ${shown(era)}; it is "modern" or "legacy", or left out`;
  if (note !== undefined && typeof note !== 'string') return `has "note" ${shown(note)}; it is a text`;
  return { check, ...(era && { era }), ...(note !== undefined && { note }) };
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'missing';
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
