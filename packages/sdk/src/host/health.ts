import type { TreeFacts } from '../process/process-facts.js';

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
