import type { Finding, Report } from '../model.js';
import { describeStop, type FailOn, verdictOf } from '../run/grade.js';
import { cleanLine, cleanText, describeFinding, nameOfFinding, seenAndExpected } from './plain-text.js';
import { standingOf, suitesOf } from './standing.js';

/**
 * The report as JUnit XML for CI systems, with a test case for each finding. Findings that do not apply, or that the
 * baseline accepts, are skipped. A warning passes with a note, unless `failOn` is `should`. Stale entries of the baseline
 * fail in their own suite.
 */
export function toJunit(report: Report, { failOn = 'must' }: { readonly failOn?: FailOn } = {}): string {
  const suites = [
    ...suitesOf(report.findings).map((suite) => ({
      name: suite,
      cases: report.findings
        .filter((finding) => finding.suite === suite)
        .map((finding) => caseOf(finding, failOn)),
    })),
    { name: 'baseline', cases: staleCases(report, failOn) },
  ].filter(({ cases }) => cases.length > 0);
  const label = cleanLine(report.target.label);
  const all = suites.flatMap(({ cases }) => cases);
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes({ name: `isthmus check ${label}`, ...totals(all), time: seconds(report.ms) })}>`,
    ...suites.flatMap(({ name, cases }) => [
      `  <testsuite${attributes({
        name,
        ...totals(cases),
        time: seconds(cases.reduce((sum, { ms }) => sum + ms, 0)),
        timestamp: report.started.replace(/(\.\d+)?Z$/, ''),
      })}>`,
      '    <properties>',
      ...Object.entries(propertiesOf(report)).map(
        ([key, value]) => `      <property${attributes({ name: key, value })}/>`,
      ),
      '    </properties>',
      ...cases.flatMap((each) => renderCase(name, each)),
      '  </testsuite>',
    ]),
    '</testsuites>',
  ];
  return `${lines.join('\n')}\n`;
}

interface Case {
  readonly name: string;
  readonly ms: number;
  readonly kind: 'passed' | 'failure' | 'error' | 'skipped';
  readonly message: string;
  readonly type: string;
  readonly text: string;
}

function caseOf(finding: Finding, failOn: FailOn): Case {
  const { level, ms, seen } = finding;
  const base = { name: nameOfFinding(finding), ms, type: level, message: seenAndExpected(finding), text: '' };
  const text = describeFinding(finding);
  switch (standingOf(finding)) {
    case 'pass':
      return { ...base, kind: 'passed' };
    case 'skip':
      return { ...base, kind: 'skipped', message: `does not apply: ${cleanLine(seen)}` };
    case 'accepted':
      return { ...base, kind: 'skipped', message: `accepted by the baseline. ${base.message}` };
    case 'error':
      return { ...base, kind: 'error', text };
    case 'fail':
      return { ...base, kind: 'failure', text };
    case 'warn':
      return failOn === 'should'
        ? { ...base, kind: 'failure', text }
        : { ...base, kind: 'passed', text: `Warning: ${text}` };
  }
}

/** Reasons that fail the run, but are not findings. */
function staleCases(report: Report, failOn: FailOn): Case[] {
  const stale = report.stale.map((entry) => ({ name: entry, message: entry }));
  const nothing = verdictOf(report, failOn).reasons.filter((reason) => reason === 'no check applied');
  const stopped = report.interrupted ? [`the run ${describeStop(report.interrupted)}`] : [];
  return [...stale, ...[...nothing, ...stopped].map((reason) => ({ name: reason, message: reason }))].map(
    (each) => ({
      ...each,
      ms: 0,
      kind: 'failure',
      type: 'baseline',
      text: '',
    }),
  );
}

function renderCase(suite: string, { name, ms, kind, message, type, text }: Case): string[] {
  const open = `    <testcase${attributes({ classname: `isthmus.${suite}`, name: cleanLine(name), time: seconds(ms) })}`;
  if (kind === 'passed' && text === '') return [`${open}/>`];
  const inner = {
    passed: `<system-out>${escapeXml(text)}</system-out>`,
    skipped: `<skipped${attributes({ message })}/>`,
    failure: `<failure${attributes({ message, type })}>${escapeXml(text)}</failure>`,
    error: `<error${attributes({ message, type: 'error' })}>${escapeXml(text)}</error>`,
  }[kind];
  return [`${open}>`, `      ${inner}`, '    </testcase>'];
}

function totals(cases: readonly Case[]): Record<string, string> {
  const count = (kind: Case['kind']) => String(cases.filter((each) => each.kind === kind).length);
  return {
    tests: String(cases.length),
    failures: count('failure'),
    errors: count('error'),
    skipped: count('skipped'),
  };
}

function propertiesOf({ target, grade, seed, version }: Report): Record<string, string> {
  return {
    target: target.label,
    transport: target.transport,
    grade: grade.letter,
    seed: String(seed),
    version,
  };
}

function attributes(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(
      ([name, value]) => ` ${name}="${escapeXml(value).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;')}"`,
    )
    .join('');
}

function escapeXml(text: string): string {
  return cleanText(text).replace(/[&<>"]/g, (character) => ENTITIES[character]!);
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}
