/**
 * `run.js --http`: an echo `tools/call` over HTTP. In a cell every subject has a process of its own, and the
 * rounds go through all of them in turn; what is to be compared is therefore in one cell, whatever its era.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startNode } from '../lib/child.js';
import { createHttpLoad } from '../lib/http-load.js';
import { ensureInstalled } from '../lib/install.js';
import { guarded, measureCell, measureCold, WARM_UP_AT_LEAST } from '../lib/measure.js';
import { createProgress } from '../lib/progress.js';
import { toMB } from '../lib/statistics.js';
import { BENCHMARKS, ROOT } from '../lib/subjects.js';
import { align, fraction, number, renderFailures, times } from '../lib/text.js';
import { verdict } from '../lib/verdicts.js';
import { cpuRatio, renderCold } from './stdio.js';

/** @typedef {import('../lib/subjects.js').Era} Era */
/** @typedef {import('../lib/subjects.js').Subject} Subject */
/** @typedef {{ inFlight: number, results: import('../lib/measure.js').CellResult[] }} MeasuredCell */
/** @typedef {{ inFlight: number, results: import('../lib/measure.js').ColdResult[] }} ColdCell */

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
const SUBJECTS = [
  subject('bare', 'bare node:http', 'modern', 'bare-http.js'),
  subject('isthmus', 'isthmus', 'modern', 'isthmus-http.js'),
  subject('isthmus-50', 'isthmus, 50 tools', 'modern', 'isthmus-http.js', '50'),
  subject('isthmus-legacy', 'isthmus, legacy sessions', 'legacy', 'isthmus-http.js'),
  subject('v2', 'official v2', 'modern', 'official-v2-http.js'),
  subject('v2-50', 'official v2, 50 tools', 'modern', 'official-v2-http.js', '50'),
];
const COLD_SUBJECTS = ['bare', 'isthmus', 'isthmus-legacy', 'v2'];

/** Each a subject, what it is compared with, and at most how much of it. About equal is up to 1.1. */
const GOALS = /** @type {const} */ ([
  {
    of: 'isthmus',
    to: 'bare',
    limit: 1.2,
    unit: 'x',
    what: 'CPU against bare node:http, warm',
    required: true,
  },
  {
    of: 'isthmus',
    to: 'v2',
    limit: 1 / 12,
    unit: 'share',
    what: 'CPU against official v2, warm',
    required: true,
  },
  { of: 'isthmus-50', to: 'isthmus', limit: 1.1, unit: 'x', what: 'CPU with 50 tools against 1 tool' },
  {
    of: 'isthmus-legacy',
    to: 'isthmus',
    limit: 1.3,
    unit: 'x',
    what: 'CPU of legacy sessions against modern',
  },
]);

const EFFORT = { warmUpMs: 600, warmUpRequests: 12_000, rounds: 25, roundMs: 100, coldRounds: 7 };
const QUICK_EFFORT = {
  warmUpMs: 200,
  warmUpRequests: WARM_UP_AT_LEAST,
  rounds: 9,
  roundMs: 60,
  coldRounds: 3,
};

/** @type {import('./index.js').Mode} */
export const HTTP = {
  name: 'http',
  subjects: SUBJECTS.map(({ name }) => name),
  takesEra: false,

  async measure({ names, quick }) {
    let subjects = SUBJECTS.filter(({ name }) => names.includes(name));
    if (subjects.some(({ rival }) => rival)) await ensureInstalled(BENCHMARKS);
    const effort = quick ? QUICK_EFFORT : EFFORT;
    const progress = createProgress(process.stderr, CONNECTIONS.length + 1);
    /** @type {{ subject: string, where: string, message: string }[]} */
    const failures = [];
    const cellOf = (/** @type {number} */ inFlight) => ({
      era: /** @type {Era} */ ('modern'),
      textBytes: TEXT_BYTES,
      inFlight,
    });
    /** @type {(where: string) => import('../lib/measure.js').OnFailure} */
    const onFailure =
      (where) =>
      ({ name, title }, _era, { message }) => {
        failures.push({ subject: name, where, message });
        subjects = subjects.filter((other) => other.name !== name);
        progress.note(`${title} FAILED, ${where}: ${message}`);
      };

    const [inFlight] = CONNECTIONS;
    progress.next(`${nameCell({ inFlight })}, cold`);
    const results = await measureCold(
      subjects.filter(({ name }) => COLD_SUBJECTS.includes(name)),
      cellOf(inFlight),
      effort.coldRounds,
      onFailure('cold'),
      progress.at,
      connect,
    );
    const cold = [{ inFlight, results }];
    /** @type {MeasuredCell[]} */
    const cells = [];
    for (const inFlight of CONNECTIONS) {
      const where = nameCell({ inFlight });
      progress.next(where);
      const results = await measureCell(
        subjects,
        cellOf(inFlight),
        effort,
        onFailure(where),
        progress.at,
        connect,
      );
      cells.push({ inFlight, results });
    }
    progress.end();
    return { document: { effort, cells, cold, failures }, failed: failures.length > 0 };
  },

  judge({ cells = [], cold = [] }) {
    const [most] = CONNECTIONS;
    return [
      ...CONNECTIONS.flatMap((inFlight) => {
        const cell = cells.find((/** @type {MeasuredCell} */ each) => each.inFlight === inFlight);
        return GOALS.map(({ of, to, limit, unit, what, ...goal }) =>
          verdict({
            mode: 'http',
            what,
            where: nameCell({ inFlight }),
            unit,
            limit,
            // A single connection is watched: there the system calls of Node are most of every figure.
            required: 'required' in goal && inFlight === most,
            value: cpuRatio(cell, of, to),
            bare: to === 'v2' ? cpuRatio(cell, 'bare', to) : undefined,
          }),
        );
      }),
      verdict({
        mode: 'http',
        what: 'CPU against bare node:http, cold',
        where: nameCell({ inFlight: most }),
        unit: 'x',
        limit: 1.25,
        value: cpuRatio(cold[0], 'isthmus', 'bare'),
      }),
    ];
  },

  render({ quick, cells, cold, failures }) {
    /** @type {(string[] | string)[]} */
    const rows = [['', 'req/s', 'CPU µs/req', '', '', 'p50 µs', 'p99 µs', 'peak RSS MB', 'generator µs']];
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
          number(result.clientCpuMicros),
        ]);
      }
    }
    const parts = [
      align(rows),
      renderCold(cold, nameCell, titleOf),
      quick ? 'Quick run: too short for the official server; judge by the full run.' : '',
      renderFailures(failures),
    ];
    return parts.filter(Boolean).join('\n\n');
  },
};

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

/** @param {import('../lib/child.js').Child} child */
function readPort(child) {
  return new Promise((/** @type {(port: number) => void} */ resolve, reject) => {
    child.stdout.once('data', (line) => resolve(Number(line)));
    child.exited.then((how) => reject(new Error(`it ${how} before it printed its port`)));
  });
}

/** @param {{ inFlight: number }} cell */
function nameCell({ inFlight }) {
  return `${TEXT_BYTES} B, ${inFlight === 1 ? '1 connection' : `${inFlight} connections`}`;
}

/** @param {string} name */
function titleOf(name) {
  return SUBJECTS.find((subject) => subject.name === name)?.title ?? name;
}
