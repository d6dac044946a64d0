import type { Finding } from '@isthmus/check/internal/model.js';
import { ARROWS, cleanLine, rulesInWords, shortened } from '@isthmus/check/internal/report/plain-text.js';
import { type Standing, standingOf, WORDS } from '@isthmus/check/internal/report/standing.js';
import { fit, table, widthOf, wrap } from '../terminal/table.js';
import type { Style, Terminal } from '../terminal/terminal.js';

export interface Looks extends Pick<Terminal, 'width' | 'out'> {
  /** The seed that generates the same input again. Absent where a check cannot be repeated alone. */
  readonly seed?: number;
}

/** A failed check: the title, then what was seen and expected, why it matters, and the fix. */
export function renderFinding(finding: Finding, looks: Looks): string {
  const { width, out, seed } = looks;
  const { reason, seen, expected, hint, input } = finding;
  const rows: (readonly [string, string])[] = [
    ['seen', seen],
    ['expected', expected],
    ...rulesInWords(finding).map((text, at): readonly [string, string] => [at === 0 ? 'rule' : '', text]),
    ['why', reason ?? ''],
    ['fix', hint],
    ['input', input ?? ''],
    ['also', consequencesOf(finding)],
    ['check', seed === undefined ? finding.id : ''],
    [
      'rerun',
      seed === undefined ? '' : `--only ${finding.id}${input === undefined ? '' : ` --seed ${seed}`}`,
    ],
  ];
  const lines = table(
    rows
      .map(([name, text]) => [name, shortened(cleanLine(text), MAX_VERBOSE)])
      .filter(([, text]) => text !== ''),
    {
      width,
      indent: '  ',
      maxLines: Number.POSITIVE_INFINITY,
      paint: (text, column) => (column > 0 ? text : text === 'fix' ? out.bold(text) : out.dim(text)),
    },
  );
  return `${renderTitle(finding, looks)}${lines}${renderWire(finding, looks)}`;
}

/** The same check in all eras, in two lines: what is broken, and what was seen. */
export function renderBrief(findings: readonly [Finding, ...Finding[]], looks: Looks): string {
  const [finding] = findings;
  const { width, out } = looks;
  const eras = findings.flatMap(({ era }) => (era === undefined ? [] : [era]));
  const title = `${finding.title}${eras.length > 0 ? ` (${eras.join(', ')})` : ''}`;
  const [first, ...rest] = wrap(shortened(cleanLine(title), MAX_VERBOSE), width - 2);
  const standing = standingOf(finding);
  const head = [
    `${paintOf(standing, out)(WORDS[standing].sign)} ${out.bold(first!)}`,
    ...rest.map((line) => `  ${out.bold(line)}`),
  ];
  const id = `${finding.id}: `;
  const fix = finding.hint === '' ? '' : ` Fix: ${cleanLine(finding.hint)}`;
  const seen = `${id}${sentence(shortened(cleanLine(finding.seen), MAX_TEXT))}`;
  // The fix only where there is room for both: --verbose has it, too.
  const line = widthOf(seen + fix) <= width - 2 ? seen + fix : fit(seen, width - 2);
  return `${head.join('\n')}\n  ${out.dim(line.slice(0, id.length))}${line.slice(id.length)}\n`;
}

function sentence(text: string): string {
  return text === '' || /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** The checks that were not judged because of this failure. */
function consequencesOf({ consequences = [] }: Finding): string {
  return consequences.length === 0
    ? ''
    : `${consequences.length} ${consequences.length === 1 ? 'check' : 'checks'} could not be judged: ${consequences.join(', ')}`;
}

/** A line: `✗ Answers ping with an empty result (legacy)`. */
export function renderTitle(finding: Finding, { width, out }: Looks, more = ''): string {
  const standing = standingOf(finding);
  const { title, era } = finding;
  const text = `${cleanLine(title)}${era ? ` (${era})` : ''}${more === '' ? '' : `: ${cleanLine(more)}`}`;
  const [first, ...rest] = wrap(shortened(text, MAX_VERBOSE), width - 2);
  const isLoud = standing !== 'pass' && standing !== 'skip';
  const lines = [`${paintOf(standing, out)(WORDS[standing].sign)} ${isLoud ? out.bold(first!) : first!}`];
  lines.push(...rest.map((line) => `  ${isLoud ? out.bold(line) : line}`));
  return lines.map((line) => `${line}\n`).join('');
}

export function paintOf(standing: Standing, out: Style): (text: string) => string {
  return {
    fail: out.red,
    error: out.red,
    warn: out.yellow,
    accepted: out.cyan,
    skip: out.dim,
    pass: out.green,
  }[standing];
}

const MAX_TEXT = 600;
const MAX_VERBOSE = 20_000;

/** The messages on the wire, one per line. */
function renderWire({ wire }: Finding, { width, out }: Looks): string {
  if (wire.length === 0) return '';
  const times = wire.map(({ atMs }) => String(Math.round(atMs)));
  const widest = Math.max(...times.map((time) => time.length));
  const rows = wire.map(({ from, text }, at) => [
    `${ARROWS[from]} ${times[at]!.padStart(widest)} ms`,
    shortened(cleanLine(text), MAX_VERBOSE),
  ]);
  return `  ${out.dim('wire')}\n${table(rows, {
    width,
    indent: '    ',
    maxLines: Number.POSITIVE_INFINITY,
    paint: (text, column) => (column === 0 ? out.dim(text) : text),
  })}`;
}
