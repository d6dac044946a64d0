import type { ProcessState } from './process-state.js';
import { UNREAD_IS_UNREADY_MS } from './reading-watch.js';
import type { ProcessStatus, ServerStatus } from './status.js';

/** The state of a server, from those of its processes. */
export function summarize(
  processes: readonly ProcessStatus[],
  about: Pick<ServerStatus, 'name' | 'enabled' | 'model' | 'conversations' | 'lastExit' | 'maxParked'> & {
    /** Calls that wait for a process. */
    readonly waiting: number;
  },
): ServerStatus {
  const { waiting, ...rest } = about;
  return {
    ...rest,
    state: about.enabled ? bestOf(processes.map((each) => each.state)) : 'stopped',
    ready: processes.some(isReady),
    inFlight: sum(processes.map((each) => each.inFlight)),
    parked: sum(processes.map((each) => each.parked)),
    queued: sum(processes.map((each) => each.queued)) + waiting,
    restarts: sum(processes.map((each) => each.restarts)),
    processes,
  };
}

function isReady({ state, receipt, unread }: ProcessStatus): boolean {
  return state === 'ready' && receipt?.complete === true && (unread?.ms ?? 0) < UNREAD_IS_UNREADY_MS;
}

function bestOf(states: readonly ProcessState[]): ProcessState {
  return ORDER.find((state) => states.includes(state)) ?? 'idle';
}

const ORDER: readonly ProcessState[] = [
  'ready',
  'starting',
  'draining',
  'backing-off',
  'crash-loop',
  'idle',
  'stopped',
];

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
