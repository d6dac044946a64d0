/**
 * `run.js --clients`: clients instead of servers. Each runs in a process of its own (`client-driver.js`) and
 * starts the same bare loop over stdio, so that what differs is the client alone.
 */

import { join } from 'node:path';
import { startClient } from './client-process.js';
import { nameCell, ratio } from './goals.js';
import { ensureInstalled } from './install.js';
import { median } from './measure.js';
import { createProgress } from './progress.js';
import { BENCHMARKS, ROOT } from './subjects.js';
import { align, fraction, number, times } from './table.js';

/** @typedef {import('./subjects.js').Era} Era */
/** @typedef {import('./client-driver.js').ClientRound} ClientRound */
/** @typedef {{ name: string, title: string, rival: boolean, needs?: string }} Subject */
/** @typedef {{ era: Era, textBytes: number, inFlight: number }} Cell */
/** @typedef {ClientRound & { client: string, rounds: ClientRound[] }} CellResult */
/** @typedef {Cell & { results: CellResult[] }} MeasuredCell */
/** @typedef {{ client: string, server: Era, medianMs: number, allMs: number[] }} BootResult */
/** @typedef {{ goal: 'cpu-vs-v2' | 'first-call', where: string, value: number, limit: number, met: boolean, bare?: number }} ClientVerdict */

