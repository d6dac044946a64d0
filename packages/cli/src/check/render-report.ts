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
import { type Looks, paintOf, renderBrief, renderFinding, renderTitle } from './render-finding.js';

export interface RenderOptions {
  /** Default `must`. */
  readonly failOn?: FailOn;
  /** Shows each finding with its rule and its messages, lists what passes and what does not apply, shortens nothing. */
  readonly verbose?: boolean;
  /** Whether `--only` and `--seed` can repeat a finding. Default true. */
  readonly canRepeat?: boolean;
}

/** A report for a terminal: the grade, the target, failures, warnings, the verdict. */
export function renderReport(
  report: Report,
  { width, out }: Pick<Terminal, 'width' | 'out'>,
  { failOn = 'must', verbose = false, canRepeat = true }: RenderOptions = {},
): string {
  const looks: Looks = { width, out, ...(canRepeat && { seed: report.seed }) };
  const { findings } = report;
  const parts = verbose
    ? [
        renderGrade(report, looks),
        renderHead(report, looks),
        section(['fail', 'error'], findings, looks, renderFinding),
        section(['warn'], findings, looks, renderFinding),
        section(['accepted'], findings, looks, renderFinding),
        renderStale(report, looks),
        section(['pass'], findings, looks, renderWithSeen),
        section(['skip'], findings, looks, renderWithSeen),
        renderSummary(report, looks),
        renderVerdict(report, failOn, looks),
      ]
    : [
        renderGrade(report, looks),
        renderHead(report, looks),
        briefSection(['fail', 'error'], findings, looks),
        briefSection(['warn'], findings, looks),
        briefSection(['accepted'], findings, looks),
        renderStale(report, looks),
        renderRest(report, looks),
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

/** Two lines for each check, whatever the number of eras in which it failed. */
function briefSection(
  standings: readonly [Standing, ...Standing[]],
  findings: readonly Finding[],
  looks: Looks,
): string {
  const checks = new Map<string, [Finding, ...Finding[]]>();
  for (const finding of bySuite(findings, ...standings).flatMap((group) => group.findings)) {
    const key = `${standingOf(finding)} ${finding.id}`;
    const known = checks.get(key);
    if (known) known.push(finding);
    else checks.set(key, [finding]);
  }
  if (checks.size === 0) return '';
  const body = [...checks.values()].map((each) => renderBrief(each, looks));
  return `${looks.out.bold(WORDS[standings[0]].section)} (${checks.size})\n\n${body.join('')}`;
}

/** The checks that are not listed, and how to see more. */
function renderRest({ counts }: Report, { width, out, seed }: Looks): string {
  const repeat = seed === undefined ? '' : ` --only CHECK repeats one (--seed ${seed}: with the same input).`;
  const rest = `${count(counts.pass, 'check holds', 'checks hold')}, ${count(counts.skip, 'does', 'do')} not apply.`;
  const text = `${rest} --verbose shows rules, messages and all checks.${repeat}`;
  return wrap(text, width)
    .map((line) => `${out.dim(line)}\n`)
    .join('');
}

function renderWithSeen(finding: Finding, looks: Looks): string {
  return renderTitle(finding, looks, finding.seen);
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

/** The first line is the grade. */
function renderGrade({ grade, interrupted }: Report, { width, out }: Looks): string {
  const head = interrupted ? 'No grade:' : `Grade ${grade.letter}:`;
  return wrap(`${head} ${grade.why}`, width)
    .map((line, at) => `${at === 0 ? line.replace(head, out.bold(head)) : line}\n`)
    .join('');
}

/** The last line is the result. */
function renderVerdict(report: Report, failOn: FailOn, { width, out }: Looks): string {
  const { counts } = report;
  const { passed, reasons } = verdictOf(report, failOn);
  const asides = [
    ...(failOn === 'must' && counts.warn > 0 ? [count(counts.warn, 'warning')] : []),
    ...(counts.accepted > 0 ? [`${counts.accepted} accepted by the baseline`] : []),
  ].join(', ');
  const text = passed
    ? `PASSED${asides && `, with ${asides}`}`
    : `FAILED: ${reasons.join(', ')}${asides && `; ${asides}`}`;
  const lines = wrap(text, width).map((line) => out.bold((passed ? out.green : out.red)(line)));
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
