import type { Clock } from '../../async/clock.js';
import { type TreeFacts, treeFacts } from '../../process/process-facts.js';
import type { HostOccurrence } from '../host-event.js';
import type { ProcessInstance } from './process-instance.js';

/** Looks whether a process still answers. Only when no call is in flight: a server may do one thing at a time. */
export interface HealthCheck {
  readonly everyMs: number;
  /** How long it may take to answer. */
  readonly timeoutMs: number;
  /** Silent for this long it counts as hung even though it is at work. */
  readonly maxSilentMs: number;
}

export const DEFAULT_HEALTH: HealthCheck = { everyMs: 30_000, timeoutMs: 10_000, maxSilentMs: 300_000 };

/** What one look has brought. */
export interface HealthLook {
  /** Anything at all came: an answer, an error, a log line. */
  readonly heard: boolean;
  readonly before: TreeFacts | undefined;
  readonly after: TreeFacts | undefined;
  /** Since the first request that was not answered. */
  readonly silentMs: number;
  /** How much of this it was watched for with `before` and `after`. */
  readonly watchedMs: number;
  readonly maxSilentMs: number;
}

export type Health =
  | { readonly kind: 'healthy' }
  /** It does not answer, but there is no proof that it never will. */
  | { readonly kind: 'busy'; readonly why: string }
  | { readonly kind: 'hung'; readonly why: string };

/**
 * A server that does not answer may be at work, and killing it would make things worse. Only what the system says
 * about the process makes silence a verdict: it was stopped, or it has not used its processor at all, although
 * there was a request to answer.
 */
export function classifyHealth(look: HealthLook): Health {
  const { heard, before, after, silentMs, watchedMs, maxSilentMs } = look;
  if (heard) return { kind: 'healthy' };
  if (!before || !after) return { kind: 'busy', why: 'the system tells nothing about the process' };
  if (after.stopped) return { kind: 'hung', why: `it is stopped, and silent for ${silentMs} ms` };
  const workedMs = Math.max(0, after.cpuMs - before.cpuMs);
  const working = workedMs > watchedMs * WORKING_SHARE;
  const why = `it is silent for ${silentMs} ms, and worked for ${Math.round(workedMs)} of the last ${watchedMs} ms`;
  return working && silentMs < maxSilentMs ? { kind: 'busy', why } : { kind: 'hung', why };
}

/** Less than this of its time on a processor is the ticking of timers. */
const WORKING_SHARE = 0.1;

/**
 * Looks after one life of a process until it ends. A request is its question (a list, or the discovery: never a
 * ping, which sound servers leave unanswered), and what the system says about the process decides.
 */
export function watchHealth(
  generation: ProcessInstance,
  { everyMs, timeoutMs, maxSilentMs }: HealthCheck,
  clock: Clock,
  emit: (occurrence: HostOccurrence) => void,
): void {
  let callOff = () => {};
  let over = false;
  let silentSince: number | undefined;
  void generation.ended.then(() => {
    over = true;
    callOff();
  });

  const later = () => {
    if (!over) callOff = clock.after(everyMs, () => void look(), { background: true });
  };

  const look = async () => {
    const { pid } = generation;
    // With a call in flight silence means nothing: many servers do one thing at a time.
    if (pid === undefined || generation.working > 0) return later();
    const began = clock.now();
    const heardBefore = generation.heard;
    const before = await treeFacts(pid);
    if (!(await generation.knock(timeoutMs))) return later();
    const after = await treeFacts(pid);
    if (over) return;
    const heard = generation.heard > heardBefore || generation.working > 0;
    silentSince = heard ? undefined : (silentSince ?? began);
    const now = clock.now();
    const health = classifyHealth({
      heard,
      before,
      after,
      silentMs: now - (silentSince ?? now),
      watchedMs: now - began,
      maxSilentMs,
    });
    if (health.kind !== 'hung') return later();
    emit({ kind: 'kill', generation: generation.number, pid, why: health.why });
    await generation.kill();
  };

  later();
}

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
