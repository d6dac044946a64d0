import type { Finding, WireLine } from '../model.js';
import { cleanLine, cleanText, shortened } from './clean-text.js';

/** `ping/answers (legacy)`: what a finding is called where it must be the same in every run. */
export function nameOfFinding({ id, era }: Pick<Finding, 'id' | 'era'>): string {
  return era === undefined ? id : `${id} (${era})`;
}

/** What was seen and what was expected, on a line. */
export function seenAndExpected({ seen, expected }: Finding): string {
  const parts = [
    `Seen: ${cleanLine(seen)}`,
    ...(expected === '' ? [] : [`Expected: ${cleanLine(expected)}`]),
  ];
  return shortened(parts.join(' '), MAX_SENTENCE);
}

/** All that a person needs to understand a failure, as plain text. */
export function describeFinding(finding: Finding): string {
  const { title, level, rules, reason, seen, expected, hint, input, wire } = finding;
  const rows = [
    ['Seen', seen],
    ['Expected', expected],
    ['Rule', rules.length > 0 ? `${rules.join(', ')} (${level})` : `${level}: ${reason ?? ''}`],
    ['Fix', hint],
    ['Input', input ?? ''],
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
  const left = wire.length - MAX_WIRE_LINES;
  return [
    ...(left > 0 ? [`  … (${left} earlier lines; --json has them)`] : []),
    ...wire
      .slice(-MAX_WIRE_LINES)
      .map(
        ({ from, atMs, text }) =>
          `  ${ARROWS[from]} ${Math.round(atMs)} ms  ${shortened(cleanText(text), MAX_TEXT)}`,
      ),
  ];
}

/** To the peer, from it, and what happened otherwise. */
export const ARROWS = { check: '→', server: '←', client: '←', note: '·' } as const;
