/**
 * `run.js --clients`: clients instead of servers. Each runs in a process of its own (`clients/driver.js`) and
 * starts the same bare loop over stdio, so that what differs is the client alone.
 */

import { join } from 'node:path';
import { ensureInstalled } from '../lib/install.js';
import { WARM_UP_AT_LEAST } from '../lib/measure.js';
import { createProgress } from '../lib/progress.js';
import { median, pairedRatio } from '../lib/statistics.js';
import { BENCHMARKS, ROOT } from '../lib/subjects.js';
import { align, fraction, number, renderFailures, times } from '../lib/text.js';
import { verdict } from '../lib/verdicts.js';
import { startClient } from './client-process.js';
import { nameCell } from './stdio.js';

/** @typedef {import('../lib/subjects.js').Era} Era */
/** @typedef {import('../clients/driver.js').ClientRound} ClientRound */
/** @typedef {{ name: string, title: string, rival: boolean, needs?: string }} Subject */
/** @typedef {{ era: Era, textBytes: number, inFlight: number }} Cell */
/** @typedef {ClientRound & { client: string, rounds: ClientRound[] }} CellResult */
/** @typedef {Cell & { results: CellResult[] }} MeasuredCell */
/** @typedef {{ client: string, server: Era, medianMs: number, allMs: number[] }} BootResult */
/** @typedef {{ subject: string, where: string, message: string }} Failure */

/** @type {readonly Subject[]} */
const CLIENTS = [
  { name: 'bare', title: 'bare client', rival: false },
  {
    name: 'isthmus',
    title: 'isthmus',
    rival: false,
    needs: join(ROOT, 'packages', 'sdk', 'dist', 'index.js'),
  },
  { name: 'v2', title: 'official v2', rival: true },
];
const PROGRAMS = { bare: 'bare.js', isthmus: 'isthmus.js', v2: 'official-v2.js' };

const BOOT_MS = 500;
const FIRST_CALL_MS = 1.15 * BOOT_MS + 150;

const EFFORT = { boots: 5, warmUpCalls: 10_000, rounds: 7, roundMs: 300 };
const QUICK_EFFORT = { boots: 3, warmUpCalls: WARM_UP_AT_LEAST, rounds: 3, roundMs: 100 };
const IN_FLIGHT = [64, 1];
const TEXT_BYTES = 64;
/** What must have been negotiated: a client that measures the wrong era is a failure. */
export const REVISIONS = { modern: '2026-07-28', legacy: '2025-11-25' };

/** @type {import('./index.js').Mode} */
export const CLIENTS_MODE = {
  name: 'clients',
  subjects: CLIENTS.map(({ name }) => name),
  takesEra: true,

  async measure({ names, eras, quick }) {
    const clients = CLIENTS.filter(({ name }) => names.includes(name));
    if (clients.some(({ rival }) => rival)) await ensureInstalled(BENCHMARKS);
    const effort = quick ? QUICK_EFFORT : EFFORT;
    const wanted = cellsOf(eras);
    const progress = createProgress(process.stderr, wanted.length + eras.length);
    /** @type {Failure[]} */
    const failures = [];
    const onFailure = (
      /** @type {Subject} */ { name, title },
      /** @type {string} */ where,
      /** @type {unknown} */ error,
    ) => {
      const { message } = /** @type {Error} */ (error);
      failures.push({ subject: name, where, message });
      progress.note(`${title} FAILED, ${where}: ${message}`);
    };
    /** @type {MeasuredCell[]} */
    const cells = [];
    for (const cell of wanted) {
      progress.next(nameCell(cell));
      cells.push({ ...cell, results: await measureCell(clients, cell, effort, onFailure, progress.at) });
    }
    /** @type {BootResult[]} */
    const boots = [];
    for (const server of eras) {
      progress.next(`connect and first call, ${server} server that boots in ${BOOT_MS} ms`);
      boots.push(...(await measureBoots(clients, server, effort, onFailure, progress.at)));
    }
    progress.end();
    return { document: { eras, effort, cells, boots, failures }, failed: failures.length > 0 };
  },

  judge({ eras, cells = [], boots = [] }) {
    return [
      ...cellsOf(eras).flatMap((wanted) => {
        const { era, inFlight } = wanted;
        const cell = cells.find(
          (/** @type {MeasuredCell} */ each) => each.era === era && each.inFlight === inFlight,
        );
        const place = { mode: 'clients', where: nameCell(wanted), required: inFlight > 1 };
        return [
          verdict({
            ...place,
            what: 'CPU against a bare client',
            unit: 'x',
            limit: 1.4,
            value: cpuRatio(cell, 'isthmus', 'bare'),
          }),
          verdict({
            ...place,
            what: 'CPU against the client of official v2',
            unit: 'share',
            limit: 1 / 4,
            value: cpuRatio(cell, 'isthmus', 'v2'),
            bare: cpuRatio(cell, 'bare', 'v2'),
          }),
        ];
      }),
      ...eras.map((/** @type {Era} */ era) =>
        verdict({
          mode: 'clients',
          what: 'connect and first call',
          where: `${era} server that boots in ${BOOT_MS} ms`,
          unit: 'ms',
          limit: FIRST_CALL_MS,
          required: false,
          value: boots.find(
            (/** @type {BootResult} */ { client, server }) => client === 'isthmus' && server === era,
          )?.medianMs,
        }),
      ),
    ];
  },

  render,
};

