/**
 * Where a process of the host is in its life. docs/host.md has the picture of this table.
 *
 * - `idle`: there is none; the next use starts one.
 * - `starting`: it is being started and spoken to for the first time.
 * - `ready`: it has answered.
 * - `draining`: it takes no new calls and is ended when those in flight are done.
 * - `backing-off`: it ended; another one is started when the pause is over.
 * - `crash-loop`: it ended too often in a row; a person must find out why.
 * - `stopped`: switched off, or the host is closed.
 */
export type ProcessState =
  | 'idle'
  | 'starting'
  | 'ready'
  | 'draining'
  | 'backing-off'
  | 'crash-loop'
  | 'stopped';

export type ProcessEvent =
  /** Somebody needs it, or the pause is over. */
  | 'start'
  /** The handshake, or the discovery, was answered. */
  | 'answered'
  /** It ended, or could not be started; it is to be tried again. */
  | 'failed'
  /** It ended too often. */
  | 'gave-up'
  /** It ended, or could not be started, and no call waits for another one. */
  | 'rested'
  /** It is to be ended in good order. */
  | 'drain'
  /** Switched off for good. */
  | 'stop';

/** The state after an event; undefined for an event that has no meaning in this state. */
export function nextState(state: ProcessState, event: ProcessEvent): ProcessState | undefined {
  return TABLE[state][event];
}

const TABLE: Readonly<Record<ProcessState, Readonly<Partial<Record<ProcessEvent, ProcessState>>>>> = {
  idle: { start: 'starting', stop: 'stopped' },
  starting: {
    answered: 'ready',
    failed: 'backing-off',
    'gave-up': 'crash-loop',
    rested: 'idle',
    stop: 'stopped',
  },
  ready: {
    failed: 'backing-off',
    'gave-up': 'crash-loop',
    rested: 'idle',
    drain: 'draining',
    stop: 'stopped',
  },
  draining: { rested: 'idle', stop: 'stopped' },
  'backing-off': { start: 'starting', rested: 'idle', stop: 'stopped' },
  'crash-loop': { start: 'starting', rested: 'idle', stop: 'stopped' },
  stopped: {},
};

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
