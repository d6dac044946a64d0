// npm run compare -- RUN.json…: takes over the JSON of benchmark runs (npm run bench -- --all --json > RUN.json, or a file
// for each mode), keeps its figures in benchmarks/results.json, and writes the tables of README.md, docs/compare.md and
// benchmarks/README.md. Later files win. Without a file it writes the tables again. A test fails while a page is stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { mergeRuns } from '../benchmarks/compare/figures.js';
import { fillPage, PAGES } from '../benchmarks/compare/pages.js';
import { progress } from './setup/main.js';
import { inRoot } from './setup/paths.js';
import { runMain } from './setup.js';

const RESULTS = inRoot('benchmarks/results.json');

await runMain(async () => {
  const runs = process.argv.slice(2).map(readRun);
  const results = mergeRuns(JSON.parse(readFileSync(RESULTS, 'utf8')), runs);
  writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`);
  const scoreboard = readFileSync(inRoot('docs/scoreboard.md'), 'utf8');
  for (const page of PAGES) {
    const text = readFileSync(inRoot(page), 'utf8');
    writeFileSync(inRoot(page), fillPage(text, results, scoreboard));
  }
  const modes = Object.entries(results).map(([name, { run }]) => `${name} ${run.date.slice(0, 10)}`);
  progress(`results: ${modes.join(', ')}`);
});

/** `npm run` prints its own lines before the document. */
function readRun(path) {
  const text = readFileSync(resolve(path), 'utf8');
  return JSON.parse(text.slice(text.search(/^\{/m)));
}
