/**
 * `run.js --host`: what sharing a process costs, and how long a restart takes. The measure for both is a plain
 * client with a process of its own: the same calls, the same server.
 */

import { join } from 'node:path';
import { medianRound, REVISIONS } from './client-bench.js';
import { startClient } from './client-process.js';
import { ratio } from './goals.js';
import { median } from './measure.js';
import { createProgress } from './progress.js';
import { BENCHMARKS, ROOT } from './subjects.js';
import { align, number, times } from './table.js';

/** @typedef {import('./subjects.js').Era} Era */
/** @typedef {import('./client-driver.js').ClientRound} ClientRound */
/** @typedef {{ era: Era, plain: ClientRound, host: ClientRound, ratio: number }} SharingResult */
/** @typedef {{ plain: number[], restart: number[], crash: number[] }} Boots */
/** @typedef {{ era: Era, plainMs: number, restartMs: number, crashMs: number, all: Boots }} RestartResult */
/** @typedef {{ what: string, value: number, limit: number, met: boolean, unit: 'x' | 'ms' }} HostVerdict */

/** As many as `clients/isthmus-host.js` has conversations. */
const IN_FLIGHT = 50;
const BOOT_MS = 300;
export const HOST_GOALS = { cpuVsPlain: 1.2, restartMsAboveBoot: 100 };

const EFFORT = { restarts: 7, warmUpCalls: 20_000, warmUpAtMostMs: 4000, rounds: 25, roundMs: 150 };
const QUICK_EFFORT = { restarts: 3, warmUpCalls: 5000, warmUpAtMostMs: 1200, rounds: 5, roundMs: 100 };
const BUILT = join(ROOT, 'packages', 'sdk', 'dist', 'index.js');

/**
 * @param {{ eras: readonly Era[], quick: boolean, json: boolean, about: object }} options
 * @returns {Promise<number>} the exit status
 */
export async function benchHost({ eras, quick, json, about }) {
  const effort = quick ? QUICK_EFFORT : EFFORT;
  const progress = createProgress(process.stderr, eras.length * 2);
  /** @type {SharingResult[]} */
  const sharing = [];
  for (const era of eras) {
    progress.next(`${era}, ${IN_FLIGHT} conversations over one process`);
    sharing.push(await measureSharing(era, effort, progress.at));
  }
  /** @type {RestartResult[]} */
  const restarts = [];
  for (const era of eras) {
    progress.next(`restart of a ${era} server that boots in ${BOOT_MS} ms`);
    restarts.push(await measureRestarts(era, effort, progress.at));
  }
  progress.end();
  const verdicts = judge(sharing, restarts);
  const document = { ...about, quick, effort, goals: HOST_GOALS, sharing, restarts, verdicts };
  process.stdout.write(json ? `${JSON.stringify(document, null, 2)}\n` : render(document));
  return 0;
}

/**
 * Both alive at once, each with a server of its own; the rounds go to and fro between them.
 * @param {Era} era
 * @param {typeof EFFORT} effort
 * @param {(share: number, doing: string) => void} onProgress
 * @returns {Promise<SharingResult>}
 */
async function measureSharing(era, effort, onProgress) {
  const peers = ['isthmus.js', 'isthmus-host.js'].map((program) => ({
    process: startClient(program, BUILT),
    rounds: /** @type {ClientRound[]} */ ([]),
  }));
  try {
    for (const { process } of peers) {
      await process.ready();
      const args = [join(BENCHMARKS, 'subjects', 'bare-loop.js')];
      await process.order({ kind: 'open', mode: era, revision: REVISIONS[era], args });
    }
    for (const { process } of peers) {
      onProgress(0, 'warms up');
      const latest = performance.now() + effort.warmUpAtMostMs;
      for (let calls = 0; calls < effort.warmUpCalls && performance.now() < latest; ) {
        calls += (await process.order({ kind: 'round', inFlight: IN_FLIGHT, forMs: 100 })).calls;
      }
    }
    for (let round = 0; round < effort.rounds; round += 1) {
      onProgress((round + 1) / (effort.rounds + 1), 'calls');
      for (const { process, rounds } of peers) {
        rounds.push(await process.order({ kind: 'round', inFlight: IN_FLIGHT, forMs: effort.roundMs }));
      }
    }
  } finally {
    await Promise.all(peers.map(({ process }) => process.close()));
  }
  const [plain, host] = peers.map(({ rounds }) => medianRound(rounds));
  // Of each pair, not of the medians: what disturbs one round disturbs its neighbour, too.
  const ratios = peers[0].rounds.map((round, at) => ratio(peers[1].rounds[at].cpuMicros, round.cpuMicros));
  return { era, plain, host, ratio: median(/** @type {number[]} */ (ratios)) };
}

/**
 * The server's own boot is spawn to first answer, with a plain client. A restart counts from the command, a crash
 * from the kill, both to the moment when the fresh process has answered.
 * @param {Era} era
 * @param {typeof EFFORT} effort
 * @param {(share: number, doing: string) => void} onProgress
 * @returns {Promise<RestartResult>}
 */
