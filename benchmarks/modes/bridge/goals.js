/** The goals of a bridge. Pure: numbers in, verdicts out. */

import { medianOf, pairedRatio, ratio, toMB } from '../../lib/statistics.js';
import { verdict } from '../../lib/verdicts.js';
import { cpuRatio } from '../stdio.js';

/** @typedef {import('../../lib/subjects.js').Era} Era */
/** @typedef {import('../../lib/measure.js').Round} Round */
/** @typedef {import('../../lib/measure.js').Cell & { upstream: Era }} BridgeCell */
/** @typedef {BridgeCell & { results: import('../../lib/measure.js').CellResult[] }} MeasuredCell */
/** @typedef {BridgeCell & { results: import('../../lib/measure.js').ColdResult[] }} ColdCell */
/** @typedef {import('../../lib/verdicts.js').Verdict} Verdict */

const GROWTH = { megabytes: 5, share: 0.05 };

/**
 * The goals are for 32 connections. One connection is watched: a bridge has twice the system calls of a server there.
 * @param {BridgeCell} wanted
 * @param {MeasuredCell | undefined} cell
 * @returns {Verdict[]}
 */
export function judgeCell(wanted, cell) {
  const place = { mode: 'bridge', where: nameCell(wanted), required: wanted.inFlight > 1 };
  const added = addedRatio(cell, 'isthmus', 'mcp-proxy');
  return [
    verdict({
      ...place,
      what: 'CPU against our own HTTP server, warm',
      unit: 'x',
      limit: 1.2,
      value: cpuRatio(cell, 'isthmus', 'server'),
      bare: cpuRatio(cell, 'bare', 'server'),
    }),
    verdict({
      ...place,
      what: 'CPU against mcp-proxy, warm',
      unit: 'share',
      limit: 1 / 10,
      value: cpuRatio(cell, 'isthmus', 'mcp-proxy'),
      bare: cpuRatio(cell, 'bare', 'mcp-proxy'),
    }),
    ...(wanted.inFlight === 1
      ? [
          verdict({
            ...place,
            what: 'added p50 against mcp-proxy',
            unit: 'share',
            limit: 1 / 5,
            value: added,
          }),
        ]
      : []),
  ];
}

/**
 * @param {BridgeCell} wanted
 * @param {ColdCell | undefined} cell
 * @returns {Verdict[]}
 */
export function judgeCold(wanted, cell) {
  const place = { mode: 'bridge', where: nameCell(wanted) };
  return [
    verdict({
      ...place,
      what: 'CPU against our own HTTP server, cold',
      unit: 'x',
      limit: 1.3,
      value: cpuRatio(cell, 'isthmus', 'server'),
      bare: cpuRatio(cell, 'bare', 'server'),
    }),
    verdict({
      ...place,
      what: 'CPU against mcp-proxy, cold',
      unit: 'share',
      limit: 1 / 5,
      value: cpuRatio(cell, 'isthmus', 'mcp-proxy'),
      bare: cpuRatio(cell, 'bare', 'mcp-proxy'),
    }),
  ];
}

/**
 * Flat is: from the first quarter of the samples to the last it grows by at most 5 MB, or by at most 5 %. Medians,
 * since a single sample also tells how long ago garbage was collected.
 * @param {Era} era
 * @param {import('./memory.js').MemoryResult | undefined} result
 * @returns {Verdict}
 */
export function judgeMemory(era, result) {
  const { samples = [] } = result ?? {};
  const quarter = Math.max(1, samples.length >> 2);
  const [first, last] = [samples.slice(0, quarter), samples.slice(-quarter)].map((some) =>
    medianOf(some, ({ rssBytes }) => toMB(rssBytes)),
  );
  const isKnown = first !== undefined && last !== undefined;
  return verdict({
    mode: 'bridge',
    what: 'growth of RSS over many calls',
    where: `${era} client`,
    unit: 'MB',
    limit: Math.max(GROWTH.megabytes, (first ?? 0) * GROWTH.share),
    required: false,
    value: isKnown ? last - first : undefined,
  });
}

/**
 * @param {Era} era
 * @param {readonly import('./large.js').LargeResult[]} results
 * @returns {Verdict}
 */
export function judgeLarge(era, results) {
  return verdict({
    mode: 'bridge',
    what: 'CPU of a 5 MB result against joining and parsing it once',
    where: `${era} client`,
    unit: 'x',
    limit: 2,
    required: false,
    value: largeRatio(results, 'isthmus', 'once'),
  });
}

/** @param {BridgeCell} cell */
export function nameCell({ era, upstream, inFlight }) {
  const behind = upstream === era ? '' : `, ${upstream} server`;
  return `${era} client${behind}, ${inFlight === 1 ? '1 connection' : `${inFlight} connections`}`;
}

/**
 * @param {readonly import('./large.js').LargeResult[]} results
 * @param {string} of
 * @param {string} to
 */
export function largeRatio(results, of, to) {
  const [ours, theirs] = [of, to].map((name) => results.find(({ subject }) => subject === name)?.rounds);
  return pairedRatio(ours, theirs, ({ cpuMicros }) => cpuMicros);
}

/**
 * What a bridge adds to the p50 of stdio without one, in microseconds.
 * @param {MeasuredCell} cell
 * @param {string} of
 */
export function addedP50(cell, of) {
  const direct = roundsOf(cell, 'direct');
  return medianOf(roundsOf(cell, of), (round, at) => added(round, direct?.[at]));
}

/**
 * @param {MeasuredCell | undefined} cell
 * @param {string} of
 * @param {string} to
 */
function addedRatio(cell, of, to) {
  const [direct, theirs] = [roundsOf(cell, 'direct'), roundsOf(cell, to)];
  return medianOf(roundsOf(cell, of), (round, at) =>
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
 * @param {MeasuredCell | undefined} cell
 * @param {string} name
 */
function roundsOf(cell, name) {
  return cell?.results.find(({ subject }) => subject === name)?.rounds;
}
