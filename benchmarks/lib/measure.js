/**
 * The measurement itself: fresh processes for every cell, all subjects alive at once, and rounds that go
 * through all of them in turn, so that a noisy second hits everybody and not one.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { startNode } from './child.js';
import { createLoad } from './load.js';
import { ROOT } from './subjects.js';

/** @typedef {import('./subjects.js').Subject} Subject */
/** @typedef {import('./subjects.js').Era} Era */
/** @typedef {{ era: Era, textBytes: number, inFlight: number }} Cell */

/**
 * @typedef {object} Effort how long to look
 * @property {number} starts fresh processes per subject and era for the start figure
 * @property {number} warmUpMs at least this long
 * @property {number} warmUpRequests and so many, for a slow subject must be compiled as well as a fast one
 * @property {number} warmUpLargeRequests the same for large texts, where each request does more
 * @property {number} warmUpAtMostMs
 * @property {number} rounds
 * @property {number} roundMs
 */

/**
 * @typedef {object} Round one look at one subject
 * @property {number} requests
 * @property {number} requestsPerSecond
 * @property {number | undefined} serverCpuMicros per request; undefined where the system does not tell
 * @property {number} clientCpuMicros per request, of the generator
 * @property {number} p50Micros
 * @property {number} p99Micros
 */

/** @typedef {Round & { subject: string, peakRssBytes: number | undefined, rounds: Round[] }} CellResult */
/** @typedef {{ subject: string, era: Era, medianMs: number, allMs: number[] }} StartResult */

/**
 * Reports failures of one subject. After a failure the subject is left out of that era.
 * @typedef {(subject: Subject, era: Era, error: Error) => void} OnFailure
 */

// The last answer is out, but the server may still be busy with what follows its write.
const SETTLE_MS = 3;

/**
 * Spawn to first verified echo answer.
 * @param {readonly Subject[]} subjects
 * @param {Era} era
 * @param {Effort} effort
 * @param {OnFailure} onFailure
 * @returns {Promise<StartResult[]>}
 */
export async function measureStarts(subjects, era, effort, onFailure) {
  const results = subjects.map((subject) => ({
    subject,
    allMs: /** @type {number[]} */ ([]),
    failed: false,
  }));
  for (let round = 1; round <= effort.starts; round += 1) {
    for (const result of results.filter(({ failed }) => !failed)) {
      try {
        const begin = performance.now();
        const { child } = await connect(result.subject, { era, textBytes: 64 });
        result.allMs.push(performance.now() - begin);
        await child.close();
      } catch (error) {
        result.failed = true;
        onFailure(result.subject, era, /** @type {Error} */ (error));
      }
    }
  }
  return results
    .filter(({ failed }) => !failed)
    .map(({ subject, allMs }) => ({ subject: subject.name, era, medianMs: median(allMs), allMs }));
}

/**
 * All subjects in one cell.
 * @param {readonly Subject[]} subjects
 * @param {Cell} cell
 * @param {Effort} effort
 * @param {OnFailure} onFailure
 * @param {(share: number, doing: string) => void} onProgress
 * @param {typeof connect} [open] how a subject is started and reached
 * @returns {Promise<CellResult[]>}
 */
export async function measureCell(subjects, cell, effort, onFailure, onProgress, open = connect) {
  /** @type {{ subject: Subject, peer: Peer, rounds: Round[] }[]} */
  let contestants = [];
  const total = subjects.length * (effort.rounds + 2);
  let done = 0;

  for (const subject of subjects) {
    onProgress(done / total, `${subject.title}, warming up`);
    try {
      const peer = await open(subject, cell);
      contestants.push({ subject, peer, rounds: [] });
      await guarded(peer, () => warmUp(peer, cell, effort));
    } catch (error) {
      drop(subject, /** @type {Error} */ (error));
    }
    done += 2;
  }
  for (let round = 1; round <= effort.rounds; round += 1) {
    for (const { subject, peer, rounds } of contestants.slice()) {
      onProgress(done / total, `${subject.title}, round ${round} of ${effort.rounds}`);
      try {
        rounds.push(await guarded(peer, () => look(peer, cell, effort)));
      } catch (error) {
        drop(subject, /** @type {Error} */ (error));
      }
      done += 1;
    }
  }
  const results = contestants.map(({ subject, peer, rounds }) => ({
    subject: subject.name,
    ...medianRound(rounds),
    peakRssBytes: peer.child.peakRssBytes(),
    rounds,
  }));
  await Promise.all(contestants.map(({ peer }) => peer.child.close()));
  return results;

  /**
   * @param {Subject} subject
   * @param {Error} error
   */
  function drop(subject, error) {
    contestants = contestants.filter((contestant) => contestant.subject !== subject);
    onFailure(subject, cell.era, error);
  }
}

