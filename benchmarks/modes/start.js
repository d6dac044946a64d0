/**
 * `run.js --start`: how long programs take to start. What answers is measured from its start to its first verified echo,
 * above a program that does nothing else. What prints is measured from its start to its end, above `node -e 0`. All of
 * them take turns.
 */

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startNode } from '../lib/child.js';
import { ensureInstalled } from '../lib/install.js';
import { createLoad } from '../lib/load.js';
import { guarded } from '../lib/measure.js';
import { createProgress } from '../lib/progress.js';
import { median, medianOf } from '../lib/statistics.js';
import { BENCHMARKS, ROOT } from '../lib/subjects.js';
import { align, number, renderFailures } from '../lib/text.js';
import { verdict } from '../lib/verdicts.js';

/** @typedef {import('../lib/subjects.js').Era} Era */
/** @typedef {{ name: string, title: string, args: string[], above?: string, limit?: number, rival?: boolean }} Program */
/** @typedef {{ program: string, era?: Era, medianMs: number, allMs: number[] }} StartResult */

const CLI = join(ROOT, 'bin', 'isthmus.js');
const COMMAND = join(BENCHMARKS, 'subjects', 'bridge-upstream.js');
/** Stands for the address of a running gateway. */
const SOCKET = 'unix:{socket}';
const STARTS = 21;
const QUICK_STARTS = 5;

/** `above`: the program whose time is subtracted. `limit`: at most so many milliseconds above it. */
/** @type {readonly Program[]} */
const ANSWERING = [
  { name: 'bare', title: 'bare loop', args: [join(BENCHMARKS, 'subjects', 'bare-loop.js')] },
  { name: 'demo', title: 'isthmus demo', args: [CLI, 'demo'], above: 'bare', limit: 45 },
  {
    name: 'v2',
    title: 'official v2',
    args: [join(BENCHMARKS, 'subjects', 'official-v2.js')],
    above: 'bare',
    rival: true,
  },
  { name: 'command', title: 'COMMAND', args: [COMMAND] },
  {
    name: 'serve',
    title: 'isthmus serve --listen stdio -- COMMAND',
    args: [CLI, 'serve', '--listen', 'stdio', '--', process.execPath, COMMAND],
    above: 'command',
    limit: 60,
  },
];
/** @type {readonly Program[]} */
const PRINTING = [
  { name: 'node', title: 'node -e 0', args: ['-e', '0'] },
  { name: 'help', title: 'isthmus --help', args: [CLI, '--help'], above: 'node', limit: 80 },
  { name: 'status', title: 'isthmus status', args: [CLI, 'status'], above: 'node', limit: 80 },
  { name: 'list', title: 'isthmus list unix:PATH', args: [CLI, 'list', SOCKET], above: 'node', limit: 80 },
];

