import type { Finding, Report, WireLine } from '../model.js';
import { cleanLine, shortened } from '../report/clean-text.js';
import { ARROWS } from '../report/describe-finding.js';
import { WORDS } from '../report/words.js';
import type { FailOn } from '../run/judge-run.js';

/** What a failed run throws: the message has every broken check, and `report` has the rest. */
export class NotSound extends Error {
  override readonly name = 'NotSound';
  readonly report: Report;

  constructor(message: string, report: Report) {
    super(message);
    this.report = report;
  }
}

/** Whether a finding fails the run. */
export function isBroken({ outcome, accepted }: Finding, failOn: FailOn): boolean {
  if (accepted) return false;
  return outcome === 'fail' || outcome === 'error' || (outcome === 'warn' && failOn === 'should');
}

/** Findings for a test's log, a paragraph each; what is the same in both eras is told once. */
export function describeAll(findings: readonly Finding[]): string {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const { id, outcome, seen, expected } = finding;
    const key = JSON.stringify([id, outcome, seen, expected]);
    groups.set(key, [...(groups.get(key) ?? []), finding]);
  }
  return [...groups.values()].map((same) => describe(same[0]!, erasOf(same))).join('\n\n');
}

function erasOf(findings: readonly Finding[]): string {
  const eras = findings.flatMap(({ era }) => era ?? []);
  return eras.length === 0 ? '' : ` (${eras.join(', ')})`;
}

/** What is wrong, which rule says so, and how to mend it: what a person needs who sees only the log of a test. */
function describe(finding: Finding, eras: string): string {
  const { id, title, level, rules, reason, outcome, seen, expected, hint, input, wire } = finding;
  const rows: readonly (readonly [string, string])[] = [
    ['check', id],
    ['rule', rules.length > 0 ? `${rules.join(', ')} (${level})` : `none (${level}): ${reason ?? ''}`],
    ['seen', seen],
    ['expected', expected],
    ['fix', hint],
    ['input', input ?? ''],
  ];
  return [
    `${WORDS[outcome].sign} ${cleanLine(title)}${eras}`,
    ...rows
      .filter(([, text]) => text !== '')
      .map(([name, text]) => `  ${name.padEnd(8)}  ${shortened(cleanLine(text), MAX_TEXT)}`),
    ...wire.slice(-MAX_WIRE).map(describeLine),
  ].join('\n');
}

function describeLine({ from, text }: WireLine): string {
  return `  ${'wire'.padEnd(8)}  ${ARROWS[from]} ${shortened(cleanLine(text), MAX_LINE)}`;
}

const MAX_TEXT = 1000;
const MAX_LINE = 200;
const MAX_WIRE = 4;
