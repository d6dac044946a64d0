/** Writes tables into pages, between `<!-- compare: NAME -->` and `<!-- end of NAME -->`. Pure: text in, text out. */

import { MODES } from '../modes/index.js';
import { scoreboardTable, summaryTable } from './summary.js';
import { goalsTable, TABLES } from './tables.js';

/** The pages that have tables of results, from the root of the repository. */
export const PAGES = ['README.md', 'docs/compare.md', 'benchmarks/README.md'];

/**
 * @param {string} page
 * @param {import('./tables.js').Results} results
 * @param {string} scoreboard the text of docs/scoreboard.md
 */
export function fillPage(page, results, scoreboard) {
  return page.replace(MARKED, (_, begin, name, end) => {
    return `${begin}\n\n${tableNamed(name, results, scoreboard)}\n\n${end}`;
  });
}

const MARKED = /(<!-- compare: (\w+) -->)\n[\s\S]*?\n(<!-- end of \2 -->)/g;

/**
 * @param {string} name
 * @param {import('./tables.js').Results} results
 * @param {string} scoreboard
 */
function tableNamed(name, results, scoreboard) {
  if (name === 'summary') return summaryTable(results, scoreboard);
  if (name === 'scoreboard') return scoreboardTable(scoreboard);
  if (name === 'goals') {
    const both = /** @type {const} */ (['modern', 'legacy']);
    return goalsTable(
      results,
      MODES.flatMap((mode) => mode.judge({ eras: both, upstreams: both })),
    );
  }
  const toTable = TABLES[name];
  if (toTable === undefined) throw new Error(`There is no table called ${name}`);
  return toTable(results);
}