/** @type {import('./index.js').Mode} */
export const START = {
  name: 'start',
  takesEra: true,

  async measure({ eras, quick }) {
    if (!existsSync(join(ROOT, 'packages', 'cli', 'dist', 'main.js')))
      throw new Error('packages/cli/dist/main.js is missing; run `npm run build` first');
    await ensureInstalled(BENCHMARKS);
    const starts = quick ? QUICK_STARTS : STARTS;
    const progress = createProgress(process.stderr, starts);
    /** @type {Map<string, StartResult>} */
    const results = new Map();
    /** @type {{ subject: string, message: string }[]} */
    const failures = [];
    // `status` finds the gateway that runs here, and no other one of this user.
    const home = await mkdtemp(join(tmpdir(), 'isthmus-start-'));
    const env = { HOME: home, XDG_RUNTIME_DIR: home, XDG_CONFIG_HOME: home, XDG_STATE_HOME: home };
    const work = [
      ...eras.flatMap((era) => ANSWERING.map((program) => ({ program, era }))),
      ...PRINTING.map((program) => ({ program, era: undefined })),
    ];
    const socket = join(home, 'gateway.sock');
    const gateway = startNode(
      [CLI, 'serve', '--listen', `unix:${socket}`, '--', process.execPath, COMMAND],
      ROOT,
      {
        env,
        endSignal: 'SIGTERM',
      },
    );
    try {
      await guarded(/** @type {any} */ ({ child: gateway }), () => appears(socket));
      // The first start of each fills the caches of the system, and the compile cache of Node.
      for (let round = 0; round <= starts; round += 1) {
        if (round > 0) progress.next(`start ${round} of ${starts}`);
        for (const { program, era } of work) {
          const { name, title, args } = program;
          const id = `${name} ${era}`;
          if (failures.some(({ subject }) => subject === id)) continue;
          try {
            const given = args.map((arg) => (arg === SOCKET ? `unix:${socket}` : arg));
            const ms = era === undefined ? await timeToEnd(given, env) : await timeToAnswer(given, era, env);
            const result = results.get(id) ?? { program: name, era, medianMs: 0, allMs: [] };
            if (round > 0) result.allMs.push(ms);
            results.set(id, result);
          } catch (error) {
            failures.push({ subject: id, message: /** @type {Error} */ (error).message });
            progress.note(`${title} FAILED: ${/** @type {Error} */ (error).message}`);
          }
        }
      }
    } finally {
      await gateway.close();
      await rm(home, { recursive: true, force: true });
    }
    progress.end();
    const all = [...results.values()]
      .filter(({ program, era }) => !failures.some(({ subject }) => subject === `${program} ${era}`))
      .map((result) => ({ ...result, medianMs: median(result.allMs) }));
    return { document: { eras, starts, results: all, failures }, failed: failures.length > 0 };
  },

  judge({ eras, results = [] }) {
    const judge = (/** @type {Program} */ program, /** @type {Era | undefined} */ era) =>
      program.limit === undefined
        ? []
        : [
            verdict({
              mode: 'start',
              what: `${era === undefined ? 'end' : 'first answer'} of \`${program.title}\` above \`${titleOf(program.above)}\``,
              where: era ?? 'prints',
              unit: 'ms',
              limit: program.limit,
              value: aboveMs(results, program, era),
            }),
          ];
    return [
      ...eras.flatMap((/** @type {Era} */ era) => ANSWERING.flatMap((program) => judge(program, era))),
      ...PRINTING.flatMap((program) => judge(program, undefined)),
    ];
  },

  render({ results, failures }) {
    /** @type {(string[] | string)[]} */
    const rows = [['start', 'ms', 'above', '', 'fastest', 'slowest']];
    const row = (/** @type {Program} */ program, /** @type {Era | undefined} */ era) => {
      const result = findResult(results, program.name, era);
      if (result === undefined) return;
      const above = aboveMs(results, program, era);
      rows.push([
        `  ${program.title}`,
        number(result.medianMs),
        above === undefined ? '' : `${above < 0 ? '' : '+'}${number(above)}`,
        program.above === undefined ? '' : titleOf(program.above),
        number(Math.min(...result.allMs)),
        number(Math.max(...result.allMs)),
      ]);
    };
    for (const era of new Set(results.flatMap((/** @type {StartResult} */ { era }) => era ?? []))) {
      rows.push(`first answer, ${era}`);
      for (const program of ANSWERING) row(program, /** @type {Era} */ (era));
    }
    rows.push('to its end');
    for (const program of PRINTING) row(program, undefined);
    return [align(rows), renderFailures(failures)].filter(Boolean).join('\n\n');
  },
};

/**
 * @param {readonly string[]} args
 * @param {Era} era
 * @param {NodeJS.ProcessEnv} env
 */
async function timeToAnswer(args, era, env) {
  const begin = performance.now();
  const child = startNode(args, ROOT, { env });
  const load = createLoad(child, { era, textBytes: 64 });
  child.exited.then((how) => load.abort(new Error(how)));
  await guarded({ child, load }, () => load.open());
  const ms = performance.now() - begin;
  await child.close();
  return ms;
}

/** @param {string} path */
async function appears(path) {
  for (const latest = performance.now() + 15_000; performance.now() < latest; await sleep(20)) {
    if (existsSync(path)) return;
  }
  throw new Error(`isthmus serve did not listen at ${path} within 15 s`);
}

/**
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} env
 */
function timeToEnd(args, env) {
  return new Promise((/** @type {(ms: number) => void} */ resolve, reject) => {
    const begin = performance.now();
    const child = spawn(process.execPath, args, {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'ignore'],
      timeout: 30_000,
    });
    child.on('error', reject).on('exit', (code, signal) => {
      const ms = performance.now() - begin;
      if (code === 0) resolve(ms);
      else reject(new Error(signal === null ? `it exited with code ${code}` : `it died of ${signal}`));
    });
  });
}

/**
 * The median of the differences within each turn.
 * @param {readonly StartResult[]} results
 * @param {Program} program
 * @param {Era | undefined} era
 */
function aboveMs(results, { name, above }, era) {
  if (above === undefined) return undefined;
  const base = findResult(results, above, era)?.allMs;
  return medianOf(findResult(results, name, era)?.allMs, (ms, at) =>
    base?.[at] === undefined ? undefined : ms - base[at],
  );
}

/**
 * @param {readonly StartResult[]} results
 * @param {string} name
 * @param {Era | undefined} era
 */
function findResult(results, name, era) {
  return results.find((result) => result.program === name && result.era === era);
}

/** @param {string | undefined} name */
function titleOf(name) {
  return [...ANSWERING, ...PRINTING].find((program) => program.name === name)?.title ?? '';
}
