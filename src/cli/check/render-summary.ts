import type { EraReport, Report } from '../../check/model.js';
import { cleanLine, shortened } from '../../check/report/clean-text.js';
import { STANDINGS, type Standing, standingOf, suitesOf } from '../../check/report/standing.js';
import { count, duration, WORDS } from '../../check/report/words.js';
import { table } from '../terminal/table.js';
import { wrap } from '../terminal/text.js';
import { type Looks, paintOf } from './render-finding.js';

/** Who was checked: the target, and what it is in each era. */
export function renderHead({ target, eras, findings, ms, seed }: Report, { width, out }: Looks): string {
  const rows = eras.map((era) => [era.era, describeEra(era)]);
  const took = ['took', `${duration(ms)} for ${count(findings.length, 'finding')}; seed ${seed}`];
  const label = wrap(shortened(cleanLine(target.label), MAX_LABEL), width);
  return `${label.map((line) => `${out.bold(line)}\n`).join('')}${table([...rows, took], {
    width,
    indent: '  ',
    paint: (text, column) => (column === 0 ? out.dim(text) : text),
  })}`;
}

/** How many of which outcome in which suite. Where there is little room, outcomes that nothing has are left out. */
export function renderSummary({ findings }: Report, { width, out }: Looks): string {
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
  const who = server ? `${server.name} ${server.version}` : 'does not say who it is';
  const offers = [count(tools, 'tool'), count(resources, 'resource'), count(prompts, 'prompt')].join(', ');
  const can = capabilities.length > 0 ? ` (${capabilities.join(', ')})` : '';
  return shortened(cleanLine(`${revision}, ${who}: ${offers}${can}`), MAX_LABEL);
}
