/**
 * `run.js --bridge`: HTTP clients in front of a stdio server, through isthmus, through other bridges and
 * without a bridge. Parts: an echo in cells (client era, server era, connections),
 * warm and cold; memory over many calls; results of 5 MB.
 */

import { ensureInstalled } from '../../lib/install.js';
import { measureCell, measureCold, WARM_UP_AT_LEAST } from '../../lib/measure.js';
import { createProgress } from '../../lib/progress.js';
import { BENCHMARKS } from '../../lib/subjects.js';
import { judgeCell, judgeCold, judgeLarge, judgeMemory, nameCell } from './goals.js';
import { measureLarge } from './large.js';
import { measureMemory } from './memory.js';
import { connectThrough } from './process.js';
import { BRIDGE_SUBJECTS } from './subjects.js';
import { render } from './table.js';

/** @typedef {import('../../lib/subjects.js').Era} Era */
/** @typedef {import('./subjects.js').BridgeSubject} BridgeSubject */
/** @typedef {import('./goals.js').BridgeCell} BridgeCell */
/** @typedef {import('./goals.js').MeasuredCell} MeasuredCell */
/** @typedef {import('./goals.js').ColdCell} ColdCell */
/** @typedef {{ subject: string, rival: boolean, where: string, message: string }} Failure */

const TEXT_BYTES = 64;
const CONNECTIONS = [32, 1];
const COLD_SUBJECTS = ['server', 'bare', 'isthmus', 'mcp-proxy'];

const EFFORT = { warmUpMs: 600, warmUpRequests: 12_000, rounds: 25, roundMs: 100, coldRounds: 7 };
const QUICK_EFFORT = {
  warmUpMs: 200,
  warmUpRequests: WARM_UP_AT_LEAST,
  rounds: 9,
  roundMs: 60,
  coldRounds: 3,
};
/** A process for each request: far fewer requests, and rounds of their own, since such a process ends late. */
const SPAWNING_EFFORT = { ...EFFORT, warmUpMs: 500, warmUpRequests: 0, rounds: 5, roundMs: 400 };
const CALLS_OF_MEMORY = { warmUp: 20_000, total: 100_000 };
const QUICK_CALLS_OF_MEMORY = { warmUp: 4000, total: 12_000 };
const ROUNDS_OF_LARGE = 15;
const QUICK_ROUNDS_OF_LARGE = 5;

/** @type {import('../index.js').Mode} */
export const BRIDGE = {
  name: 'bridge',
  subjects: BRIDGE_SUBJECTS.map(({ name }) => name),
  onRequest: ['isthmus-console'],
  takesEra: true,

  async measure({ names, eras, upstreams, quick }) {
    const subjects = BRIDGE_SUBJECTS.filter(({ name }) => names.includes(name));
    if (subjects.some(({ rival }) => rival)) await ensureInstalled(BENCHMARKS);
    const effort = quick ? QUICK_EFFORT : EFFORT;
    const wanted = cellsOf(eras, upstreams);
    const wantedCold = wanted.filter(({ inFlight }) => inFlight > 1);
    const progress = createProgress(process.stderr, wanted.length + wantedCold.length + 2 * eras.length);
    /** @type {Failure[]} */
    const failures = [];
    const failed = (/** @type {BridgeSubject} */ { name, title, rival }, /** @type {string} */ where) => ({
      by: (/** @type {Error} */ { message }) => {
        failures.push({ subject: name, rival, where, message });
        progress.note(`${title} CANNOT, ${where}: ${message}`);
      },
    });
    /** @type {(where: string) => import('../../lib/measure.js').OnFailure} */
    const onFailure = (where) => (subject, _era, error) =>
      failed(/** @type {BridgeSubject} */ (subject), where).by(error);
    const ableIn = (/** @type {BridgeCell} */ { era, upstream }) =>
      subjects.filter(({ translates }) => translates || era === 'legacy' || upstream === 'modern');
    const connect = /** @type {any} */ (connectThrough);

    /** @type {ColdCell[]} */
    const cold = [];
    for (const cell of wantedCold) {
      const where = `${nameCell(cell)}, cold`;
      progress.next(where);
      const some = ableIn(cell).filter(({ name }) => COLD_SUBJECTS.includes(name));
      const { coldRounds } = effort;
      const results = await measureCold(some, cell, coldRounds, onFailure(where), progress.at, connect);
      cold.push({ ...cell, results });
    }
    /** @type {MeasuredCell[]} */
    const cells = [];
    for (const cell of wanted) {
      progress.next(nameCell(cell));
      const able = ableIn(cell);
      const spawning = able.filter(({ spawns }) => spawns.includes(cell.era));
      const steady = able.filter((subject) => !spawning.includes(subject));
      const measure = (/** @type {BridgeSubject[]} */ some, /** @type {typeof EFFORT} */ howLong) =>
        measureCell(some, cell, howLong, onFailure(nameCell(cell)), progress.at, connect);
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
    const document = { eras, upstreams, effort, cells, cold, memory, large, failures };
    // What a rival cannot do is a result.
    return { document, failed: failures.some(({ rival }) => !rival) };
  },

  judge({ eras, upstreams, cells = [], cold = [], memory = [], large = [] }) {
    const wanted = cellsOf(eras, upstreams);
    return [
      ...wanted.flatMap((cell) => judgeCell(cell, cells.find(isAt(cell)))),
      ...wanted
        .filter(({ inFlight }) => inFlight > 1)
        .flatMap((cell) => judgeCold(cell, cold.find(isAt(cell)))),
      ...eras.flatMap((/** @type {Era} */ era) => [
        judgeMemory(
          era,
          memory.find((/** @type {{ era: Era }} */ each) => each.era === era),
        ),
        judgeLarge(era, large.find((/** @type {{ era: Era }} */ each) => each.era === era)?.results ?? []),
      ]),
    ];
  },

  render,
};

/**
 * @param {readonly Era[]} eras
 * @param {readonly Era[]} upstreams
 * @returns {BridgeCell[]}
 */
function cellsOf(eras, upstreams) {
  return upstreams.flatMap((upstream) =>
    eras.flatMap((era) =>
      CONNECTIONS.map((inFlight) => ({ era, upstream, textBytes: TEXT_BYTES, inFlight })),
    ),
  );
}

/** @param {BridgeCell} cell */
function isAt({ era, upstream, inFlight }) {
  return (/** @type {BridgeCell} */ each) =>
    each.era === era && each.upstream === upstream && each.inFlight === inFlight;
}
