/**
 * Where a process of the host is in its life. docs/host.md has the picture of this table.
 *
 * - `idle`: there is none; the next use starts one.
 * - `starting`: it is being started and spoken to for the first time.
 * - `ready`: it has answered.
 * - `draining`: it takes no new calls and is ended when those in flight are done.
 * - `backing-off`: it ended; another one is started when the pause is over.
 * - `crash-loop`: it ended too often in a row; somebody has to look.
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
  /** It ended, or could not be started, and nobody waits for another. */
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