/**
 * @param {readonly Era[]} eras
 * @returns {Cell[]}
 */
function cellsOf(eras) {
  return eras.flatMap((era) => IN_FLIGHT.map((inFlight) => ({ era, inFlight, textBytes: TEXT_BYTES })));
}

/**
 * All clients alive at once, each with a server of its own; the rounds go through them in turn.
 * @param {readonly Subject[]} clients
 * @param {Cell} cell
 * @param {typeof EFFORT} effort
 * @param {(client: Subject, where: string, error: unknown) => void} onFailure
 * @param {(share: number, doing: string) => void} onProgress
 * @returns {Promise<CellResult[]>}
 */
async function measureCell(clients, cell, effort, onFailure, onProgress) {
  const { era, inFlight } = cell;
  let peers = clients.map((client) => ({
    client,
    process: startSubject(client),
    rounds: /** @type {ClientRound[]} */ ([]),
  }));
  /** @param {(peer: typeof peers[number]) => Promise<void>} work */
  const each = async (work) => {
    for (const peer of peers) {
      try {
        await work(peer);
      } catch (error) {
        onFailure(peer.client, nameCell(cell), error);
        await peer.process.close();
        peers = peers.filter((other) => other !== peer);
      }
    }
  };
  await each(async ({ process }) => {
    await process.ready();
    const args = [join(BENCHMARKS, 'subjects', 'bare-loop.js')];
    await process.order({ kind: 'open', mode: era, revision: REVISIONS[era], args });
  });
  await each(async ({ client, process }) => {
    onProgress(0, `${client.title} warms up`);
    for (let calls = 0; calls < effort.warmUpCalls; ) {
      calls += (await process.order({ kind: 'round', inFlight, forMs: 100 })).calls;
    }
  });
  for (let round = 0; round < effort.rounds; round += 1) {
    await each(async ({ client, process, rounds }) => {
      onProgress((round + 1) / (effort.rounds + 1), client.title);
      rounds.push(await process.order({ kind: 'round', inFlight, forMs: effort.roundMs }));
    });
  }
  await Promise.all(peers.map(({ process }) => process.close()));
  return peers.map(({ client, rounds }) => ({ client: client.name, ...medianRound(rounds), rounds }));
}

/**
 * `auto` connect and first answer, seen from the client: its process is up and its modules are loaded, the
 * server's process is not. Fresh processes each time.
 * @param {readonly Subject[]} clients
 * @param {Era} server
 * @param {typeof EFFORT} effort
 * @param {(client: Subject, where: string, error: unknown) => void} onFailure
 * @param {(share: number, doing: string) => void} onProgress
 * @returns {Promise<BootResult[]>}
 */
