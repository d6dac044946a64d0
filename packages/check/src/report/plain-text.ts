import type { Finding, WireLine } from '../model.js';
import { cite, isOpinion } from '../rules/index.js';
import { fewerLines } from '../wire/excerpt.js';

/** `ping/answers (legacy)`: the name of a finding, the same in every run. */
export function nameOfFinding({ id, era }: Pick<Finding, 'id' | 'era'>): string {
  return era === undefined ? id : `${id} (${era})`;
}

/** What was seen and what was expected, on one line. */
export function seenAndExpected({ seen, expected }: Finding): string {
  const parts = [
    `Seen: ${cleanLine(seen)}`,
    ...(expected === '' ? [] : [`Expected: ${cleanLine(expected)}`]),
  ];
  return shortened(parts.join(' '), MAX_SENTENCE);
}

/** A finding with everything that explains it, as plain text. */
export function describeFinding(finding: Finding): string {
  const { title, reason, seen, expected, hint, input, wire } = finding;
  const rows = [
    ['Seen', seen],
    ['Expected', expected],
    ...rulesInWords(finding).map((text) => ['Rule', text]),
    ['Why', reason ?? ''],
    ['Fix', hint],
    ['Input', input ?? ''],
    ['Not judged because of it', (finding.consequences ?? []).join(', ')],
  ].filter(([, text]) => text !== '');
  return [
    cleanLine(title),
    ...rows.map(([name, text]) => `${name}: ${shortened(cleanText(text!).trim(), MAX_TEXT)}`),
    ...(wire.length > 0 ? ['Wire:', ...wireLines(wire)] : []),
  ].join('\n');
}

const MAX_SENTENCE = 1000;
const MAX_TEXT = 4000;
const MAX_WIRE_LINES = 50;

function wireLines(wire: readonly WireLine[]): string[] {
  return fewerLines(wire, MAX_WIRE_LINES).map(
    ({ from, atMs, text }) =>
      `  ${ARROWS[from]} ${Math.round(atMs)} ms  ${shortened(cleanText(text), MAX_TEXT)}`,
  );
}

/** A line for each rule: id, level, sentence and URL. Without rules, a line that it is an opinion. */
export function rulesInWords({ level, rules }: Pick<Finding, 'level' | 'rules'>): string[] {
  if (isOpinion({ rules })) return [`${level}, an opinion of isthmus: the specification has no rule for it`];
  const cited = cite(rules);
  if (cited.length === 0) return [`${rules.join(', ')} (${level})`];
  return cited.map(({ id, level: own, says, url }) => `${id} (${own}): ${says}${url ? ` ${url}` : ''}`);
}

/** Sent, received, and notes. */
export const ARROWS = { check: '→', server: '←', client: '←', note: '·' } as const;

/**
 * Makes text of a server safe to show. Invisible characters, and characters that change the direction of text, are
 * replaced by their code: `‹U+001B›`. Line ends and tabs stay. The result is valid in XML 1.0.
 */
export function cleanText(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(UNSAFE, (character) => {
    return `‹U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}›`;
  });
}

/** Controls except newline and tab, lone surrogates, zero-width and direction characters, noncharacters. */
const UNSAFE =
  /[^\P{Cc}\n\t]|\p{Cs}|[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff]|[\u{e0000}-\u{e007f}]/gu;

/** The same on one line. */
export function cleanLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ').trim();
}

/** The first `most` characters, and how many are missing. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  // Never cut a surrogate pair.
  const end = /[\ud800-\udbff]/.test(text.charAt(most - 1)) ? most - 1 : most;
  return `${text.slice(0, end)} … (${text.length - end} more characters; --json has them)`;
}
