/**
 * `run.js --http`: an echo `tools/call` over HTTP. In a cell every subject has a process of its own, and the
 * rounds go through all of them in turn; what is to be compared is therefore in one cell, whatever its era.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startNode } from './child.js';
import { ratio, toMB } from './goals.js';
import { createHttpLoad } from './http-load.js';
import { ensureInstalled } from './install.js';
import { guarded, measureCell, median } from './measure.js';
import { createProgress } from './progress.js';
import { BENCHMARKS, ROOT } from './subjects.js';
import { align, fraction, number, times } from './table.js';

/** @typedef {import('./subjects.js').Era} Era */
/** @typedef {import('./subjects.js').Subject} Subject */
/** @typedef {import('./measure.js').CellResult} CellResult */
/** @typedef {{ inFlight: number, results: CellResult[] }} MeasuredCell */
/** @typedef {{ what: string, where: string, value: number, limit: number, met: boolean, bare?: number }} HttpVerdict */

const TEXT_BYTES = 64;
const CONNECTIONS = [32, 1];

/**
 * @param {string} name
 * @param {string} title
 * @param {Era} era
 * @param {string} program
 * @param {...string} args
 * @returns {Subject}
 */
function subject(name, title, era, program, ...args) {
  const missing = () =>
    existsSync(join(ROOT, 'packages', 'sdk', 'dist', 'transport', 'http.js'))
      ? undefined
      : 'packages/sdk/dist/transport/http.js is missing; run `npm run build` first';
  return {
    name,
    title,
    args: [join(BENCHMARKS, 'subjects', program), ...args],
    eras: [era],
    rival: name.startsWith('v2'),
    ...(name.startsWith('isthmus') && { missing }),
  };
}

/** @type {readonly Subject[]} */
export const HTTP_SUBJECTS = [
  subject('bare', 'bare node:http', 'modern', 'bare-http.js'),
  subject('isthmus', 'isthmus', 'modern', 'isthmus-http.js'),
  subject('isthmus-50', 'isthmus, 50 tools', 'modern', 'isthmus-http.js', '50'),
  subject('isthmus-legacy', 'isthmus, legacy sessions', 'legacy', 'isthmus-http.js'),
  subject('v2', 'official v2', 'modern', 'official-v2-http.js'),
  subject('v2-50', 'official v2, 50 tools', 'modern', 'official-v2-http.js', '50'),
];

/** Each a subject, what it is compared with, and at most how much of it. About equal is up to 1.1. */
export const HTTP_GOALS = [
  { of: 'isthmus', to: 'bare', limit: 1.6, what: 'CPU against bare node:http' },
  { of: 'isthmus', to: 'v2', limit: 1 / 5, what: 'CPU against official v2' },
  { of: 'isthmus-50', to: 'isthmus', limit: 1.1, what: 'CPU with 50 tools against 1 tool' },
  { of: 'isthmus-legacy', to: 'isthmus', limit: 1.3, what: 'CPU of legacy sessions against modern' },
];

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

/**
 * @param {{ names: readonly string[], quick: boolean, json: boolean, about: object }} options
 * @returns {Promise<number>} the exit status
 */
export async function benchHttp({ names, quick, json, about }) {
  let subjects = HTTP_SUBJECTS.filter(({ name }) => names.includes(name));
  if (subjects.some(({ rival }) => rival)) await ensureInstalled(BENCHMARKS);
  const effort = quick ? QUICK_EFFORT : EFFORT;
  const progress = createProgress(process.stderr, CONNECTIONS.length);
  /** @type {{ subject: string, message: string }[]} */
  const failures = [];

  /** @type {MeasuredCell[]} */
  const cells = [];
  for (const inFlight of CONNECTIONS) {
    progress.next(nameCell(inFlight));
    const cell = { era: /** @type {Era} */ ('modern'), textBytes: TEXT_BYTES, inFlight };
    const onFailure = (/** @type {Subject} */ { name, title }, _era, /** @type {Error} */ { message }) => {
      failures.push({ subject: name, message });
      subjects = subjects.filter((other) => other.name !== name);
      progress.note(`${title} FAILED: ${message}`);
    };
    cells.push({
      inFlight,
      results: await measureCell(subjects, cell, effort, onFailure, progress.at, connect),
    });
  }
  progress.end();

  const verdicts = judge(cells);
  const document = { ...about, quick, effort, goals: HTTP_GOALS, cells, verdicts, failures };
  process.stdout.write(json ? `${JSON.stringify(document, null, 2)}\n` : render(document));
  return failures.length === 0 ? 0 : 1;
}

