/** `run.js`: an echo `tools/call` over stdio, warm and cold, beside the bare loop and the official servers. */

import { ensureInstalled } from '../lib/install.js';
import { measureCell, measureCold, WARM_UP_AT_LEAST } from '../lib/measure.js';
import { createProgress } from '../lib/progress.js';
import { pairedRatio, toMB } from '../lib/statistics.js';
import { BENCHMARKS, SUBJECTS } from '../lib/subjects.js';
import { align, fraction, number, renderFailures, times } from '../lib/text.js';
import { verdict } from '../lib/verdicts.js';

/** @typedef {import('../lib/subjects.js').Era} Era */
/** @typedef {import('../lib/measure.js').Cell} Cell */
/** @typedef {Cell & { results: import('../lib/measure.js').CellResult[] }} MeasuredCell */
/** @typedef {Cell & { results: import('../lib/measure.js').ColdResult[] }} ColdCell */
/** @typedef {{ subject: string, era: string, where: string, message: string }} Failure */

const EFFORT = {
  warmUpMs: 400,
  warmUpRequests: 8000,
  warmUpLargeRequests: WARM_UP_AT_LEAST,
  rounds: 7,
  roundMs: 250,
  coldRounds: 7,
};
const QUICK_EFFORT = {
  warmUpMs: 120,
  warmUpRequests: WARM_UP_AT_LEAST,
  warmUpLargeRequests: 400,
  rounds: 3,
  roundMs: 80,
  coldRounds: 3,
};
const LARGE = 64 * 1024;
const SIZES = [
  { textBytes: 64, inFlight: 64 },
  { textBytes: 64, inFlight: 1 },
  { textBytes: LARGE, inFlight: 64 },
  { textBytes: LARGE, inFlight: 1 },
];
const COLD_SIZE = { textBytes: 64, inFlight: 64 };

/** @type {import('./index.js').Mode} */
export const STDIO = {
  name: 'stdio',
  subjects: SUBJECTS.map(({ name }) => name),
  takesEra: true,

  async measure({ names, eras, quick }) {
    const subjects = SUBJECTS.filter(({ name }) => names.includes(name));
    if (subjects.some(({ rival }) => rival)) await ensureInstalled(BENCHMARKS);
    const effort = quick ? QUICK_EFFORT : EFFORT;
    const progress = createProgress(process.stderr, eras.length * (SIZES.length + 1));
    /** @type {Failure[]} */
    const failures = [];
    /** @type {(where: string) => import('../lib/measure.js').OnFailure} */
    const onFailure =
      (where) =>
      (subject, era, { message }) => {
        failures.push({ subject: subject.name, era, where, message });
        progress.note(`${subject.title} FAILED and is left out of the ${era} era, ${where}: ${message}`);
      };
    const alive = (/** @type {Era} */ era) =>
      subjects.filter(
        ({ name, eras: known }) =>
          known.includes(era) && !failures.some((failure) => failure.subject === name && failure.era === era),
      );
    /** @type {MeasuredCell[]} */
    const cells = [];
    /** @type {ColdCell[]} */
    const cold = [];
    for (const era of eras) {
      const first = { era, ...COLD_SIZE };
      progress.next(`${nameCell(first)}, cold`);
      const onFailureCold = onFailure(`${nameCell(first)}, cold`);
      const results = await measureCold(alive(era), first, effort.coldRounds, onFailureCold, progress.at);
      cold.push({ ...first, results });
      for (const size of SIZES) {
        const cell = { era, ...size };
        progress.next(nameCell(cell));
        const results = await measureCell(alive(era), cell, effort, onFailure(nameCell(cell)), progress.at);
        cells.push({ ...cell, results });
      }
    }
    progress.end();
    return { document: { eras, effort, cells, cold, failures }, failed: failures.length > 0 };
  },

  judge({ eras, cells = [], cold = [] }) {
    return eras.flatMap((/** @type {Era} */ era) => {
      const coldCell = cold.find((/** @type {ColdCell} */ cell) => cell.era === era);
      return [
        ...SIZES.flatMap((size) => {
          const found = cells.find(
            (/** @type {MeasuredCell} */ cell) =>
              cell.era === era && cell.textBytes === size.textBytes && cell.inFlight === size.inFlight,
          );
          return judgeCell({ era, ...size }, found);
        }),
        verdict({
          mode: 'stdio',
          what: 'CPU against the bare loop, cold',
          where: nameCell({ era, ...COLD_SIZE }),
          unit: 'x',
          limit: 2.2,
          value: cpuRatio(coldCell, 'isthmus', 'bare'),
        }),
      ];
    });
  },

  render({ quick, cells, cold, failures }) {
    const parts = [
      renderCells(cells),
      renderCold(cold, nameCell, titleOf),
      renderGenerator(cells),
      quick ? 'Quick run: too short for the official servers; judge by the full run.' : '',
      renderFailures(failures),
    ];
    return parts.filter(Boolean).join('\n\n');
  },
};