async function measureBoots(clients, server, effort, onFailure, onProgress) {
  const results = clients.map((client) => ({ client, allMs: /** @type {number[]} */ ([]), failed: false }));
  const args = [join(BENCHMARKS, 'subjects', 'bare-loop-late.js'), String(BOOT_MS), server];
  for (let boot = 0; boot < effort.boots; boot += 1) {
    for (const result of results.filter(({ failed }) => !failed)) {
      onProgress(boot / effort.boots, result.client.title);
      const process = startSubject(result.client);
      try {
        await process.ready();
        const order = { kind: 'open', mode: 'auto', revision: REVISIONS[server], args };
        result.allMs.push((await process.order(order)).firstCallMs);
      } catch (error) {
        result.failed = true;
        onFailure(result.client, `first call to a ${server} server`, error);
      } finally {
        await process.close();
      }
    }
  }
  return results
    .filter(({ failed }) => !failed)
    .map(({ client, allMs }) => ({ client: client.name, server, medianMs: median(allMs), allMs }));
}

/** @param {Subject} client */
function startSubject({ name, needs }) {
  return startClient(PROGRAMS[/** @type {keyof typeof PROGRAMS} */ (name)], needs);
}

/**
 * @param {readonly ClientRound[]} rounds
 * @returns {ClientRound}
 */
export function medianRound(rounds) {
  const of = (/** @type {(round: ClientRound) => number} */ pick) => median(rounds.map(pick));
  return {
    calls: rounds.reduce((sum, { calls }) => sum + calls, 0),
    callsPerSecond: of((round) => round.callsPerSecond),
    cpuMicros: of((round) => round.cpuMicros),
    p50Micros: of((round) => round.p50Micros),
    p99Micros: of((round) => round.p99Micros),
  };
}

/**
 * @param {MeasuredCell | undefined} cell
 * @param {string} of
 * @param {string} to
 */
function cpuRatio(cell, of, to) {
  const [ours, theirs] = [of, to].map((name) => cell?.results.find(({ client }) => client === name)?.rounds);
  return pairedRatio(ours, theirs, ({ cpuMicros }) => cpuMicros);
}

/** @param {{ quick: boolean, cells: MeasuredCell[], boots: BootResult[], failures: Failure[] }} document */
function render({ quick, cells, boots, failures }) {
  /** @type {(string[] | string)[]} */
  const rows = [['', 'calls/s', 'CPU µs/call', '', '', 'p50 µs', 'p99 µs']];
  for (const cell of cells) {
    rows.push(nameCell(cell));
    for (const { client, callsPerSecond, cpuMicros, p50Micros, p99Micros } of cell.results) {
      rows.push([
        `  ${titleOf(client)}`,
        number(callsPerSecond),
        number(cpuMicros),
        client === 'bare' ? '' : times(cpuRatio(cell, client, 'bare'), 'bare'),
        client === 'v2' ? '' : fraction(cpuRatio(cell, client, 'v2'), 'v2'),
        number(p50Micros),
        number(p99Micros),
      ]);
    }
  }
  /** @type {(string[] | string)[]} */
  const bootRows = [['connect (auto) and first call', 'ms', 'fastest', 'slowest']];
  for (const server of new Set(boots.map((boot) => boot.server))) {
    bootRows.push(`${server} server that boots in ${BOOT_MS} ms`);
    for (const { client, medianMs, allMs } of boots.filter((boot) => boot.server === server)) {
      const figures = [medianMs, Math.min(...allMs), Math.max(...allMs)];
      bootRows.push([`  ${titleOf(client)}`, ...figures.map(number)]);
    }
  }
  const caveat = quick ? 'Quick run: too short for the official client; judge by the full run.' : '';
  return [align(rows), align(bootRows), caveat, renderFailures(failures)].filter(Boolean).join('\n\n');
}

/** @param {string} name */
function titleOf(name) {
  return CLIENTS.find((client) => client.name === name)?.title ?? name;
}
