/**
 * The measurement itself: fresh processes for every cell, all subjects alive at once, and rounds that go
 * through all of them in turn, so that a noisy second hits all of them and not one.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { startNode } from './child.js';
import { createLoad } from './load.js';
import { median, medianOf } from './statistics.js';
import { ROOT } from './subjects.js';

/** @typedef {import('./subjects.js').Subject} Subject */
/** @typedef {import('./subjects.js').Era} Era */
/** @typedef {{ era: Era, textBytes: number, inFlight: number }} Cell */

/**
 * @typedef {object} Effort how long to look
 * @property {number} warmUpMs at least this long
 * @property {number} warmUpRequests and at least so many, for a slow subject must be compiled as well as a fast one
 * @property {number} [warmUpLargeRequests] the same for large texts, where each request does more
 * @property {number} rounds
 * @property {number} roundMs
 * @property {number} [coldRounds] fresh processes per subject for the cold figure
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

/**
 * @typedef {Round & { subject: string, warmUpRequests: number, peakRssBytes: number | undefined, rounds: Round[] }} CellResult
 */
/** @typedef {{ subject: string, serverCpuMicros: number | undefined, rounds: Round[] }} ColdResult */

/**
 * Reports failures of one subject. After a failure the subject is left out of that era.
 * @typedef {(subject: Subject, era: Era, error: Error) => void} OnFailure
 */

// The last answer is out, but the server may still be busy with what follows its write.
const SETTLE_MS = 3;

/** A warm figure of small texts never has less than this before it. */
export const WARM_UP_AT_LEAST = 5000;
/** The calls of a cold figure. */
export const COLD_CALLS = 2000;
/** Compilation and garbage collection on other threads go on for a while after the last answer. */
const COLD_SETTLE_MS = 20;
/** No warm-up takes longer; a subject that is slower than that fails. */
const WARM_UP_AT_MOST_MS = 120_000;

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
  /** @type {{ subject: Subject, peer: Peer, warmUpRequests: number, rounds: Round[] }[]} */
  let contestants = [];
  const total = subjects.length * (effort.rounds + 2);
  let done = 0;

  for (const subject of subjects) {
    onProgress(done / total, `${subject.title}, warming up`);
    try {
      const peer = await open(subject, cell);
      const warmUpRequests = await guarded(peer, () => warmUp(peer, cell, effort));
      contestants.push({ subject, peer, warmUpRequests, rounds: [] });
    } catch (error) {
      drop(subject, /** @type {Error} */ (error));
    }
    done += 2;
  }
  for (let round = 1; round <= effort.rounds; round += 1) {
    for (const { subject, peer, rounds } of startingAt(contestants, round)) {
      onProgress(done / total, `${subject.title}, round ${round} of ${effort.rounds}`);
      try {
        const plan = { inFlight: cell.inFlight, forMs: effort.roundMs };
        rounds.push(await guarded(peer, () => look(peer, plan, SETTLE_MS)));
      } catch (error) {
        drop(subject, /** @type {Error} */ (error));
      }
      done += 1;
    }
  }
  const results = contestants.map(({ subject, peer, warmUpRequests, rounds }) => ({
    subject: subject.name,
    warmUpRequests,
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

/**
 * Each round begins with another subject: the place in the order counts for more than the difference between subjects on
 * a busy machine.
 * @template T
 * @param {readonly T[]} subjects
 * @param {number} round
 * @returns {readonly T[]}
 */
function startingAt(subjects, round) {
  const first = round % Math.max(1, subjects.length);
  return [...subjects.slice(first), ...subjects.slice(0, first)];
}

/**
 * The first 2,000 calls of a fresh process, after the one that shows that it has started. One process at a time; the
 * subjects take turns.
 * @param {readonly Subject[]} subjects
 * @param {Cell} cell
 * @param {number} rounds
 * @param {OnFailure} onFailure
 * @param {(share: number, doing: string) => void} onProgress
 * @param {typeof connect} [open]
 * @returns {Promise<ColdResult[]>}
 */
export async function measureCold(subjects, cell, rounds, onFailure, onProgress, open = connect) {
  let contestants = subjects.map((subject) => ({ subject, rounds: /** @type {Round[]} */ ([]) }));
  for (let round = 1; round <= rounds; round += 1) {
    for (const contestant of startingAt(contestants, round)) {
      const { subject } = contestant;
      onProgress((round - 1) / rounds, `${subject.title}, fresh process ${round} of ${rounds}`);
      try {
        const peer = await open(subject, cell);
        const plan = { inFlight: cell.inFlight, calls: COLD_CALLS };
        contestant.rounds.push(await guarded(peer, () => look(peer, plan, COLD_SETTLE_MS)));
        await peer.child.close();
      } catch (error) {
        contestants = contestants.filter((other) => other !== contestant);
        onFailure(subject, cell.era, /** @type {Error} */ (error));
      }
    }
  }
  return contestants.map(({ subject, rounds }) => ({
    subject: subject.name,
    serverCpuMicros: medianOf(rounds, ({ serverCpuMicros }) => serverCpuMicros),
    rounds,
  }));
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
 * @returns {Promise<number>} the calls that it made
 */
async function warmUp({ load }, { inFlight, textBytes }, effort) {
  const { warmUpLargeRequests = effort.warmUpRequests } = effort;
  const enough = textBytes > 4096 ? warmUpLargeRequests : effort.warmUpRequests;
  const latest = performance.now() + WARM_UP_AT_MOST_MS;
  let { requests } = await load.run({ inFlight, forMs: effort.warmUpMs });
  while (requests < enough) {
    if (performance.now() > latest)
      throw new Error(`only ${requests} of ${enough} calls of the warm-up in 2 minutes`);
    requests += (await load.run({ inFlight, forMs: effort.warmUpMs / 4 })).requests;
  }
  return requests;
}

/**
 * @param {Peer} peer
 * @param {import('./load.js').Plan} plan
 * @param {number} settleMs
 * @returns {Promise<Round>}
 */
async function look({ child, load }, plan, settleMs) {
  await sleep(settleMs);
  const clientBefore = process.cpuUsage();
  const serverBefore = child.cpuMicros();
  const { requests, elapsedMs, p50Micros, p99Micros } = await load.run(plan);
  const client = process.cpuUsage(clientBefore);
  await sleep(settleMs);
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
  return {
    requests: rounds.reduce((sum, { requests }) => sum + requests, 0),
    requestsPerSecond: of((round) => round.requestsPerSecond),
    serverCpuMicros: medianOf(rounds, ({ serverCpuMicros }) => serverCpuMicros),
    clientCpuMicros: of((round) => round.clientCpuMicros),
    p50Micros: of((round) => round.p50Micros),
    p99Micros: of((round) => round.p99Micros),
  };
}
