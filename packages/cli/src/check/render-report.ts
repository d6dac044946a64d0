import type { EraReport, Finding, Report } from '@isthmus/check/internal/model.js';
import { cleanLine, shortened } from '@isthmus/check/internal/report/plain-text.js';
import {
  bySuite,
  count,
  duration,
  STANDINGS,
  type Standing,
  standingOf,
  suitesOf,
  WORDS,
} from '@isthmus/check/internal/report/standing.js';
import { type FailOn, verdictOf } from '@isthmus/check/internal/run/grade.js';
import { table, wrap } from '../terminal/table.js';
import type { Terminal } from '../terminal/terminal.js';

import { type Looks, paintOf, renderFinding, renderTitle } from './render-finding.js';

export interface RenderOptions {
  /** Default `must`. */
  readonly failOn?: FailOn;
  /** Lists what passes and what does not apply, and shortens nothing. */
  readonly verbose?: boolean;
  /** Whether `--only` and `--seed` can repeat a finding. Default true. */
  readonly canRepeat?: boolean;
}

/** A report for a terminal: the target, failures, warnings, the table, the grade, the verdict. */
export function renderReport(
  report: Report,
  { width, out }: Pick<Terminal, 'width' | 'out'>,
  { failOn = 'must', verbose = false, canRepeat = true }: RenderOptions = {},
): string {
  const looks: Looks = { width, out, verbose, ...(canRepeat && { seed: report.seed }) };
  const { findings } = report;
  const parts = [
    renderHead(report, looks),
    section(['fail', 'error'], findings, looks, renderFinding),
    section(['warn'], findings, looks, renderFinding),
    section(['accepted'], findings, looks, verbose ? renderFinding : renderTitle),
    renderStale(report, looks),
    ...(verbose ? [section(['pass'], findings, looks, renderWithSeen)] : []),
    verbose ? section(['skip'], findings, looks, renderWithSeen) : renderReasons(findings, looks),
    renderSummary(report, looks),
    renderVerdict(report, failOn, looks),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

function section(
  standings: readonly [Standing, ...Standing[]],
  findings: readonly Finding[],
  looks: Looks,
  render: (finding: Finding, looks: Looks) => string,
): string {
  const groups = bySuite(findings, ...standings);
  if (groups.length === 0) return '';
  const total = groups.reduce((sum, group) => sum + group.findings.length, 0);
  const gap = render === renderFinding ? '\n' : '';
  const body = groups.map(
    (group) =>
      `${looks.out.dim(cleanLine(group.suite))}\n${group.findings.map((each) => render(each, looks)).join(gap)}`,
  );
  return `${looks.out.bold(WORDS[standings[0]].section)} (${total})\n\n${body.join('\n')}`;
}

function renderWithSeen(finding: Finding, looks: Looks): string {
  return renderTitle(finding, looks, finding.seen);
}

/** The checks that do not apply, by reason. Many have the same reason. */
function renderReasons(findings: readonly Finding[], { width, out }: Looks): string {
  const skipped = findings.filter((finding) => standingOf(finding) === 'skip');
  if (skipped.length === 0) return '';
  const reasons = new Map<string, { number: number; suites: Set<string> }>();
  for (const { seen, suite } of skipped) {
    const reason = cleanLine(seen);
    const known = reasons.get(reason) ?? { number: 0, suites: new Set() };
    reasons.set(reason, { number: known.number + 1, suites: known.suites.add(cleanLine(suite)) });
  }
  const rows = [...reasons]
    .sort(([, one], [, other]) => other.number - one.number)
    .map(([reason, { number, suites }]) => [String(number), `${[...suites].join(', ')}: ${reason}`]);
  const head = `${out.bold(WORDS.skip.section)} (${skipped.length})${out.dim('; see --verbose')}\n\n`;
  return (
    head +
    table(rows, {
      width,
      indent: '  ',
      maxLines: 2,
      paint: (text, column) => (column === 0 ? out.dim(text) : text),
    })
  );
}

function renderStale({ stale }: Report, { width, out }: Looks): string {
  if (stale.length === 0) return '';
  const lines = stale.flatMap((entry) =>
    wrap(cleanLine(entry), width - 2).map(
      (line, at) => `${at === 0 ? out.red(WORDS.fail.sign) : ' '} ${line}\n`,
    ),
  );
  return `${out.bold('Stale in the baseline')} (${stale.length})\n\n${lines.join('')}`;
}

/** The last lines are the result. */
function renderVerdict(report: Report, failOn: FailOn, { width, out }: Looks): string {
  const { grade, counts } = report;
  const { passed, reasons } = verdictOf(report, failOn);
  const asides = [
    ...(failOn === 'must' && counts.warn > 0 ? [count(counts.warn, 'warning')] : []),
    ...(counts.accepted > 0 ? [`${counts.accepted} accepted by the baseline`] : []),
  ].join(', ');
  const text = passed
    ? `PASSED${asides && `, with ${asides}`}`
    : `FAILED: ${reasons.join(', ')}${asides && `; ${asides}`}`;
  const lines = [
    ...wrap(`Grade ${grade.letter}: ${grade.why}`, width).map((line, at) =>
      at === 0 ? line.replace(/^Grade \S+:/, (head) => out.bold(head)) : line,
    ),
    ...wrap(text, width).map((line) => out.bold((passed ? out.green : out.red)(line))),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** The target, and its identity in each era. */
function renderHead({ target, eras, findings, ms, seed }: Report, { width, out }: Looks): string {
  const rows = eras.map((era) => [era.era, describeEra(era)]);
  const took = ['took', `${duration(ms)} for ${count(findings.length, 'finding')}; seed ${seed}`];
  const label = wrap(shortened(cleanLine(target.label), MAX_LABEL), width);
  return `${label.map((line) => `${out.bold(line)}\n`).join('')}${table([...rows, took], {
    width,
    indent: '  ',
    paint: (text, column) => (column === 0 ? out.dim(text) : text),
  })}`;
}

/** The number of each outcome in each suite. A narrow terminal leaves out outcomes without findings. */
function renderSummary({ findings }: Report, { width, out }: Looks): string {
  const isNarrow = width < NARROW;
  const numberOf = (standing: Standing, suite?: string) =>
    findings.filter((each) => standingOf(each) === standing && (suite ?? each.suite) === each.suite).length;
  const columns = STANDINGS.filter((standing) => !isNarrow || numberOf(standing) > 0).map((standing) => {
    const name = WORDS[standing].column;
    return { standing, name, cell: Math.max(name.length, isNarrow ? 3 : 4) };
  });
  const suites = suitesOf(findings);
  const rows = [
    ...suites.map((suite) => ({ name: cleanLine(suite), suite })),
    { name: 'total', suite: undefined },
  ];
  const widest = Math.max(...rows.map(({ name }) => name.length));
  const gap = isNarrow ? ' ' : '  ';
  const lines = rows.map(({ name, suite }) => {
    const numbers = columns.map(({ standing, cell }) => {
      const number = numberOf(standing, suite);
      return number === 0
        ? out.dim('·'.padStart(cell))
        : paintOf(standing, out)(String(number).padStart(cell));
    });
    const label = name.padEnd(widest);
    return [suite === undefined ? out.bold(label) : label, ...numbers].join(gap);
  });
  const head = [' '.repeat(widest), ...columns.map(({ name, cell }) => out.dim(name.padStart(cell)))].join(
    gap,
  );
  return [head, ...lines].map((line) => `${line}\n`).join('');
}

const NARROW = 56;
const MAX_LABEL = 300;

function describeEra({ revision, server, capabilities, tools, resources, prompts }: EraReport): string {
  const identity = server ? `${server.name} ${server.version}` : 'did not send its name';
  const lists = [count(tools, 'tool'), count(resources, 'resource'), count(prompts, 'prompt')].join(', ');
  const names = capabilities.length > 0 ? ` (${capabilities.join(', ')})` : '';
  return shortened(cleanLine(`${revision}, ${identity}: ${lists}${names}`), MAX_LABEL);
}
