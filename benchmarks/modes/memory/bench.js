/**
 * `run.js --memory`: what a server holds for each idle session, open listen, waiting call and idle connection. A fresh
 * process for each figure; the growth of its RSS, and of its heap after garbage collection, from the first tenth of the
 * things to all of them.
 */

import { readFileSync } from 'node:fs';
import { ensureInstalled } from '../../lib/install.js';
import { guarded } from '../../lib/measure.js';
import { createProgress } from '../../lib/progress.js';
import { medianOf, ratio } from '../../lib/statistics.js';
import { BENCHMARKS } from '../../lib/subjects.js';
import { align, fraction, number, renderFailures } from '../../lib/text.js';
import { verdict } from '../../lib/verdicts.js';
import { startBridge } from '../bridge/process.js';
import { findSubject, MEMORY_SUBJECTS, PAIRS } from './subjects.js';
import { THINGS } from './things.js';

/** @typedef {import('./things.js').Thing} Thing */
/** @typedef {import('./subjects.js').MemorySubject} MemorySubject */
/** @typedef {{ count: number, rssBytes: number, heapBytes: number }} Growth per thing */
/** @typedef {{ thing: string, subject: string, rounds: Growth[] }} MemoryResult */

const EFFORT = { count: 10_000, rounds: 3 };
const QUICK_EFFORT = { count: 1000, rounds: 3 };
const CONCURRENCY = 16;
const SPARE_DESCRIPTORS = 500;
/** So many of them may be gone at the end; with fewer left the figure is not one. */
const LOST_AT_MOST = 0.02;

/** @type {import('../index.js').Mode} */
export const MEMORY = {
  name: 'memory',
  subjects: MEMORY_SUBJECTS.map(({ name }) => name),
  takesEra: false,

  async measure({ names, quick }) {
    const effort = quick ? QUICK_EFFORT : EFFORT;
    const subjects = MEMORY_SUBJECTS.filter(({ name }) => names.includes(name));
    if (subjects.some(({ program }) => program.rival)) await ensureInstalled(BENCHMARKS);
    requireDescriptors(Math.ceil(effort.count * 1.1) + SPARE_DESCRIPTORS);
    const progress = createProgress(process.stderr, THINGS.length * effort.rounds);
    /** @type {MemoryResult[]} */
    const results = [];
    /** @type {{ subject: string, rival: boolean, where: string, message: string }[]} */
    const failures = [];
    for (const thing of THINGS) {
      for (let round = 1; round <= effort.rounds; round += 1) {
        progress.next(`${thing.title}, round ${round} of ${effort.rounds}`);
        for (const subject of subjects) {
          const { name, program, lacks } = subject;
          const hasFailed = failures.some((each) => each.subject === name && each.where === thing.title);
          if (lacks[thing.name] !== undefined || hasFailed) continue;
          progress.at(0, program.title);
          try {
            const growth = await measureGrowth(subject, thing, effort.count);
            const known = results.find((each) => each.thing === thing.name && each.subject === name);
            if (known === undefined) results.push({ thing: thing.name, subject: name, rounds: [growth] });
            else known.rounds.push(growth);
          } catch (error) {
            const { message } = /** @type {Error} */ (error);
            failures.push({ subject: name, rival: program.rival, where: thing.title, message });
            progress.note(`${program.title} CANNOT, ${thing.title}: ${message}`);
          }
        }
      }
    }
    progress.end();
    return { document: { effort, results, failures }, failed: failures.some(({ rival }) => !rival) };
  },

  judge({ results = [] }) {
    const of = (/** @type {string} */ thing, /** @type {string} */ subject) => rssOf(results, thing, subject);
    const titleOf = (/** @type {string} */ subject) => findSubject(subject).program.title;
    return PAIRS.flatMap(({ ours, theirs }) =>
      THINGS.filter(({ name }) => findSubject(theirs).lacks[name] === undefined).flatMap(
        ({ name, title }) => {
          const place = { mode: 'memory', where: title };
          const isConnection = name === 'connection';
          const half = verdict({
            ...place,
            what: `bytes of ${titleOf(ours)} against ${titleOf(theirs)}`,
            unit: 'share',
            limit: 1 / 2,
            value: ratio(of(name, ours), of(name, theirs)),
            // What Node and the kernel keep for an idle connection is the floor for a server on node:http.
            ...(isConnection && { bare: ratio(of(name, 'bare'), of(name, theirs)) }),
          });
          if (!isConnection) return [half];
          const value = ratio(of(name, ours), of(name, 'bare'));
          const what = `bytes of ${titleOf(ours)} against ${titleOf('bare')}`;
          return [half, verdict({ ...place, what, unit: 'x', limit: 1.2, value, required: false })];
        },
      ),
    );
  },

  render({ effort, results, failures }) {
    /** @type {(string[] | string)[]} */
    const rows = [['kB for each', 'RSS', 'heap after gc', 'count', '']];
    /** @type {string[]} */
    const notes = [];
    for (const { name, title } of THINGS) {
      rows.push(title);
      for (const { name: subject, program, lacks } of MEMORY_SUBJECTS) {
        const rounds = roundsOf(results, name, subject);
        const why = lacks[name];
        if (why !== undefined && subject !== 'bare')
          notes.push(`${program.title} has no "${title}": ${why}.`);
        if (rounds === undefined) continue;
        const rival = PAIRS.find(({ ours }) => ours === subject)?.theirs;
        const compared = rival && ratio(rssOf(results, name, subject), rssOf(results, name, rival));
        rows.push([
          `  ${program.title}`,
          kilobytes(medianOf(rounds, ({ rssBytes }) => rssBytes)),
          kilobytes(medianOf(rounds, ({ heapBytes }) => heapBytes)),
          Math.min(...rounds.map(({ count }) => count)).toLocaleString('en-US'),
          rival === undefined || compared === undefined ? '' : fraction(compared, rival),
        ]);
      }
    }
    const asked = `${effort.count.toLocaleString('en-US')} of each, where a program can have as many.`;
    return [align(rows), [asked, ...notes].join('\n'), renderFailures(failures, 'CANNOT')]
      .filter(Boolean)
      .join('\n\n');
  },
};

