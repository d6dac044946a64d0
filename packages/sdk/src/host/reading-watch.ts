import type { Clock } from '../async/clock.js';
import { type TreeFacts, treeFacts } from '../process/process-facts.js';
import { classifyHealth } from './health.js';
import type { HostOccurrence } from './host-event.js';
import type { ProcessInstance } from './process-instance.js';

/**
 * Looks whether a process still reads what it is sent, until it ends. One that has read nothing for `maxUnreadMs`
 * although something waits is killed, which is then a crash like any other; one that is at work gets five times as
 * long. Calls in flight do not save it: they cannot be answered by a process that does not read.
 */
export function watchReading(
  generation: ProcessInstance,
  maxUnreadMs: number,
  clock: Clock,
  emit: (occurrence: HostOccurrence) => void,
): void {
  const everyMs = Math.max(1, Math.min(LOOK_MS, maxUnreadMs / 4));
  let over = false;
  let callOff = () => {};
  let last: { readonly at: number; readonly facts: TreeFacts | undefined } | undefined;
  void generation.ended.then(() => {
    over = true;
    callOff();
  });

  const later = () => {
    if (!over) callOff = clock.after(everyMs, look, { background: true });
  };

  const look = () => {
    const unread = generation.unread();
    if (unread && unread.ms > 0) return void judge();
    last = undefined;
    later();
  };

  const judge = async () => {
    const { pid } = generation;
    const facts = pid === undefined ? undefined : await treeFacts(pid);
    const unread = generation.unread();
    if (over || !unread || pid === undefined) return later();
    const now = clock.now();
    const health = classifyHealth({
      heard: unread.ms < maxUnreadMs,
      before: last?.facts,
      after: facts,
      silentMs: unread.ms,
      watchedMs: now - (last?.at ?? now),
      maxSilentMs: maxUnreadMs * AT_WORK,
    });
    last = { at: now, facts };
    if (health.kind !== 'hung' && unread.ms < maxUnreadMs * AT_WORK) return later();
    emit({ kind: 'kill', generation: generation.number, pid, why: describeUnread(unread) });
    await generation.kill();
  };

  later();
}

/** What a process has yet to read. */
export interface Unread {
  readonly bytes: number;
  /** How long it has read nothing. */
  readonly ms: number;
}

export function describeUnread({ bytes, ms }: Unread): string {
  return `it has not read its stdin for ${Math.round(ms / 1000)} s, and ${bytes} bytes wait`;
}

/** From here on a process that does not read is not ready. */
export const UNREAD_IS_UNREADY_MS = 10_000;

const LOOK_MS = 5000;
/** How much longer a process may take that uses its processor. */
const AT_WORK = 5;
