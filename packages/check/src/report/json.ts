import type { Report } from '../model.js';
import { cite, isOpinion } from '../rules/index.js';
import { type FailOn, verdictOf } from '../run/grade.js';

/**
 * The whole report for programs: nothing is left out, and `format` changes when a reader would have to. `rules` has what
 * the rules say that findings cite, and where; findings that cite none are marked as opinions.
 */
export function toJson(report: Report, { failOn = 'must' }: { readonly failOn?: FailOn } = {}): string {
  const { passed, reasons } = verdictOf(report, failOn);
  const ids = new Set(report.findings.flatMap(({ rules }) => rules));
  const rules = Object.fromEntries(cite([...ids]).map(({ id, ...rest }) => [id, rest]));
  const findings = report.findings.map((finding) =>
    isOpinion(finding) ? { ...finding, opinion: true } : finding,
  );
  const value = { format: 1, verdict: { passed, failOn, reasons }, ...report, findings, rules };
  return `${JSON.stringify(value, null, 2).replace(UNSAFE, escaped)}\n`;
}

/** What JSON may have in strings and a terminal must not get. Outside of strings JSON has nothing of this kind. */
const UNSAFE = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
