/** Results as Markdown tables. Pure. A table names the run that it comes from. */

import { renderMarkdown, verdict } from '../lib/verdicts.js';
import { THINGS } from '../modes/memory/things.js';

/** @typedef {import('./figures.js').ModeResults} ModeResults */
/** @typedef {import('./figures.js').Figure} Figure */
/** @typedef {Record<string, ModeResults>} Results */

const TITLES = /** @type {Record<string, string>} */ ({
  bare: 'bare Node',
  isthmus: '**Isthmus**',
  'isthmus-50': 'Isthmus, 50 tools',
  'isthmus-legacy': 'Isthmus, legacy sessions',
  v1: 'official SDK v1',
  v2: 'official SDK v2',
  'v2-50': 'official SDK v2, 50 tools',
  demo: '**Isthmus** (`isthmus demo`)',
  serve: '**`isthmus serve --listen stdio -- COMMAND`**',
  command: 'COMMAND',
  node: '`node -e 0`',
  help: '**`isthmus --help`**',
  status: '**`isthmus status`**',
  list: '**`isthmus list unix:PATH`**',
  'mcp-proxy': 'mcp-proxy 6.7',
  supergateway: 'supergateway 4, stateful',
  'supergateway-stateless': 'supergateway 4, stateless',
  'isthmus-serve': '**isthmus serve**',
  silent: '**Isthmus**, and a server that never answers',
  'silent-list': '**Isthmus**, and a server silent on `tools/list`',
});

/** @type {Record<string, (results: Results) => string>} the tables of docs/compare.md, by their marks */
export const TABLES = {
  stdio: ({ stdio }) =>
    tableOf(
      stdio,
      ['server', 'era', 'CPU per call', 'of the bare loop', 'p50', 'p99', 'peak memory'],
      (each) => [
        title(each),
        String(each.era),
        micros(each.cpuMicros),
        times(each.timesBare),
        millis(each.p50Micros),
        millis(each.p99Micros),
        megabytes(each.peakMB),
      ],
    ),
  http: ({ http }) =>
    tableOf(
      http,
      ['server', 'CPU per request', 'of bare `node:http`', 'p50', 'p99', 'peak memory'],
      (each) => [
        title(each),
        micros(each.cpuMicros),
        times(each.timesBare),
        millis(each.p50Micros),
        millis(each.p99Micros),
        megabytes(each.peakMB),
      ],
    ),
  clients: ({ clients }) =>
    tableOf(
      clients,
      [
        'client',
        'CPU per call, modern',
        'CPU per call, legacy',
        'first call, modern server that boots in 500 ms',
        'first call, legacy server that boots in 500 ms',
      ],
      (each) => [
        title(each),
        micros(each.modernCpuMicros),
        micros(each.legacyCpuMicros),
        ms(each.modernBootMs),
        ms(each.legacyBootMs),
      ],
    ),
  bridge: ({ bridge }) =>
    tableOf(
      bridge,
      [
        'client → server',
        'bridge',
        'CPU per call, 32 connections',
        'of our own HTTP server',
        'CPU per call, 1 connection',
        'added p50, 1 connection',
      ],
      (each) => [
        `${each.era} → ${each.upstream}`,
        each.subject === 'isthmus' ? '**isthmus serve**' : title(each),
        micros(each.cpuMicros),
        times(each.timesServer),
        micros(each.alone),
        millis(each.addedP50Micros),
      ],
      ({ subject }) => !['direct', 'server', 'bare'].includes(String(subject)),
    ),
  start: ({ start }) =>
    tableOf(start, ['program', 'era', 'time'], (each) => [
      title(each),
      String(each.era ?? 'runs to its end'),
      ms(each.ms),
    ]),
  memory: ({ memory }) =>
    tableOf(memory, ['for each', 'program', 'memory'], (each) => [
      THINGS.find(({ name }) => name === each.thing)?.title ?? String(each.thing),
      title(each),
      each.kilobytes === undefined ? '' : `${short(Number(each.kilobytes))} kB`,
    ]),
  aggregate: ({ aggregate }) =>
    tableOf(aggregate, ['30 servers, 280 tools', 'start to first list', 'warm list', 'call'], (each) => [
      title(each),
      ms(each.firstMs),
      ms(each.warmMs),
      ms(each.callMs),
    ]),
};

/**
 * The table of benchmarks/README.md: the required goals, with what the results say.
 * @param {Results} results
 * @param {readonly import('../lib/verdicts.js').Verdict[]} goals all goals, with nothing measured
 */
export function goalsTable(results, goals) {
  const known = Object.values(results).flatMap((mode) => mode.goals);
  const filled = goals
    .filter(({ required }) => required)
    .map(({ state: _, ...goal }) => {
      const same = known.find(
        ({ mode, what, where }) => mode === goal.mode && what === goal.what && where === goal.where,
      );
      return verdict({ ...goal, value: same?.value, bare: same?.bare });
    });
  return renderMarkdown(filled);
}

/**
 * @param {ModeResults | undefined} results
 * @param {readonly string[]} head
 * @param {(figure: Figure) => string[]} toRow
 * @param {(figure: Figure) => boolean} [isShown]
 */
function tableOf(results, head, toRow, isShown = () => true) {
  if (results === undefined) return 'Not measured yet.';
  return `${table(head, results.figures.filter(isShown).map(toRow))}\n\n${runLine(results)}`;
}

/**
 * @param {readonly string[]} head
 * @param {readonly (readonly string[])[]} rows
 */
export function table(head, rows) {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/**
 * Where the figures come from.
 * @param {...Pick<ModeResults, 'run'>} results
 */
export function runLine(...results) {
  const days = [...new Set(results.map(({ run }) => run.date.slice(0, 10)))].sort();
  const where = new Set(results.map(({ run }) => `Node ${run.node.replace(/^v/, '')}, ${run.cores} cores`));
  const note = results.some(({ run }) => run.quick) ? ' A quick run: too short to quote.' : '';
  return `Measured on ${days.join(' and ')} with ${[...where].join(' and ')}.${note}`;
}

/** @param {Figure} figure */
function title({ subject }) {
  return TITLES[String(subject)] ?? String(subject);
}

/** @param {unknown} value */
export function micros(value) {
  return typeof value === 'number' ? `${short(value)} µs` : '';
}

/** @param {unknown} value microseconds */
function millis(value) {
  return typeof value === 'number' ? `${short(value / 1000)} ms` : '';
}

/** @param {unknown} value */
function ms(value) {
  return typeof value === 'number' ? `${short(value)} ms` : '';
}

/** @param {unknown} value */
function times(value) {
  return typeof value === 'number' ? `${value < 9.95 ? value.toFixed(1) : Math.round(value)}×` : '';
}

/** @param {unknown} value */
function megabytes(value) {
  return typeof value === 'number' ? `${Math.round(value)} MB` : '';
}

/** @param {number} value */
function short(value) {
  if (Math.abs(value) < 0.995) return value.toFixed(2);
  return Math.abs(value) < 9.95 ? value.toFixed(1) : Math.round(value).toLocaleString('en-US');
}
