import type { ProcessModel } from '../config/server-spec.js';
import type { EraVerdict } from '../era/client/era-verdict.js';
import type { TreeFacts } from '../process/process-facts.js';
import { UNREAD_IS_UNREADY_MS, type Unread } from './process/health.js';
import type { ProcessInstance } from './process/process-instance.js';
import type { ProcessState } from './process/process-state.js';

/** The state of a host and of all its servers. */
export interface HostStatus {
  readonly servers: Readonly<Record<string, ServerStatus>>;
  /** Living processes of all servers. */
  readonly processes: number;
  readonly maxProcesses: number;
}

/** The state of one server of a host. */
export interface ServerStatus {
  readonly name: string;
  readonly enabled: boolean;
  /** The best state of all its processes. */
  readonly state: ProcessState;
  /** Whether a process is ready, has answered its first list, and reads its stdin. */
  readonly ready: boolean;
  readonly model: ProcessModel;
  readonly conversations: number;
  /** Calls that have begun, including those that wait for a person. */
  readonly inFlight: number;
  /** Calls that wait for a person to answer a question. */
  readonly parked: number;
  /** The limit of `parked` in one process. */
  readonly maxParked: number;
  readonly queued: number;
  readonly restarts: number;
  readonly processes: readonly ProcessStatus[];
  readonly lastExit: LastExit | undefined;
}

/** The state of one process. */
export interface ProcessStatus {
  readonly state: ProcessState;
  /** The number of this start among all starts of the server's processes, from 1. */
  readonly generation: number;
  readonly pid: number | undefined;
  /** The principal or conversation that the process is for. Undefined: processes are shared. */
  readonly owner: string | undefined;
  readonly era: 'legacy' | 'modern' | undefined;
  readonly verdict: EraVerdict | undefined;
  readonly uptimeMs: number | undefined;
  /** The starts after the first one, whether they succeeded or not. */
  readonly restarts: number;
  readonly inFlight: number;
  readonly parked: number;
  readonly queued: number;
  readonly receipt: Receipt | undefined;
  /** Lines on its stdout that are not messages, for example banners and logs. */
  readonly noise: number;
  /** What was sent and not read yet, and for how long the process has read nothing. */
  readonly unread: Unread | undefined;
  readonly lastExit: LastExit | undefined;
  /** Whether the last start failed. False again after an answer or a requested restart. */
  readonly startFailed: boolean;
  /** When the next start is due, while backing off. */
  readonly nextAttemptAt: number | undefined;
  /** What the operating system reports about the process, if it does. */
  readonly facts: TreeFacts | undefined;
}

/** The proof that this process, and not an earlier one, has answered. */
export interface Receipt {
  readonly generation: number;
  readonly pid: number | undefined;
  readonly handshake: 'server/discover' | 'initialize';
  readonly handshakeAt: number;
  /** The first list. Undefined before it came, and for a server without lists. */
  readonly list: { readonly method: string; readonly items: number; readonly at: number } | undefined;
  /** Why the first list failed. */
  readonly listError: string | undefined;
  readonly complete: boolean;
}

/** How the last process of a server ended. */
export interface LastExit {
  readonly at: number;
  readonly generation: number;
  /** Whether it exited while it was being started, or later. */
  readonly phase: 'start' | 'run';
  readonly reason: string;
  readonly stderrTail: string;
}

/** The status of a process, and of its current instance if there is one. Without `facts`: they take time to read. */
export function describeProcess(
  instance: ProcessInstance | undefined,
  about: Pick<
    ProcessStatus,
    'state' | 'generation' | 'pid' | 'owner' | 'restarts' | 'lastExit' | 'startFailed' | 'nextAttemptAt'
  >,
): ProcessStatus {
  return {
    state: about.state,
    generation: instance?.number ?? about.generation,
    pid: instance?.pid ?? about.pid,
    owner: about.owner,
    era: instance?.verdict.era,
    verdict: instance?.verdict,
    uptimeMs: instance && instance.clock.now() - instance.startedAt,
    restarts: about.restarts,
    inFlight: instance?.limiter.inFlight ?? 0,
    parked: instance?.limiter.parked ?? 0,
    queued: instance?.limiter.queued ?? 0,
    receipt: instance?.receipt,
    noise: instance?.noise ?? 0,
    unread: instance?.unread(),
    lastExit: about.lastExit,
    startFailed: about.startFailed,
    nextAttemptAt: about.nextAttemptAt,
    facts: undefined,
  };
}

/** The status of a server, from those of its processes. */
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
