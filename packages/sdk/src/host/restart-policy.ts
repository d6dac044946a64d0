/** How a process that ended is started again. */
export interface RestartPolicy {
  /** How many times in a row; then it is a crash loop. */
  readonly attempts: number;
  /** Before the first attempt; doubled before each further one. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** By how much of itself a delay may differ either way, so that many do not start at the same moment. */
  readonly jitter: number;
  /** After a process that has run this long, or has answered ten calls, the count begins anew. */
  readonly stableMs: number;
}

export const DEFAULT_RESTART: RestartPolicy = {
  attempts: 5,
  firstDelayMs: 1000,
  maxDelayMs: 30_000,
  jitter: 0.2,
  stableMs: 5 * 60_000,
};

export type Restart =
  | { readonly kind: 'after'; readonly delayMs: number; readonly attempt: number }
  | { readonly kind: 'give-up'; readonly attempts: number };

/**
 * How many failures in a row there are now, after a life of `ranMs` with `served` answered calls. A process that was
 * of use is not part of a loop, however short its life was: its callers are better off with the next one.
 */
export function countFailure(
  policy: RestartPolicy,
  failuresBefore: number,
  { ranMs, served }: { readonly ranMs: number; readonly served: number },
): number {
  return ranMs >= policy.stableMs || served >= USEFUL_CALLS ? 1 : failuresBefore + 1;
}

/** Enough to tell a server that fails now and then from one that fails as soon as it is used. */
export const USEFUL_CALLS = 10;

/** What to do about the latest of `failures` in a row. `random` is from 0 to 1. */
export function decideRestart(policy: RestartPolicy, failures: number, random: number): Restart {
  if (failures > policy.attempts) return { kind: 'give-up', attempts: policy.attempts };
  const even = Math.min(policy.firstDelayMs * 2 ** (failures - 1), policy.maxDelayMs);
  const delayMs = Math.round(even * (1 + policy.jitter * (2 * random - 1)));
  return { kind: 'after', delayMs: Math.min(delayMs, policy.maxDelayMs), attempt: failures };
}