/**
 * @param {MemorySubject} subject
 * @param {Thing} thing
 * @param {number} wanted
 * @returns {Promise<Growth>}
 */
async function measureGrowth({ program, upstream, atMost }, thing, wanted) {
  const count = Math.min(wanted, atMost[thing.name] ?? wanted);
  const behind = upstream.length > 0 ? (thing.upstream ?? upstream) : [];
  // A legacy server does not say whose call asks, so that several new calls at once would be ambiguous.
  const atOnce = behind === thing.upstream ? 1 : CONCURRENCY;
  const { child, port } = await startBridge(program, behind, { hasProbe: true });
  /** @type {import('./things.js').Held[]} */
  const held = [];
  /** @type {import('./things.js').Maker | undefined} */
  let maker;
  try {
    return await guarded(/** @type {any} */ ({ child }), async () => {
      const opened = await thing.open(port);
      maker = opened;
      // The first tenth compiles the code and fills the caches. It is held as well.
      const first = Math.ceil(count / 10);
      await fill(held, first, opened.make, atOnce);
      const before = await child.askMemory();
      await fill(held, first + count, opened.make, atOnce);
      const after = await child.askMemory();
      const alive = held.filter(({ isAlive }) => isAlive()).length;
      if (alive < held.length * (1 - LOST_AT_MOST))
        throw new Error(`only ${alive} of ${held.length} were still there at the end`);
      const heap = ({ heapUsed, external }) => heapUsed + external;
      return {
        count,
        rssBytes: (after.rss - before.rss) / count,
        heapBytes: (heap(after) - heap(before)) / count,
      };
    });
  } finally {
    for (const { close } of held) close();
    maker?.close();
    await child.close();
  }
}

/**
 * @param {import('./things.js').Held[]} held
 * @param {number} until
 * @param {import('./things.js').Maker['make']} make
 * @param {number} atOnce
 */
async function fill(held, until, make, atOnce) {
  let next = held.length;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next < until) {
        next += 1;
        held.push(await make(next));
      }
    }),
  );
}

/**
 * Node raises its own limit as far as it may, in the benchmark and in the servers.
 * @param {number} needed
 */
function requireDescriptors(needed) {
  if (process.platform !== 'linux') return;
  const line = /^Max open files\s+\S+\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
  const limit = Number(line?.[1]);
  if (limit < needed)
    throw new Error(
      `a process may open ${limit} files and ${needed} are needed: run \`ulimit -n ${needed}\` first, or use --quick`,
    );
}

/**
 * @param {readonly MemoryResult[]} results
 * @param {string} thing
 * @param {string} subject
 */
function roundsOf(results, thing, subject) {
  return results.find((each) => each.thing === thing && each.subject === subject)?.rounds;
}

/**
 * @param {readonly MemoryResult[]} results
 * @param {string} thing
 * @param {string} subject
 */
function rssOf(results, thing, subject) {
  return medianOf(roundsOf(results, thing, subject), ({ rssBytes }) => rssBytes);
}

/** @param {number | undefined} bytes */
function kilobytes(bytes) {
  return number(bytes === undefined ? undefined : bytes / 1000);
}
