/**
 * Results of 5 MB: what one costs a bridge, beside a bare process that reads the same bytes from a pipe, joins
 * them and parses them once. One call at a time, the subjects in turn.
 */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { guarded } from '../../lib/measure.js';
import { median, medianOf } from '../../lib/statistics.js';
import { BENCHMARKS } from '../../lib/subjects.js';
import { createLargeCaller } from './large-caller.js';
import { startBridge, upstreamArgs } from './process.js';

/** @typedef {import('../../lib/subjects.js').Era} Era */
/** @typedef {import('./subjects.js').BridgeSubject} BridgeSubject */
/** @typedef {{ subject: string, title: string, cpuMicros: number | undefined, millis: number, peakRssBytes: number | undefined, rounds: Round[] }} LargeResult */
/** @typedef {{ cpuMicros: number | undefined, millis: number }} Round */

const WARM_UP_CALLS = 8;
const CALLS_A_ROUND = 2;
const SETTLE_MS = 20;

/** @type {BridgeSubject[]} */
const MEASURES = [
  measureOf('once', 'read, joined, parsed once', 'swallow'),
  measureOf('through', 'the same and passed on', 'forward'),
];

/**
 * @param {readonly BridgeSubject[]} subjects
 * @param {Era} era
 * @param {number} rounds
 * @param {import('./memory.js').Failed} failed
 * @param {(share: number, doing: string) => void} onProgress
 * @returns {Promise<LargeResult[]>}
 */
export async function measureLarge(subjects, era, rounds, failed, onProgress) {
  const bridges = subjects.filter(({ bridges, spawns }) => bridges && !spawns.includes(era));
  let contestants = [];
  for (const subject of [...MEASURES, ...bridges]) {
    onProgress(0, `${subject.title}, warming up`);
    try {
      const { child, port } = await startBridge(subject, upstreamArgs('modern'));
      const call = createLargeCaller(port, era, {
        opens: subject.bridges,
        isChecked: subject.name !== 'once',
      });
      await guarded(/** @type {any} */ ({ child }), async () => {
        await call.open();
        for (let i = 0; i < WARM_UP_CALLS; i += 1) await call();
      });
      contestants.push({ subject, child, call, rounds: /** @type {Round[]} */ ([]) });
    } catch (error) {
      failed(subject, `${era}, 5 MB`).by(/** @type {Error} */ (error));
    }
  }
  for (let round = 1; round <= rounds; round += 1) {
    for (const contestant of contestants.slice()) {
      onProgress(round / rounds, `${contestant.subject.title}, round ${round} of ${rounds}`);
      try {
        contestant.rounds.push(await guarded(/** @type {any} */ (contestant), () => look(contestant)));
      } catch (error) {
        contestants = contestants.filter((other) => other !== contestant);
        failed(contestant.subject, `${era}, 5 MB`).by(/** @type {Error} */ (error));
      }
    }
  }
  const results = contestants.map(({ subject, child, rounds }) => {
    return {
      subject: subject.name,
      title: subject.title,
      cpuMicros: medianOf(rounds, ({ cpuMicros }) => cpuMicros),
      millis: median(rounds.map(({ millis }) => millis)),
      peakRssBytes: child.peakRssBytes(),
      rounds,
    };
  });
  for (const { call } of contestants) call.close();
  await Promise.all(contestants.map(({ child }) => child.close()));
  return results;
}

/**
 * @param {{ child: import('../../lib/child.js').Child, call: ReturnType<typeof createLargeCaller> }} contestant
 * @returns {Promise<Round>}
 */
async function look({ child, call }) {
  await sleep(SETTLE_MS);
  const before = child.cpuMicros();
  let millis = 0;
  for (let i = 0; i < CALLS_A_ROUND; i += 1) millis += await call();
  await sleep(SETTLE_MS);
  const after = child.cpuMicros();
  return {
    cpuMicros: before === undefined || after === undefined ? undefined : (after - before) / CALLS_A_ROUND,
    millis: millis / CALLS_A_ROUND,
  };
}

/**
 * @param {string} name
 * @param {string} title
 * @param {'swallow' | 'forward'} mode
 * @returns {BridgeSubject}
 */
function measureOf(name, title, mode) {
  return {
    name,
    title,
    args: [],
    eras: ['modern', 'legacy'],
    rival: false,
    reach: 'stdout',
    bridges: false,
    translates: false,
    spawns: [],
    argsFor: (upstream) => [join(BENCHMARKS, 'subjects', 'bare-copy.js'), mode, ...upstream],
  };
}
