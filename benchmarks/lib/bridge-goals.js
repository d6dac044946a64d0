/** The goals of a bridge and whether these numbers meet them. Pure: numbers in, verdicts out. */

import { ratio, toMB } from './goals.js';
import { median } from './measure.js';

/** @typedef {import('./bridge-bench.js').MeasuredCell} MeasuredCell */
/** @typedef {import('./measure.js').Round} Round */

/**
 * @typedef {object} BridgeVerdict
 * @property {string} what
 * @property {string} where
 * @property {number} value
 * @property {number} limit
 * @property {'ratio' | 'MB'} unit
 * @property {boolean} met
 * @property {number} [bare] what the bare bridge itself has, where that alone misses the goal
 */

export const GOALS = {
  cpuVsMcpProxy: 1 / 5,
  cpuVsServer: 2,
  addedP50VsMcpProxy: 1 / 5,
  rssGrowthMB: 5,
  rssGrowthShare: 0.05,
  largeVsOnce: 2,
};

/**
 * @param {readonly MeasuredCell[]} cells
 * @returns {BridgeVerdict[]}
 */
export function judgeCells(cells) {
  return cells.flatMap((cell) => [
    ...verdict('CPU against mcp-proxy', cell, 'mcp-proxy', GOALS.cpuVsMcpProxy, cpuRatio),
    ...verdict('CPU against our own HTTP server', cell, 'server', GOALS.cpuVsServer, cpuRatio),
    ...(cell.inFlight === 1
      ? verdict('added p50 against mcp-proxy', cell, 'mcp-proxy', GOALS.addedP50VsMcpProxy, addedRatio)
      : []),
  ]);
}

/**
 * Flat is: from the first quarter of the samples to the last it grows by at most 5 MB, or by at most 5 %. Medians,
 * since a single sample also tells how long ago garbage was collected.
 * @param {readonly import('./bridge-memory.js').MemoryResult[]} results
 * @returns {BridgeVerdict[]}
 */
export function judgeMemory(results) {
  return results.flatMap(({ era, samples }) => {
    const quarter = Math.max(1, samples.length >> 2);
    const [first, last] = [samples.slice(0, quarter), samples.slice(-quarter)].map(medianRss);
    if (first === undefined || last === undefined) return [];
    const limit = Math.max(GOALS.rssGrowthMB, first * GOALS.rssGrowthShare);
    const calls = [samples[0], samples[samples.length - 1]].map((sample) =>
      sample.calls.toLocaleString('en-US'),
    );
    const value = last - first;
    const where = `${era}, ${calls.join(' to ')} calls`;
    return [{ what: 'RSS grows by', where, value, limit, unit: 'MB', met: value <= limit }];
  });
}

/** @param {readonly import('./bridge-memory.js').Sample[]} samples */
function medianRss(samples) {
  return pairedMedian(samples, ({ rssBytes }) => toMB(rssBytes));
}

/**
 * @param {readonly { era: string, results: import('./bridge-large.js').LargeResult[] }[]} cells
 * @returns {BridgeVerdict[]}
 */
export function judgeLarge(cells) {
  return cells.flatMap(({ era, results }) => {
    const value = largeRatio(results, 'isthmus', 'once');
    if (value === undefined) return [];
    const limit = GOALS.largeVsOnce;
    const what = 'CPU of a 5 MB result against joining and parsing it once';
    return [{ what, where: era, value, limit, unit: 'ratio', met: value <= limit }];
  });
}

/** @param {import('./bridge-bench.js').BridgeCell} cell */
export function nameCell({ era, upstream, inFlight }) {
  const behind = upstream === era ? '' : `, ${upstream} server`;
  return `${era} client${behind}, ${inFlight === 1 ? '1 connection' : `${inFlight} connections`}`;
}

/**
 * @param {readonly import('./bridge-large.js').LargeResult[]} results
 * @param {string} of
 * @param {string} to
 */
export function largeRatio(results, of, to) {
  const [ours, theirs] = [of, to].map((name) => results.find(({ subject }) => subject === name)?.rounds);
  return pairedMedian(ours, (round, at) => ratio(round.cpuMicros, theirs?.[at]?.cpuMicros));
}

/**
 * The median of the ratios within each round: rounds that lie side by side have the same noise.
 * @param {MeasuredCell} cell
 * @param {string} of
 * @param {string} to
 */
export function cpuRatio(cell, of, to) {
  const theirs = roundsOf(cell, to);
  return pairedMedian(roundsOf(cell, of), (round, at) =>
    ratio(round.serverCpuMicros, theirs?.[at]?.serverCpuMicros),
  );
}

/**
 * What a bridge adds to the p50 of stdio without one, in microseconds.
 * @param {MeasuredCell} cell
 * @param {string} of
 */
export function addedP50(cell, of) {
  const direct = roundsOf(cell, 'direct');
  return pairedMedian(roundsOf(cell, of), (round, at) => added(round, direct?.[at]));
}

/**
 * @param {MeasuredCell} cell
 * @param {string} of
 * @param {string} to
 */
function addedRatio(cell, of, to) {
  const [direct, theirs] = [roundsOf(cell, 'direct'), roundsOf(cell, to)];
  return pairedMedian(roundsOf(cell, of), (round, at) =>
    ratio(added(round, direct?.[at]), added(theirs?.[at], direct?.[at])),
  );
}

/**
 * @param {Round | undefined} round
 * @param {Round | undefined} direct
 */
function added(round, direct) {
  return round === undefined || direct === undefined ? undefined : round.p50Micros - direct.p50Micros;
}

/**
 * @param {MeasuredCell} cell
 * @param {string} name
 */
function roundsOf({ results }, name) {
  return results.find(({ subject }) => subject === name)?.rounds;
}

/**
 * @template T
 * @param {readonly T[] | undefined} rounds
 * @param {(round: T, at: number) => number | undefined} pick
 */
function pairedMedian(rounds, pick) {
  const known = (rounds ?? []).map(pick).filter((value) => value !== undefined);
  return known.length === 0 ? undefined : median(known);
}

/**
 * @param {string} what
 * @param {MeasuredCell} cell
 * @param {string} to
 * @param {number} limit
 * @param {typeof cpuRatio} compare
 * @returns {BridgeVerdict[]} none when there is nothing to judge
 */
function verdict(what, cell, to, limit, compare) {
  const value = compare(cell, 'isthmus', to);
  if (value === undefined) return [];
  const bare = compare(cell, 'bare', to);
  const where = nameCell(cell);
  return [
    { what, where, value, limit, unit: 'ratio', met: value <= limit, ...(bare && bare > limit && { bare }) },
  ];
}
