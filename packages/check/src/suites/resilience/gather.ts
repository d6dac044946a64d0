import type { CheckContext } from '../../run/check-context.js';
import type { StreamPeer } from '../../wire/stream-peer.js';
import { membersOf } from '../../wire/transcript.js';

/** Which of many requests were answered, and how often. */
export interface Gathered {
  readonly missing: readonly string[];
  readonly twice: readonly string[];
}

/** Waits until each of the ids has been answered, the connection has ended, or nothing has come for `ms`. */
export async function gather(
  table: CheckContext,
  { transcript }: StreamPeer,
  ids: readonly string[],
  { from = 0, ms = table.patience.answerMs }: { readonly from?: number; readonly ms?: number } = {},
): Promise<Gathered> {
  const counts = new Map(ids.map((id) => [id, 0]));
  let read = from;
  const isComplete = () => {
    for (; read < transcript.frames.length; read++) {
      const frame = transcript.frames[read]!;
      const id = membersOf(frame)['id'];
      if (frame.from !== 'server' || frame.kind === 'request' || typeof id !== 'string') continue;
      const count = counts.get(id);
      if (count !== undefined) counts.set(id, count + 1);
    }
    return [...counts.values()].every((count) => count > 0);
  };
  let heard = -1;
  let heardAt = table.clock.now();
  while (!isComplete() && !transcript.hasEnded) {
    if (transcript.frames.length > heard) {
      heard = transcript.frames.length;
      heardAt = table.clock.now();
    } else if (table.clock.now() - heardAt > ms) break;
    await table.pause(LOOK_MS);
  }
  isComplete();
  return {
    missing: ids.filter((id) => counts.get(id) === 0),
    twice: ids.filter((id) => counts.get(id)! > 1),
  };
}

const LOOK_MS = 10;
