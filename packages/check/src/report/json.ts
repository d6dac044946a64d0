import type { Report } from '../model.js';
import { cite, isOpinion } from '../rules/index.js';
import { type FailOn, verdictOf } from '../run/grade.js';

/**
 * The whole report as JSON. `format` changes when programs that read it must change. `rules` has the sentence and the URL
 * of every rule that a finding cites. A finding without a rule is marked as an opinion.
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

/** Characters that JSON allows in strings, but that a terminal must not get. They do not occur outside of strings. */
const UNSAFE = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