/** @typedef {{ child: import('./child.js').Child, load: import('./load.js').Load }} Peer */

/**
 * @param {Subject} subject
 * @param {{ era: Era, textBytes: number }} options
 * @returns {Promise<Peer>}
 */
async function connect(subject, options) {
  const missing = subject.missing?.();
  if (missing !== undefined) throw new Error(missing);
  const child = startNode(subject.args, ROOT);
  const peer = { child, load: createLoad(child, options) };
  child.exited.then((how) => peer.load.abort(new Error(how)));
  await guarded(peer, () => peer.load.open());
  return peer;
}

/**
 * Does something with a peer; if that fails, the process is gone and the error tells what it last said.
 * @template T
 * @param {Peer} peer
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function guarded({ child }, work) {
  try {
    return await work();
  } catch (error) {
    await child.close();
    const said = child.stderrTail();
    const tail = said === '' ? '; nothing on stderr' : `; last stderr:\n${said.replace(/^/gm, '    ')}`;
    throw new Error(`${/** @type {Error} */ (error).message}${tail}`);
  }
}

/**
 * @param {Peer} peer
 * @param {Cell} cell
 * @param {Effort} effort
 */
async function warmUp({ load }, { inFlight, textBytes }, effort) {
  const enough = textBytes > 4096 ? effort.warmUpLargeRequests : effort.warmUpRequests;
  const latest = performance.now() + effort.warmUpAtMostMs;
  let { requests } = await load.run({ inFlight, forMs: effort.warmUpMs });
  while (requests < enough && performance.now() < latest) {
    requests += (await load.run({ inFlight, forMs: effort.warmUpMs / 4 })).requests;
  }
}

/**
 * @param {Peer} peer
 * @param {Cell} cell
 * @param {Effort} effort
 * @returns {Promise<Round>}
 */
async function look({ child, load }, { inFlight }, { roundMs }) {
  await sleep(SETTLE_MS);
  const clientBefore = process.cpuUsage();
  const serverBefore = child.cpuMicros();
  const { requests, elapsedMs, p50Micros, p99Micros } = await load.run({ inFlight, forMs: roundMs });
  const client = process.cpuUsage(clientBefore);
  await sleep(SETTLE_MS);
  const serverAfter = child.cpuMicros();
  const known = serverBefore !== undefined && serverAfter !== undefined;
  return {
    requests,
    requestsPerSecond: (requests / elapsedMs) * 1000,
    serverCpuMicros: known ? (serverAfter - serverBefore) / requests : undefined,
    clientCpuMicros: (client.user + client.system) / requests,
    p50Micros,
    p99Micros,
  };
}

/**
 * @param {readonly Round[]} rounds
 * @returns {Round}
 */
function medianRound(rounds) {
  const of = (/** @type {(round: Round) => number} */ pick) => median(rounds.map(pick));
  const known = rounds.every(({ serverCpuMicros }) => serverCpuMicros !== undefined);
  return {
    requests: rounds.reduce((sum, { requests }) => sum + requests, 0),
    requestsPerSecond: of((round) => round.requestsPerSecond),
    serverCpuMicros: known ? of((round) => /** @type {number} */ (round.serverCpuMicros)) : undefined,
    clientCpuMicros: of((round) => round.clientCpuMicros),
    p50Micros: of((round) => round.p50Micros),
    p99Micros: of((round) => round.p99Micros),
  };
}

/** @param {readonly number[]} values */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
