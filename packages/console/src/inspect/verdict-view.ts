import type { EraVerdict } from '@isthmus/sdk/internal/era/client/era-verdict.js';
import type { VerdictView } from '../contract.js';
import { type FrameRing, type KeptFrame, KINDS } from '../frames/ring.js';

/** The verdict with the frames that show each step. `frames`: those of the attempt to connect, in order. */
export function viewVerdict(verdict: EraVerdict, ring: FrameRing, frames: readonly KeptFrame[]): VerdictView {
  const { era, revision, why, evidence, supported, source, ms } = verdict;
  const discovers = exchanges(ring, frames, 'server/discover');
  const handshakes = exchanges(ring, frames, 'initialize');
  const steps = evidence.map((say) => {
    if (say.includes('server/discover')) return { say, frames: discovers.shift() ?? [] };
    return { say, frames: say.includes('initialize') && handshakes.length > 1 ? handshakes.shift()! : [] };
  });
  const [agreed] = handshakes;
  if (agreed) {
    const ready = frames.find((frame) => ring.names.textOf(frame.method) === 'notifications/initialized');
    const say = `initialize was answered; both agreed on ${revision}`;
    steps.push({ say, frames: ready ? [...agreed, ready.seq] : agreed });
  }
  return { era, revision, why, steps, source, ms, ...(supported && { supported }) };
}

/** The requests with this method, each with its answer. */
function exchanges(ring: FrameRing, frames: readonly KeptFrame[], method: string): number[][] {
  return frames
    .filter((frame) => KINDS[frame.kind] === 'request' && ring.names.textOf(frame.method) === method)
    .map(({ seq, answeredBy }) => (answeredBy === 0 ? [seq] : [seq, answeredBy]));
}
