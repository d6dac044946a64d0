import type { Finding } from '@isthmus/check/internal/model.js';
import { ARROWS, cleanLine, rulesInWords, shortened } from '@isthmus/check/internal/report/plain-text.js';
import { type Standing, standingOf, WORDS } from '@isthmus/check/internal/report/standing.js';
import { fewerLines } from '@isthmus/check/internal/wire/excerpt.js';
import { table, wrap } from '../terminal/table.js';
import type { Style, Terminal } from '../terminal/terminal.js';

export interface Looks extends Pick<Terminal, 'width' | 'out'> {
  /** Prints everything, and shortens nothing. */
  readonly verbose: boolean;
  /** The seed that generates the same input again. Absent where a check cannot be repeated alone. */
  readonly seed?: number;
}

/** A failed check: the title, then what was seen and expected, why it matters, and the fix. */
export function renderFinding(finding: Finding, looks: Looks): string {
  const { width, out, verbose, seed } = looks;
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
      .map(([name, text]) => [name, shortened(cleanLine(text), verbose ? MAX_VERBOSE : MAX_TEXT)])
      .filter(([, text]) => text !== ''),
    {
      width,
      indent: '  ',
      maxLines: verbose ? Number.POSITIVE_INFINITY : MAX_LINES,
      paint: (text, column) => (column > 0 ? text : text === 'fix' ? out.bold(text) : out.dim(text)),
    },
  );
  return `${renderTitle(finding, looks)}${lines}${renderWire(finding, looks)}`;
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
const MAX_LINES = 6;
const MAX_WIRE = 8;

/** The messages on the wire, one per line. */
function renderWire({ wire }: Finding, { width, out, verbose }: Looks): string {
  if (wire.length === 0) return '';
  const shown = verbose ? wire : fewerLines(wire, MAX_WIRE);
  const left = wire.length - shown.filter(({ text }) => !text.startsWith('…')).length;
  const times = shown.map(({ atMs }) => String(Math.round(atMs)));
  const widest = Math.max(...times.map((time) => time.length));
  const rows = shown.map(({ from, text }, at) => [
    `${ARROWS[from]} ${times[at]!.padStart(widest)} ms`,
    shortened(cleanLine(text), verbose ? MAX_VERBOSE : MAX_TEXT),
  ]);
  const earlier = left > 0 ? `; ${left} more ${left === 1 ? 'line' : 'lines'} with --verbose` : '';
  return `  ${out.dim(`wire${earlier}`)}\n${table(rows, {
    width,
    indent: '    ',
    maxLines: verbose ? Number.POSITIVE_INFINITY : MAX_LINES,
    paint: (text, column) => (column === 0 ? out.dim(text) : text),
  })}`;
}