async function measureRestarts(era, effort, onProgress) {
  const { connect, createHost, stdio } = await import('@isthmus/sdk');
  const command = process.execPath;
  const args = [join(BENCHMARKS, 'subjects', 'bare-loop-late.js'), String(BOOT_MS), era];
  const restart = { attempts: 100, firstDelayMs: 0, jitter: 0 };
  const host = createHost({ cache: false, ledger: false, servers: { late: { command, args, restart } } });
  /** @type {Boots} */
  const all = { plain: [], restart: [], crash: [] };
  try {
    // A server is restarted only while a client needs it.
    const talk = host.conversation('late');
    await talk.callTool('echo', { text: 'hello' });
    for (let boot = 0; boot < effort.restarts; boot += 1) {
      onProgress(boot / effort.restarts, 'restarts');
      all.plain.push(
        await time(async () => {
          const client = await connect(stdio({ command, args }), { cache: false });
          await client.callTool('echo', { text: 'hello' });
          return () => client.close();
        }),
      );
      all.restart.push(await time(() => host.restart('late')));
      const { pid } = (await host.status()).servers.late.processes[0];
      all.crash.push(
        await time(async () => {
          const ready = new Promise((/** @type {(none: void) => void} */ resolve) => {
            const stop = host.watch(({ kind }) => {
              if (kind !== 'ready') return;
              stop();
              resolve();
            });
          });
          process.kill(/** @type {number} */ (pid), 'SIGKILL');
          await ready;
        }),
      );
      await talk.callTool('echo', { text: 'hello' });
    }
  } finally {
    await host.close();
  }
  const [plainMs, restartMs, crashMs] = [all.plain, all.restart, all.crash].map(median);
  return { era, plainMs, restartMs, crashMs, all };
}

/**
 * What the work gives back is done after the time was taken.
 * @param {() => Promise<void | (() => Promise<void>)>} work
 */
async function time(work) {
  const begin = performance.now();
  const after = await work();
  const ms = performance.now() - begin;
  await after?.();
  return ms;
}

/**
 * @param {readonly SharingResult[]} sharing
 * @param {readonly RestartResult[]} restarts
 * @returns {HostVerdict[]}
 */
function judge(sharing, restarts) {
  const { cpuVsPlain, restartMsAboveBoot } = HOST_GOALS;
  return [
    ...sharing.map(({ era, ratio: value }) => ({
      what: `CPU of a call by ${IN_FLIGHT} conversations beside one plain client, ${era}`,
      value,
      limit: cpuVsPlain,
      met: value <= cpuVsPlain,
      unit: /** @type {const} */ ('x'),
    })),
    ...restarts.flatMap(({ era, plainMs, restartMs, crashMs }) =>
      [
        { what: `restart above the server's own boot, ${era}`, value: restartMs - plainMs },
        { what: `crash to ready above the server's own boot, ${era}`, value: crashMs - plainMs },
      ].map(({ what, value }) => ({
        what,
        value,
        limit: restartMsAboveBoot,
        met: value <= restartMsAboveBoot,
        unit: /** @type {const} */ ('ms'),
      })),
    ),
  ];
}

/** @param {{ quick: boolean, sharing: SharingResult[], restarts: RestartResult[], verdicts: HostVerdict[] }} document */
function render({ quick, sharing, restarts, verdicts }) {
  /** @type {(string[] | string)[]} */
  const rows = [['', 'calls/s', 'CPU µs/call', '', 'p50 µs', 'p99 µs']];
  for (const { era, plain, host, ratio: value } of sharing) {
    rows.push(`${era}, 64 B, ${IN_FLIGHT} in flight`);
    rows.push(['  one plain client', ...figures(plain, '')]);
    rows.push([`  ${IN_FLIGHT} conversations of a host`, ...figures(host, times(value, 'plain'))]);
  }
  /** @type {(string[] | string)[]} */
  const bootRows = [['to the first answer', 'ms', 'fastest', 'slowest']];
  for (const { era, all } of restarts) {
    bootRows.push(`${era} server that boots in ${BOOT_MS} ms`);
    for (const [title, ms] of [
      ['plain client, connect and call', all.plain],
      ['host.restart', all.restart],
      ['crash, restarted without a pause', all.crash],
    ]) {
      const values = /** @type {number[]} */ (ms);
      const shown = [median(values), Math.min(...values), Math.max(...values)].map(number);
      bootRows.push([`  ${title}`, ...shown]);
    }
  }
  const met = verdicts.filter((verdict) => verdict.met).length;
  const goals = [`Goals: ${met} of ${verdicts.length} met`, ...verdicts.map(describe)].join('\n');
  const caveat = quick ? 'Quick run: judge by the full run.' : '';
  return `${[align(rows), align(bootRows), caveat, goals].filter(Boolean).join('\n\n')}\n`;
}

/**
 * @param {ClientRound} round
 * @param {string} compared
 */
function figures({ callsPerSecond, cpuMicros, p50Micros, p99Micros }, compared) {
  return [number(callsPerSecond), number(cpuMicros), compared, number(p50Micros), number(p99Micros)];
}

/** @param {HostVerdict} verdict */
function describe({ what, value, limit, met, unit }) {
  const shown = unit === 'x' ? `${value.toFixed(2)}x` : `${number(value)} ms`;
  return `  ${met ? 'met   ' : 'MISSED'}  ${what}: ${shown}, at most ${limit}${unit === 'x' ? 'x' : ' ms'}`;
}
