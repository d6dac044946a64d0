import type { Clock } from '../../async/clock.js';
import { type TreeFacts, treeFacts } from '../../process/process-facts.js';
import type { HostOccurrence } from '../host-event.js';
import type { ProcessInstance } from './process-instance.js';

/** Checks that a process still answers, while no call is in flight: many servers do one thing at a time. */
export interface HealthCheck {
  readonly everyMs: number;
  /** How long the process may take to answer. */
  readonly timeoutMs: number;
  /** After this time without a message the process counts as hung even if it uses the processor. */
  readonly maxSilentMs: number;
}

export const DEFAULT_HEALTH: HealthCheck = { everyMs: 30_000, timeoutMs: 10_000, maxSilentMs: 300_000 };

/** What one check has observed. */
export interface HealthObservation {
  /** A message came: a result, an error, a log line. */
  readonly heard: boolean;
  readonly before: TreeFacts | undefined;
  readonly after: TreeFacts | undefined;
  /** Time since the first request without an answer. */
  readonly silentMs: number;
  /** Time between `before` and `after`. */
  readonly watchedMs: number;
  readonly maxSilentMs: number;
}

export type Health =
  | { readonly kind: 'healthy' }
  /** It does not answer, but may still be working. */
  | { readonly kind: 'busy'; readonly why: string }
  | { readonly kind: 'hung'; readonly why: string };

/**
 * A server that does not answer may be working, and killing it would lose that work. Silence counts as hung only if the
 * operating system confirms it: the process is stopped, or hardly used the processor although it had a request.
 */
export function classifyHealth(observation: HealthObservation): Health {
  const { heard, before, after, silentMs, watchedMs, maxSilentMs } = observation;
  if (heard) return { kind: 'healthy' };
  if (!before || !after) return { kind: 'busy', why: 'the operating system has no facts about the process' };
  if (after.stopped) return { kind: 'hung', why: `it is stopped, and sent no message for ${silentMs} ms` };
  const workedMs = Math.max(0, after.cpuMs - before.cpuMs);
  const working = workedMs > watchedMs * WORKING_SHARE;
  const why = `it sent no message for ${silentMs} ms, and used the processor for ${Math.round(workedMs)} of the last ${watchedMs} ms`;
  return working && silentMs < maxSilentMs ? { kind: 'busy', why } : { kind: 'hung', why };
}

/** Timers alone use less than this share of a processor. */
const WORKING_SHARE = 0.1;

/**
 * Checks a process regularly until it ends, with a request (a list or `server/discover`; not a ping, which some correct
 * servers do not answer) and with the facts of the operating system.
 */
export function watchHealth(
  instance: ProcessInstance,
  { everyMs, timeoutMs, maxSilentMs }: HealthCheck,
  clock: Clock,
  emit: (occurrence: HostOccurrence) => void,
): void {
  let cancel = () => {};
  let over = false;
  let silentSince: number | undefined;
  void instance.ended.then(() => {
    over = true;
    cancel();
  });

  const schedule = () => {
    if (!over) cancel = clock.after(everyMs, () => void check(), { background: true });
  };

  const check = async () => {
    const { pid } = instance;
    // Silence during a call means nothing: many servers do one thing at a time.
    if (pid === undefined || instance.limiter.working > 0) return schedule();
    const began = clock.now();
    const heardBefore = instance.received;
    const before = await treeFacts(pid);
    if (!(await instance.probe(timeoutMs))) return schedule();
    const after = await treeFacts(pid);
    if (over) return;
    const heard = instance.received > heardBefore || instance.limiter.working > 0;
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
    if (health.kind !== 'hung') return schedule();
    emit({ kind: 'kill', generation: instance.number, pid, why: health.why });
    await instance.kill();
  };

  schedule();
}

/**
 * Checks until the process ends that it reads its stdin. A process that has read nothing for `maxUnreadMs` although bytes
 * wait is killed, which counts as a crash. A process that uses the processor gets five times as long. Calls in flight do
 * not matter: a process that does not read cannot answer them.
 */
export function watchReading(
  instance: ProcessInstance,
  maxUnreadMs: number,
  clock: Clock,
  emit: (occurrence: HostOccurrence) => void,
): void {
  const everyMs = Math.max(1, Math.min(CHECK_MS, maxUnreadMs / 4));
  let over = false;
  let cancel = () => {};
  let last: { readonly at: number; readonly facts: TreeFacts | undefined } | undefined;
  void instance.ended.then(() => {
    over = true;
    cancel();
  });

  const schedule = () => {
    if (!over) cancel = clock.after(everyMs, check, { background: true });
  };

  const check = () => {
    const unread = instance.unread();
    if (unread && unread.ms > 0) return void judge();
    last = undefined;
    schedule();
  };

  const judge = async () => {
    const { pid } = instance;
    const facts = pid === undefined ? undefined : await treeFacts(pid);
    const unread = instance.unread();
    if (over || !unread || pid === undefined) return schedule();
    const now = clock.now();
    const health = classifyHealth({
      heard: unread.ms < maxUnreadMs,
      before: last?.facts,
      after: facts,
      silentMs: unread.ms,
      watchedMs: now - (last?.at ?? now),
      maxSilentMs: maxUnreadMs * WORKING_FACTOR,
    });
    last = { at: now, facts };
    if (health.kind !== 'hung' && unread.ms < maxUnreadMs * WORKING_FACTOR) return schedule();
    emit({ kind: 'kill', generation: instance.number, pid, why: describeUnread(unread) });
    await instance.kill();
  };

  schedule();
}

/** What a process has not read yet. */
export interface Unread {
  readonly bytes: number;
  /** For how long it has read nothing. */
  readonly ms: number;
}

export function describeUnread({ bytes, ms }: Unread): string {
  return `it has not read its stdin for ${Math.round(ms / 1000)} s, and ${bytes} bytes wait`;
}

/** A process that has not read for this time is not ready. */
export const UNREAD_IS_UNREADY_MS = 10_000;

const CHECK_MS = 5000;
/** How many times longer a process may take that uses the processor. */
const WORKING_FACTOR = 5;
