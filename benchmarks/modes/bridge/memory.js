/** The memory of a bridge over many calls: what it holds after its warm-up and at the end. */

import { guarded } from '../../lib/measure.js';
import { connectThrough } from './process.js';

/** @typedef {import('../../lib/subjects.js').Era} Era */
/** @typedef {import('./subjects.js').BridgeSubject} BridgeSubject */
/** @typedef {{ calls: number, rssBytes: number | undefined }} Sample */
/** @typedef {{ subject: string, era: Era, samples: Sample[] }} MemoryResult */
/** @typedef {(subject: BridgeSubject, where: string) => { by: (error: Error) => void }} Failed */

const CONNECTIONS = 32;
const WINDOW_MS = 200;
const SAMPLES = 15;

/**
 * Only isthmus: the others would take minutes for as many calls.
 * @param {readonly BridgeSubject[]} subjects
 * @param {Era} era
 * @param {{ warmUp: number, total: number }} calls
 * @param {Failed} failed
 * @param {(share: number, doing: string) => void} onProgress
 * @returns {Promise<MemoryResult[]>}
 */
export async function measureMemory(subjects, era, { warmUp, total }, failed, onProgress) {
  const isthmus = subjects.find(({ name }) => name === 'isthmus');
  if (isthmus === undefined) return [];
  try {
    const cell = { era, upstream: /** @type {Era} */ ('modern'), textBytes: 64, inFlight: CONNECTIONS };
    const peer = await connectThrough(isthmus, cell);
    const samples = await guarded(peer, async () => {
      /** @type {Sample[]} */
      const taken = [];
      let calls = 0;
      for (let step = 0; step <= SAMPLES; step += 1) {
        const until = warmUp + ((total - warmUp) / SAMPLES) * step;
        while (calls < until) {
          calls += (await peer.load.run({ inFlight: CONNECTIONS, forMs: WINDOW_MS })).requests;
          onProgress(calls / total, `${calls} calls`);
        }
        taken.push({ calls, rssBytes: peer.child.rssBytes() });
      }
      return taken;
    });
    await peer.child.close();
    return [{ subject: isthmus.name, era, samples }];
  } catch (error) {
    failed(isthmus, `${era}, memory`).by(/** @type {Error} */ (error));
    return [];
  }
}