/**
 * The goals are for 64 B with 64 in flight, and for the memory of 64 KB one at a time. The other cells are watched.
 * @param {Cell} cell
 * @param {MeasuredCell | undefined} measured
 */
function judgeCell(cell, measured) {
  const { era, textBytes, inFlight } = cell;
  const isSmall = textBytes !== LARGE;
  const place = { mode: 'stdio', where: nameCell(cell) };
  const isHeadline = isSmall && inFlight > 1;
  const rss = measured?.results.find(({ subject }) => subject === 'isthmus')?.peakRssBytes;
  return [
    verdict({
      ...place,
      what: 'CPU against the bare loop, warm',
      unit: 'x',
      limit: isSmall ? 1.3 : 2,
      required: isHeadline,
      value: cpuRatio(measured, 'isthmus', 'bare'),
    }),
    verdict({
      ...place,
      what: 'CPU against official v2, warm',
      unit: 'share',
      limit: isHeadline ? (era === 'modern' ? 1 / 10 : 1 / 8) : 1 / 6,
      required: isHeadline,
      value: cpuRatio(measured, 'isthmus', 'v2'),
      bare: cpuRatio(measured, 'bare', 'v2'),
    }),
    verdict({
      ...place,
      what: 'peak RSS',
      unit: 'MB',
      limit: 90,
      required: !isSmall && inFlight === 1,
      value: toMB(rss),
    }),
  ];
}

/**
 * @param {{ results: readonly { subject: string, rounds: import('../lib/measure.js').Round[] }[] } | undefined} cell
 * @param {string} of
 * @param {string} to
 */
export function cpuRatio(cell, of, to) {
  const [ours, theirs] = [of, to].map(
    (name) => cell?.results.find(({ subject }) => subject === name)?.rounds,
  );
  return pairedRatio(ours, theirs, ({ serverCpuMicros }) => serverCpuMicros);
}

/** @param {Cell} cell */
export function nameCell({ era, textBytes, inFlight }) {
  const size = textBytes >= 1024 ? `${textBytes / 1024} KB` : `${textBytes} B`;
  return `${era}, ${size}, ${inFlight === 1 ? 'one at a time' : `${inFlight} in flight`}`;
}

/**
 * @template {{ results: import('../lib/measure.js').ColdResult[] }} T
 * @param {readonly T[]} cells
 * @param {(cell: T) => string} name
 * @param {(subject: string) => string} title
 * @param {string} [against] what the first ratio is to
 * @param {string} [rival]
 */
export function renderCold(cells, name, title, against = 'bare', rival = 'v2') {
  /** @type {(string[] | string)[]} */
  const rows = [['First 2,000 calls of a fresh process', 'CPU µs/req', '', '']];
  for (const cell of cells) {
    rows.push(name(cell));
    for (const { subject, serverCpuMicros } of cell.results) {
      rows.push([
        `  ${title(subject)}`,
        number(serverCpuMicros),
        subject === against ? '' : times(cpuRatio(cell, subject, against), against),
        subject === rival ? '' : fraction(cpuRatio(cell, subject, rival), rival),
      ]);
    }
  }
  return align(rows);
}

/** @param {readonly MeasuredCell[]} cells */
function renderCells(cells) {
  /** @type {(string[] | string)[]} */
  const rows = [['', 'req/s', 'CPU µs/req', '', '', 'p50 µs', 'p99 µs', 'peak RSS MB']];
  for (const cell of cells) {
    rows.push(nameCell(cell));
    for (const result of cell.results) {
      const { subject } = result;
      rows.push([
        `  ${titleOf(subject)}`,
        number(result.requestsPerSecond),
        number(result.serverCpuMicros),
        subject === 'bare' ? '' : times(cpuRatio(cell, subject, 'bare'), 'bare'),
        subject === 'v2' ? '' : fraction(cpuRatio(cell, subject, 'v2'), 'v2'),
        number(result.p50Micros),
        number(result.p99Micros),
        number(toMB(result.peakRssBytes)),
      ]);
    }
  }
  return align(rows);
}

/**
 * What the generator itself costs where it matters most; a reader can see that it is not the bottleneck.
 * @param {readonly MeasuredCell[]} cells
 */
function renderGenerator(cells) {
  const headline = cells.find(({ textBytes, inFlight }) => textBytes === 64 && inFlight > 1);
  const leanest = headline?.results[0];
  if (!headline || !leanest) return '';
  const cost = number(leanest.clientCpuMicros);
  return `Load generator: ${cost} µs CPU per request (${nameCell(headline)}, against ${titleOf(leanest.subject)}).`;
}

/** @param {string} name */
function titleOf(name) {
  return SUBJECTS.find((subject) => subject.name === name)?.title ?? name;
}