/**
 * @param {Subject} subject
 * @param {{ textBytes: number, inFlight: number }} cell
 */
async function connect(subject, { textBytes, inFlight }) {
  const missing = subject.missing?.();
  if (missing !== undefined) throw new Error(missing);
  const child = startNode(subject.args, ROOT);
  const [era] = subject.eras;
  const port = await guarded(/** @type {any} */ ({ child }), () => readPort(child));
  const peer = { child, load: createHttpLoad(port, { era, textBytes, inFlight }) };
  child.exited.then((how) => peer.load.abort(new Error(how)));
  await guarded(peer, () => peer.load.open());
  return peer;
}

/** @param {import('./child.js').Child} child */
function readPort(child) {
  return new Promise((/** @type {(port: number) => void} */ resolve, reject) => {
    child.stdout.once('data', (line) => resolve(Number(line)));
    child.exited.then((how) => reject(new Error(`it ${how} before it printed its port`)));
  });
}

/**
 * @param {readonly MeasuredCell[]} cells
 * @returns {HttpVerdict[]}
 */
function judge(cells) {
  return cells.flatMap((cell) =>
    HTTP_GOALS.flatMap(({ of, to, limit, what }) => {
      const value = pairedRatio(cell, of, to);
      if (value === undefined) return [];
      const bare = to === 'v2' ? pairedRatio(cell, 'bare', to) : undefined;
      const verdict = { what, where: nameCell(cell.inFlight), value, limit, met: value <= limit };
      return bare !== undefined && bare > limit ? [{ ...verdict, bare }] : [verdict];
    }),
  );
}

/**
 * The median of the ratios within each round: rounds that lie side by side have the same noise.
 * @param {MeasuredCell} cell
 * @param {string} of
 * @param {string} to
 */
function pairedRatio({ results }, of, to) {
  const [ours, theirs] = [of, to].map((name) => results.find(({ subject }) => subject === name)?.rounds);
  const ratios = ours?.map(({ serverCpuMicros }, round) =>
    ratio(serverCpuMicros, theirs?.[round]?.serverCpuMicros),
  );
  const known = ratios?.filter((each) => each !== undefined) ?? [];
  return known.length === 0 ? undefined : median(known);
}

/** @param {{ quick: boolean, cells: MeasuredCell[], verdicts: HttpVerdict[], failures: { subject: string, message: string }[] }} document */
function render({ quick, cells, verdicts, failures }) {
  /** @type {(string[] | string)[]} */
  const rows = [['', 'req/s', 'CPU µs/req', '', '', 'p50 µs', 'p99 µs', 'peak RSS MB', 'generator µs']];
  for (const cell of cells) {
    rows.push(nameCell(cell.inFlight));
    for (const result of cell.results) {
      const { subject, serverCpuMicros } = result;
      rows.push([
        `  ${HTTP_SUBJECTS.find(({ name }) => name === subject)?.title}`,
        number(result.requestsPerSecond),
        number(serverCpuMicros),
        subject === 'bare' ? '' : times(pairedRatio(cell, subject, 'bare'), 'bare'),
        subject === 'v2' ? '' : fraction(pairedRatio(cell, subject, 'v2'), 'v2'),
        number(result.p50Micros),
        number(result.p99Micros),
        number(toMB(result.peakRssBytes)),
        number(result.clientCpuMicros),
      ]);
    }
  }
  const met = verdicts.filter((verdict) => verdict.met).length;
  const goals =
    verdicts.length === 0
      ? 'No goals judged: they compare isthmus with others.'
      : [`Goals: ${met} of ${verdicts.length} met`, ...verdicts.map(describe)].join('\n');
  const caveat = quick ? 'Quick run: too short to warm up the official server; judge by the full run.' : '';
  const failed = failures.map(({ subject, message }) => `FAILED ${subject}: ${message}`);
  return `${[align(rows), caveat, goals, ...failed].filter(Boolean).join('\n\n')}\n`;
}

/** @param {HttpVerdict} verdict */
function describe({ what, where, value, limit, met, bare }) {
  const asFraction = (/** @type {number} */ part) =>
    limit < 1 ? `1/${(1 / part).toFixed(1)}` : `${part.toFixed(2)}x`;
  const limitOfNode = bare === undefined ? '' : ` (bare node:http itself: ${asFraction(bare)})`;
  return `  ${met ? 'met   ' : 'MISSED'}  ${what} ${asFraction(value)}, at most ${asFraction(limit)}: ${where}${limitOfNode}`;
}

/** @param {number} connections */
function nameCell(connections) {
  return `${TEXT_BYTES} B, ${connections === 1 ? '1 connection' : `${connections} connections`}`;
}