/** @type {readonly Subject[]} */
export const CLIENTS = [
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
export const CLIENT_GOALS = { cpuVsV2: 1 / 4, firstCallMs: 1.15 * BOOT_MS + 150 };

const EFFORT = { boots: 5, warmUpCalls: 10_000, warmUpAtMostMs: 4000, rounds: 7, roundMs: 300 };
const QUICK_EFFORT = { boots: 3, warmUpCalls: 3000, warmUpAtMostMs: 1200, rounds: 3, roundMs: 100 };
const IN_FLIGHT = [64, 1];
const TEXT_BYTES = 64;
/** What must have been negotiated: a client that measures the wrong era is a failure. */
export const REVISIONS = { modern: '2026-07-28', legacy: '2025-11-25' };

/**
 * @param {{ names: readonly string[], eras: readonly Era[], quick: boolean, json: boolean, about: object }} options
 * @returns {Promise<number>} the exit status
 */
export async function benchClients({ names, eras, quick, json, about }) {
  const clients = CLIENTS.filter(({ name }) => names.includes(name));
  if (clients.some(({ rival }) => rival)) await ensureInstalled(BENCHMARKS);
  const effort = quick ? QUICK_EFFORT : EFFORT;
  const cells = eras.flatMap((era) =>
    IN_FLIGHT.map((inFlight) => ({ era, inFlight, textBytes: TEXT_BYTES })),
  );
  const progress = createProgress(process.stderr, cells.length + eras.length);
  /** @type {{ client: string, where: string, message: string }[]} */
  const failures = [];
  const onFailure = (
    /** @type {Subject} */ { name, title },
    /** @type {string} */ where,
    /** @type {unknown} */ e,
  ) => {
    const { message } = /** @type {Error} */ (e);
    failures.push({ client: name, where, message });
    progress.note(`${title} FAILED, ${where}: ${message}`);
  };

  /** @type {MeasuredCell[]} */
  const measured = [];
  for (const cell of cells) {
    progress.next(nameCell(cell));
    measured.push({ ...cell, results: await measureCell(clients, cell, effort, onFailure, progress.at) });
  }
  /** @type {BootResult[]} */
  const boots = [];
  for (const server of eras) {
    progress.next(`connect and first call, ${server} server that boots in ${BOOT_MS} ms`);
    boots.push(...(await measureBoots(clients, server, effort, onFailure, progress.at)));
  }
  progress.end();

  const verdicts = judge(measured, boots);
  const document = {
    ...about,
    quick,
    effort,
    goals: CLIENT_GOALS,
    cells: measured,
    boots,
    verdicts,
    failures,
  };
  process.stdout.write(json ? `${JSON.stringify(document, null, 2)}\n` : render(document));
  return failures.length === 0 ? 0 : 1;
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
    const latest = performance.now() + effort.warmUpAtMostMs;
    for (let calls = 0; calls < effort.warmUpCalls && performance.now() < latest; ) {
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
 * @param {readonly MeasuredCell[]} cells
 * @param {readonly BootResult[]} boots
 * @returns {ClientVerdict[]}
 */
function judge(cells, boots) {
  const { cpuVsV2, firstCallMs } = CLIENT_GOALS;
  return [
    ...cells.flatMap((cell) => {
      const value = ratio(cpuOf(cell, 'isthmus'), cpuOf(cell, 'v2'));
      if (value === undefined) return [];
      const where = nameCell(cell);
      const bare = ratio(cpuOf(cell, 'bare'), cpuOf(cell, 'v2'));
      const verdict = /** @type {const} */ ({
        goal: 'cpu-vs-v2',
        where,
        value,
        limit: cpuVsV2,
        met: value <= cpuVsV2,
      });
      return bare !== undefined && bare > cpuVsV2 ? [{ ...verdict, bare }] : [verdict];
    }),
    ...boots
      .filter(({ client }) => client === 'isthmus')
      .map(({ server, medianMs: value }) => ({
        goal: /** @type {const} */ ('first-call'),
        where: `${server} server`,
        value,
        limit: firstCallMs,
        met: value <= firstCallMs,
      })),
  ];
}

/**
 * @param {MeasuredCell} cell
 * @param {string} name
 */
function cpuOf({ results }, name) {
  return results.find(({ client }) => client === name)?.cpuMicros;
}

/** @param {{ quick: boolean, cells: MeasuredCell[], boots: BootResult[], verdicts: ClientVerdict[], failures: { client: string, where: string, message: string }[] }} document */
function render({ quick, cells, boots, verdicts, failures }) {
  /** @type {(string[] | string)[]} */
  const rows = [['', 'calls/s', 'CPU µs/call', '', '', 'p50 µs', 'p99 µs']];
  for (const cell of cells) {
    rows.push(nameCell(cell));
    for (const { client, callsPerSecond, cpuMicros, p50Micros, p99Micros } of cell.results) {
      rows.push([
        `  ${titleOf(client)}`,
        number(callsPerSecond),
        number(cpuMicros),
        client === 'bare' ? '' : times(ratio(cpuMicros, cpuOf(cell, 'bare')), 'bare'),
        client === 'v2' ? '' : fraction(ratio(cpuMicros, cpuOf(cell, 'v2')), 'v2'),
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
  const met = verdicts.filter((verdict) => verdict.met).length;
  const goals =
    verdicts.length === 0
      ? 'No goals judged: they need isthmus, and official v2 for the CPU.'
      : [`Goals: ${met} of ${verdicts.length} met`, ...verdicts.map(describe)].join('\n');
  const caveat = quick ? 'Quick run: too short to warm up the official client; judge by the full run.' : '';
  const failed = failures.map(({ client, where, message }) => `FAILED ${client}, ${where}: ${message}`);
  return `${[align(rows), align(bootRows), caveat, goals, ...failed].filter(Boolean).join('\n\n')}\n`;
}

/** @param {ClientVerdict} verdict */
function describe({ goal, where, value, limit, met, bare }) {
  const mark = `  ${met ? 'met   ' : 'MISSED'}`;
  if (goal === 'first-call') {
    return `${mark}  connect and first call ${number(value)} ms, at most ${number(limit)} ms: ${where}`;
  }
  const limitOfNode = bare === undefined ? '' : ` (the bare client itself: ${fraction(bare, 'v2')})`;
  return `${mark}  CPU ${fraction(value, 'v2')}, at most 1/${Math.round(1 / limit)}: ${where}${limitOfNode}`;
}

/** @param {string} name */
function titleOf(name) {
  return CLIENTS.find((client) => client.name === name)?.title ?? name;
}
