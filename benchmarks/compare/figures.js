/**
 * The figures that pages show, out of the JSON of benchmark runs. A run has one mode, or several (`--all`). Pure: runs in,
 * results out. The results are kept in benchmarks/results.json, with the run that each mode comes from.
 */

import { medianOf, toMB } from '../lib/statistics.js';
import { addedP50 } from '../modes/bridge/goals.js';
import { BRIDGE_SUBJECTS } from '../modes/bridge/subjects.js';
import { cpuRatio } from '../modes/stdio.js';

/** @typedef {{ date: string, node: string, cores: number, quick: boolean }} RunFacts */
/** @typedef {{ mode: string, what: string, where: string, value: number, bare?: number }} GoalFigure */
/** @typedef {Record<string, string | number | undefined>} Figure */
/** @typedef {{ run: RunFacts, figures: Figure[], goals: GoalFigure[] }} ModeResults */

/**
 * Later runs replace the modes that they have, and leave the others.
 * @param {Record<string, ModeResults>} before
 * @param {readonly any[]} runs
 * @returns {Record<string, ModeResults>}
 */
export function mergeRuns(before, runs) {
  return Object.assign({}, before, ...runs.map(resultsOf));
}

/**
 * @param {any} run
 * @returns {Record<string, ModeResults>}
 */
function resultsOf(run) {
  const facts = { date: run.date, node: run.node, cores: run.machine?.cores, quick: run.quick === true };
  const modes = run.modes ?? { [run.verdicts?.[0]?.mode]: run };
  return Object.fromEntries(
    Object.entries(modes).map(([mode, document]) => {
      if (!(mode in FIGURES)) throw new Error(`A run of the mode ${mode} cannot be read`);
      const figures = FIGURES[/** @type {keyof typeof FIGURES} */ (mode)](document).map(rounded);
      return [mode, { run: facts, figures, goals: goalsOf(document) }];
    }),
  );
}

/** @type {Record<string, (document: any) => Figure[]>} */
const FIGURES = {
  stdio: ({ cells }) =>
    cells
      .filter((/** @type {any} */ { textBytes, inFlight }) => textBytes === 64 && inFlight === 64)
      .flatMap((/** @type {any} */ cell) =>
        loadFigures(cell).map((figure) => ({ era: cell.era, ...figure })),
      ),
  http: ({ cells }) =>
    cells.filter((/** @type {any} */ { inFlight }) => inFlight === 32).flatMap(loadFigures),
  clients: ({ cells, boots }) =>
    names(
      cells.flatMap((/** @type {any} */ { results }) => results),
      'client',
    ).map((client) => {
      const cpu = (/** @type {string} */ era) =>
        cells
          .find((/** @type {any} */ cell) => cell.era === era && cell.inFlight === 64)
          ?.results.find((/** @type {any} */ result) => result.client === client)?.cpuMicros;
      const boot = (/** @type {string} */ era) =>
        boots.find((/** @type {any} */ each) => each.client === client && each.server === era)?.medianMs;
      return {
        subject: client,
        modernCpuMicros: cpu('modern'),
        legacyCpuMicros: cpu('legacy'),
        modernBootMs: boot('modern'),
        legacyBootMs: boot('legacy'),
      };
    }),
  host: () => [],
  bridge: ({ cells }) =>
    cells
      .filter((/** @type {any} */ { inFlight }) => inFlight > 1)
      .flatMap((/** @type {any} */ many) => {
        const { era, upstream } = many;
        const one = cells.find(
          (/** @type {any} */ cell) => cell.era === era && cell.upstream === upstream && cell.inFlight === 1,
        );
        return many.results.map((/** @type {any} */ { subject, serverCpuMicros, peakRssBytes }) => ({
          ...{ era, upstream, subject },
          // The CPU of a process for each call is not in the figure of the bridge.
          ...(!spawns(subject, era) && {
            cpuMicros: serverCpuMicros,
            timesServer: cpuRatio(many, subject, 'server'),
            alone: resultOf(one, subject)?.serverCpuMicros,
          }),
          addedP50Micros: one && addedP50(one, subject),
          peakMB: toMB(peakRssBytes),
        }));
      }),
  start: ({ results }) =>
    results.map((/** @type {any} */ { program, era, medianMs }) => ({
      subject: program,
      ...(era && { era }),
      ms: medianMs,
    })),
  memory: ({ results }) =>
    results.map((/** @type {any} */ { thing, subject, rounds }) => ({
      ...{ thing, subject },
      kilobytes: kilobytes(medianOf(rounds, (/** @type {any} */ { rssBytes }) => rssBytes)),
    })),
  aggregate: ({ results }) =>
    results.map((/** @type {any} */ { subject, firstMs, warmMs, callMs }) => {
      const [first, warm, call] = [firstMs, warmMs, callMs].map((all) =>
        medianOf(all, (/** @type {number} */ ms) => ms),
      );
      return { subject, firstMs: first, warmMs: warm, callMs: call };
    }),
  auth: () => [],
  install: () => [],
};

/**
 * @param {any} cell
 * @returns {Figure[]}
 */
function loadFigures(cell) {
  return cell.results.map((/** @type {any} */ result) => ({
    subject: result.subject,
    cpuMicros: result.serverCpuMicros,
    timesBare: cpuRatio(cell, result.subject, 'bare'),
    p50Micros: result.p50Micros,
    p99Micros: result.p99Micros,
    peakMB: toMB(result.peakRssBytes),
  }));
}

/**
 * @param {any} document
 * @returns {GoalFigure[]}
 */
function goalsOf({ verdicts = [] }) {
  return verdicts
    .filter((/** @type {any} */ { value }) => value !== undefined)
    .map((/** @type {any} */ { mode, what, where, value, bare }) => ({
      ...{ mode, what, where, value: round(value) },
      ...(bare !== undefined && { bare: round(bare) }),
    }));
}

/**
 * @param {string} name
 * @param {import('../lib/subjects.js').Era} era
 */
function spawns(name, era) {
  return BRIDGE_SUBJECTS.find((subject) => subject.name === name)?.spawns.includes(era) ?? false;
}

/**
 * @param {any} cell
 * @param {string} name
 */
function resultOf(cell, name) {
  return cell?.results.find((/** @type {any} */ { subject }) => subject === name);
}

/**
 * @param {readonly any[]} results
 * @param {string} key
 * @returns {string[]}
 */
function names(results, key) {
  return [...new Set(results.map((result) => result[key]))];
}

/** @param {number | undefined} bytes */
function kilobytes(bytes) {
  return bytes === undefined ? undefined : bytes / 1000;
}

/**
 * @param {Figure} figure
 * @returns {Figure}
 */
function rounded(figure) {
  return Object.fromEntries(
    Object.entries(figure).map(([key, value]) => [key, typeof value === 'number' ? round(value) : value]),
  );
}

/** Four digits are more than the noise leaves. @param {number} value */
function round(value) {
  return Number(value.toPrecision(4));
}
