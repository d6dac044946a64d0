/** Numbers become the text a person reads. */

import { nameCell, ratio, toMB } from './goals.js';
import { SUBJECTS } from './subjects.js';

/** @typedef {import('./goals.js').MeasuredCell} MeasuredCell */
/** @typedef {import('./goals.js').Verdict} Verdict */
/** @typedef {import('./measure.js').StartResult} StartResult */

const COLUMNS = ['', 'req/s', 'CPU µs/req', '', '', 'p50 µs', 'p99 µs', 'peak RSS MB', 'start ms', ''];

/**
 * One table: a block per cell, a line per subject.
 * @param {readonly MeasuredCell[]} cells
 * @param {readonly StartResult[]} starts
 */
export function renderTable(cells, starts) {
  /** @type {(string[] | string)[]} */
  const rows = [COLUMNS];
  for (const cell of cells) {
    rows.push(nameCell(cell));
    const cpuOf = (/** @type {string} */ name) =>
      cell.results.find(({ subject }) => subject === name)?.serverCpuMicros;
    const startOf = (/** @type {string} */ name) =>
      starts.find(({ subject, era }) => subject === name && era === cell.era)?.medianMs;
    for (const result of cell.results) {
      const start = startOf(result.subject);
      const bareStart = startOf('bare');
      rows.push([
        `  ${titleOf(result.subject)}`,
        number(result.requestsPerSecond),
        number(result.serverCpuMicros),
        result.subject === 'bare' ? '' : times(ratio(result.serverCpuMicros, cpuOf('bare')), 'bare'),
        result.subject === 'v2' ? '' : fraction(ratio(result.serverCpuMicros, cpuOf('v2')), 'v2'),
        number(result.p50Micros),
        number(result.p99Micros),
        number(toMB(result.peakRssBytes)),
        number(start),
        result.subject === 'bare' || start === undefined || bareStart === undefined
          ? ''
          : `${start < bareStart ? '' : '+'}${Math.round(start - bareStart)}`,
      ]);
    }
  }
  return align(rows);
}

/**
 * One line per cell and one per further goal; nothing when isthmus was not among the subjects.
 * @param {readonly Verdict[]} verdicts
 */
export function renderVerdicts(verdicts) {
  if (verdicts.length === 0)
    return 'No goals judged: they compare isthmus with the bare loop and official v2.';
  const met = verdicts.filter((verdict) => verdict.met).length;
  const lines = verdicts.map((verdict) => `  ${verdict.met ? 'met   ' : 'MISSED'}  ${describe(verdict)}`);
  return [`Goals: ${met} of ${verdicts.length} met (* marks the headline cells)`, ...lines].join('\n');
}

/**
 * What the generator itself costs where it matters most; a reader can see that it is not the bottleneck.
 * @param {readonly MeasuredCell[]} cells
 */
export function renderGenerator(cells) {
  const headline = cells.find(({ textBytes, inFlight }) => textBytes === 64 && inFlight > 1);
  const leanest = headline?.results[0];
  if (!headline || !leanest) return '';
  const cost = number(leanest.clientCpuMicros);
  return `Load generator: ${cost} µs CPU per request (${nameCell(headline)}, against ${titleOf(leanest.subject)}).`;
}

/** @param {Verdict} verdict */
function describe({ goal, where, headline, value, limit, bare }) {
  const limitOfNode = bare === undefined ? '' : ` (the bare loop itself: ${fraction(bare, 'v2')})`;
  const place = `${where}${headline ? ' *' : ''}${limitOfNode}`;
  switch (goal) {
    case 'cpu-vs-bare':
      return `CPU ${times(value, 'bare')}, at most ${limit}x: ${place}`;
    case 'cpu-vs-v2':
      return `CPU ${fraction(value, 'v2')}, at most 1/${Math.round(1 / limit)}: ${place}`;
    case 'start':
      return `start ${number(value)} ms above bare, at most ${limit} ms: ${place}`;
    case 'peak-rss':
      return `peak RSS ${number(value)} MB, at most ${limit} MB: ${place}`;
  }
}

/** @param {string} name */
function titleOf(name) {
  return SUBJECTS.find((subject) => subject.name === name)?.title ?? name;
}

/**
 * Three digits are all that the noise leaves; more only where the number is large.
 * @param {number | undefined} value
 */
export function number(value) {
  if (value === undefined || Number.isNaN(value)) return 'n/a';
  return Math.abs(value) < 99.95 ? value.toFixed(1) : Math.round(value).toLocaleString('en-US');
}

/**
 * @param {number | undefined} value
 * @param {string} base
 */
export function times(value, base) {
  if (value === undefined) return '';
  return `${value < 9.95 ? value.toFixed(value < 0.995 ? 2 : 1) : Math.round(value)}x ${base}`;
}

/**
 * @param {number | undefined} value
 * @param {string} base
 */
export function fraction(value, base) {
  if (value === undefined) return '';
  if (value > 2 / 3) return times(value, base);
  const parts = 1 / value;
  return `1/${parts < 9.95 ? parts.toFixed(1) : Math.round(parts)} of ${base}`;
}

/**
 * Rows of cells, numbers to the right; a row that is one string is a heading.
 * @param {readonly (readonly string[] | string)[]} rows
 */
export function align(rows) {
  const columns = Math.max(...rows.map((row) => (typeof row === 'string' ? 0 : row.length)));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => (typeof row === 'string' ? 0 : row[column].length))),
  );
  const line = (/** @type {readonly string[]} */ row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column])))
      .join('  ');
  return rows.map((row) => (typeof row === 'string' ? `\n${row}` : line(row).trimEnd())).join('\n');
}
