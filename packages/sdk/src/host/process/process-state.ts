/**
 * The state of a process of the host. docs/host.md has a diagram of this table.
 *
 * - `idle`: there is no process; the next use starts one.
 * - `starting`: it is being started, and has not answered yet.
 * - `ready`: it has answered.
 * - `draining`: it accepts no new calls, and is ended when its calls in flight are done.
 * - `backing-off`: it exited; a new one is started after a pause.
 * - `crash-loop`: it exited too often in a row; a person must find out why.
 * - `stopped`: the server is switched off, or the host is closed.
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
  /** A call needs it, or the pause is over. */
  | 'start'
  /** It answered `initialize` or `server/discover`. */
  | 'answered'
  /** It exited, or could not be started; a restart follows. */
  | 'failed'
  /** It exited too often. */
  | 'gave-up'
  /** It ended, or could not be started, and no restart follows. */
  | 'ended'
  /** It will be ended when its calls in flight are done. */
  | 'drain'
  /** It must not be started any more. */
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
    ended: 'idle',
    stop: 'stopped',
  },
  ready: {
    failed: 'backing-off',
    'gave-up': 'crash-loop',
    ended: 'idle',
    drain: 'draining',
    stop: 'stopped',
  },
  draining: { ended: 'idle', stop: 'stopped' },
  'backing-off': { start: 'starting', ended: 'idle', stop: 'stopped' },
  'crash-loop': { start: 'starting', ended: 'idle', stop: 'stopped' },
  stopped: {},
};

/** How a process that exited is restarted. */
export interface RestartPolicy {
  /** Restarts in a row. After them it is a crash loop. */
  readonly attempts: number;
  /** Before the first attempt; doubled before each further one. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** The share of a delay by which it varies in both directions, so that processes do not all start at once. */
  readonly jitter: number;
  /** After a process that has run this long, or has answered ten calls, the count starts again. */
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
 * How many failures in a row there are now, after a process that ran for `ranMs` and answered `served` calls. A process
 * that answered enough calls is not part of a crash loop, however short it ran: a restart serves its callers better.
 */
export function countFailure(
  policy: RestartPolicy,
  failuresBefore: number,
  { ranMs, served }: { readonly ranMs: number; readonly served: number },
): number {
  return ranMs >= policy.stableMs || served >= USEFUL_CALLS ? 1 : failuresBefore + 1;
}

/** Enough calls to tell a server that fails sometimes from one that fails on every use. */
export const USEFUL_CALLS = 10;

/** What to do after `failures` failures in a row. `random` is from 0 to 1. */
export function decideRestart(policy: RestartPolicy, failures: number, random: number): Restart {
  if (failures > policy.attempts) return { kind: 'give-up', attempts: policy.attempts };
  const even = Math.min(policy.firstDelayMs * 2 ** (failures - 1), policy.maxDelayMs);
  const delayMs = Math.round(even * (1 + policy.jitter * (2 * random - 1)));
  return { kind: 'after', delayMs: Math.min(delayMs, policy.maxDelayMs), attempt: failures };
}
