/**
 * `run.js --host`: what sharing a process costs, and how long a restart takes. The measure for both is a plain
 * client with a process of its own: the same calls, the same server.
 */

import { join } from 'node:path';
import { WARM_UP_AT_LEAST } from '../lib/measure.js';
import { createProgress } from '../lib/progress.js';
import { median, pairedRatio } from '../lib/statistics.js';
import { BENCHMARKS, ROOT } from '../lib/subjects.js';
import { align, number, times } from '../lib/text.js';
import { verdict } from '../lib/verdicts.js';
import { startClient } from './client-process.js';
import { medianRound, REVISIONS } from './clients.js';

/** @typedef {import('../lib/subjects.js').Era} Era */
/** @typedef {import('../clients/driver.js').ClientRound} ClientRound */
/** @typedef {{ era: Era, plain: ClientRound, host: ClientRound, ratio: number | undefined }} SharingResult */
/** @typedef {{ plain: number[], restart: number[], crash: number[] }} Boots */
/** @typedef {{ era: Era, plainMs: number, restartMs: number, crashMs: number, all: Boots }} RestartResult */

/** As many as `clients/isthmus-host.js` has conversations. */
const IN_FLIGHT = 50;
const BOOT_MS = 300;
const EFFORT = { restarts: 7, warmUpCalls: 20_000, rounds: 25, roundMs: 150 };
const QUICK_EFFORT = { restarts: 3, warmUpCalls: WARM_UP_AT_LEAST, rounds: 5, roundMs: 100 };
const BUILT = join(ROOT, 'packages', 'sdk', 'dist', 'index.js');

/** @type {import('./index.js').Mode} */
export const HOST = {
  name: 'host',
  takesEra: true,

  async measure({ eras, quick }) {
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
    return { document: { eras, effort, sharing, restarts }, failed: false };
  },

  judge({ eras, sharing = [], restarts = [] }) {
    return eras.flatMap((/** @type {Era} */ era) => {
      const shared = sharing.find((/** @type {SharingResult} */ each) => each.era === era);
      const boots = restarts.find((/** @type {RestartResult} */ each) => each.era === era);
      const place = { mode: 'host', where: era, required: false };
      return [
        verdict({
          ...place,
          what: `CPU of a call by ${IN_FLIGHT} conversations against one plain client`,
          unit: 'x',
          limit: 1.2,
          value: shared?.ratio,
        }),
        verdict({
          ...place,
          what: "restart above the server's own boot",
          unit: 'ms',
          limit: 100,
          value: boots && boots.restartMs - boots.plainMs,
        }),
        verdict({
          ...place,
          what: "crash to ready above the server's own boot",
          unit: 'ms',
          limit: 100,
          value: boots && boots.crashMs - boots.plainMs,
        }),
      ];
    });
  },

  render,
};

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
      for (let calls = 0; calls < effort.warmUpCalls; ) {
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
  const ratio = pairedRatio(peers[1].rounds, peers[0].rounds, ({ cpuMicros }) => cpuMicros);
  return { era, plain, host, ratio };
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

/** @param {{ quick: boolean, sharing: SharingResult[], restarts: RestartResult[] }} document */
function render({ quick, sharing, restarts }) {
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
  const caveat = quick ? 'Quick run: judge by the full run.' : '';
  return [align(rows), align(bootRows), caveat].filter(Boolean).join('\n\n');
}

/**
 * @param {ClientRound} round
 * @param {string} compared
 */
function figures({ callsPerSecond, cpuMicros, p50Micros, p99Micros }, compared) {
  return [number(callsPerSecond), number(cpuMicros), compared, number(p50Micros), number(p99Micros)];
}
