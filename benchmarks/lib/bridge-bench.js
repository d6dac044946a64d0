/**
 * `run.js --bridge`: HTTP clients in front of a stdio server, through isthmus, through the bridges of others and
 * without any. Three parts: an echo in cells (client era, connections), memory over many calls, and results of 5 MB.
 */

import { GOALS, judgeCells, judgeLarge, judgeMemory, nameCell } from './bridge-goals.js';
import { measureLarge } from './bridge-large.js';
import { measureMemory } from './bridge-memory.js';
import { connectThrough } from './bridge-process.js';
import { BRIDGE_SUBJECTS } from './bridge-subjects.js';
import { render } from './bridge-table.js';
import { ensureInstalled } from './install.js';
import { measureCell } from './measure.js';
import { createProgress } from './progress.js';
import { BENCHMARKS } from './subjects.js';

/** @typedef {import('./subjects.js').Era} Era */
/** @typedef {import('./bridge-subjects.js').BridgeSubject} BridgeSubject */
/** @typedef {import('./measure.js').Cell & { upstream: Era }} BridgeCell */
/** @typedef {BridgeCell & { results: import('./measure.js').CellResult[] }} MeasuredCell */
/** @typedef {{ subject: string, rival: boolean, where: string, message: string }} Failure */

const TEXT_BYTES = 64;
const CONNECTIONS = [32, 1];

const EFFORT = {
  starts: 0,
  warmUpMs: 600,
  warmUpRequests: 12_000,
  warmUpLargeRequests: 0,
  warmUpAtMostMs: 6000,
  rounds: 25,
  roundMs: 100,
};
const QUICK_EFFORT = {
  ...EFFORT,
  warmUpMs: 200,
  warmUpRequests: 4000,
  warmUpAtMostMs: 1500,
  rounds: 9,
  roundMs: 60,
};
/** A process for each request: far fewer requests, and rounds of their own, since such a process ends late. */
const SPAWNING_EFFORT = { ...EFFORT, warmUpMs: 500, warmUpRequests: 0, rounds: 5, roundMs: 400 };
const CALLS_OF_MEMORY = { warmUp: 20_000, total: 100_000 };
const QUICK_CALLS_OF_MEMORY = { warmUp: 4000, total: 12_000 };
const ROUNDS_OF_LARGE = 15;
const QUICK_ROUNDS_OF_LARGE = 5;

/**
 * @param {{ names: readonly string[], eras: readonly Era[], upstreams: readonly Era[], quick: boolean, json: boolean, about: object }} options
 * @returns {Promise<number>} the exit status
 */
export async function benchBridge({ names, eras, upstreams, quick, json, about }) {
  const subjects = BRIDGE_SUBJECTS.filter(({ name }) => names.includes(name));
  if (subjects.some(({ rival }) => rival)) await ensureInstalled(BENCHMARKS);
  const effort = quick ? QUICK_EFFORT : EFFORT;
  const wanted = upstreams.flatMap((upstream) =>
    eras.flatMap((era) =>
      CONNECTIONS.map((inFlight) => ({ era, upstream, textBytes: TEXT_BYTES, inFlight })),
    ),
  );
  const progress = createProgress(process.stderr, wanted.length + 2 * eras.length);
  /** @type {Failure[]} */
  const failures = [];
  const failed = (/** @type {BridgeSubject} */ { name, title, rival }, /** @type {string} */ where) => ({
    by: (/** @type {Error} */ { message }) => {
      failures.push({ subject: name, rival, where, message });
      progress.note(`${title} CANNOT, ${where}: ${message}`);
    },
  });

  /** @type {MeasuredCell[]} */
  const cells = [];
  for (const cell of wanted) {
    progress.next(nameCell(cell));
    const able = subjects.filter(
      ({ translates }) => translates || cell.era === 'legacy' || cell.upstream === 'modern',
    );
    const spawning = able.filter(({ spawns }) => spawns.includes(cell.era));
    const steady = able.filter((subject) => !spawning.includes(subject));
    const measure = (/** @type {BridgeSubject[]} */ some, /** @type {typeof EFFORT} */ howLong) =>
      measureCell(
        some,
        cell,
        howLong,
        (subject, _era, error) => failed(/** @type {any} */ (subject), nameCell(cell)).by(error),
        progress.at,
        /** @type {any} */ (connectThrough),
      );
    cells.push({
      ...cell,
      results: [...(await measure(steady, effort)), ...(await measure(spawning, SPAWNING_EFFORT))],
    });
  }

  const memory = [];
  const large = [];
  for (const era of eras) {
    progress.next(`${era}, memory over many calls`);
    const calls = quick ? QUICK_CALLS_OF_MEMORY : CALLS_OF_MEMORY;
    memory.push(...(await measureMemory(subjects, era, calls, failed, progress.at)));
    progress.next(`${era}, results of 5 MB`);
    const rounds = quick ? QUICK_ROUNDS_OF_LARGE : ROUNDS_OF_LARGE;
    large.push({ era, results: await measureLarge(subjects, era, rounds, failed, progress.at) });
  }
  progress.end();

  const verdicts = [...judgeCells(cells), ...judgeMemory(memory), ...judgeLarge(large)];
  const document = { ...about, quick, effort, goals: GOALS, cells, memory, large, verdicts, failures };
  process.stdout.write(json ? `${JSON.stringify(document, null, 2)}\n` : render(document));
  // What a rival cannot do is a result.
  return failures.every(({ rival }) => rival) ? 0 : 1;
}
