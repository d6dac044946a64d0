import type { EraVerdict } from '../client/negotiation/negotiated-connection.js';
import type { ProcessModel } from '../config/server-spec.js';
import type { TreeFacts } from '../process/process-facts.js';
import { UNREAD_IS_UNREADY_MS, type Unread } from './process/health.js';
import type { ProcessState } from './process/process-state.js';

export interface HostStatus {
  readonly servers: Readonly<Record<string, ServerStatus>>;
  /** Living processes of all servers. */
  readonly processes: number;
  readonly maxProcesses: number;
}

export interface ServerStatus {
  readonly name: string;
  readonly enabled: boolean;
  /** Of the process that is best off. */
  readonly state: ProcessState;
  /** Whether a process of the current generation has answered, with its first list, and still reads. */
  readonly ready: boolean;
  readonly model: ProcessModel;
  readonly conversations: number;
  /** Calls that have begun, those that wait for a person included. */
  readonly inFlight: number;
  /** Calls that wait for a person to answer a question. */
  readonly parked: number;
  /** How many of them there may be in one process. */
  readonly maxParked: number;
  readonly queued: number;
  readonly restarts: number;
  readonly processes: readonly ProcessStatus[];
  readonly lastExit: LastExit | undefined;
}

export interface ProcessStatus {
  readonly state: ProcessState;
  /** Counts the lives of the server's processes, from 1. */
  readonly generation: number;
  readonly pid: number | undefined;
  /** Whose it is, where processes are not shared: a principal or a conversation. */
  readonly owner: string | undefined;
  readonly era: 'legacy' | 'modern' | undefined;
  readonly verdict: EraVerdict | undefined;
  readonly uptimeMs: number | undefined;
  readonly restarts: number;
  readonly inFlight: number;
  readonly parked: number;
  readonly queued: number;
  readonly receipt: Receipt | undefined;
  /** What was sent to it and it has yet to read; for how long it has read nothing. */
  readonly unread: Unread | undefined;
  readonly lastExit: LastExit | undefined;
  /** Whether the last attempt to start it failed; false again when it has answered or was restarted by hand. */
  readonly startFailed: boolean;
  /** When the next attempt is made, while backing off. */
  readonly nextAttemptAt: number | undefined;
  /** What the system says about it, where it tells. */
  readonly facts: TreeFacts | undefined;
}

/** The proof that this very process has answered. */
export interface Receipt {
  readonly generation: number;
  readonly pid: number | undefined;
  readonly handshake: 'server/discover' | 'initialize';
  readonly handshakeAt: number;
  /** The first list, once it has come; a server without any needs none. */
  readonly list: { readonly method: string; readonly items: number; readonly at: number } | undefined;
  /** Why the first list did not come. */
  readonly listError: string | undefined;
  readonly complete: boolean;
}

export interface LastExit {
  readonly at: number;
  readonly generation: number;
  /** Whether it ended while it was being started, or later. */
  readonly phase: 'start' | 'run';
  readonly reason: string;
  readonly stderrTail: string;
}

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
