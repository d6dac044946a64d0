import type { Clock } from '../../async/clock.js';
import type { HostedServerSettings } from '../definition.js';
import type { HostOccurrence } from '../host-event.js';
import type { CallSemaphore } from './call-semaphore.js';
import type { FirstLists } from './first-lists.js';
import type { ProcessInstance } from './process-instance.js';

/** Why a process is started. */
export type StartReason = 'use' | 'eager' | 'restart' | 'crash' | 'age';

/** What a supervisor needs of the server that its process belongs to. */
export interface SupervisorContext {
  /** The server's name. */
  readonly label: string;
  readonly settings: HostedServerSettings;
  readonly clock: Clock;
  readonly random: () => number;
  /** A process needs a slot of each: of the server, and of the whole host. */
  readonly processSlots: readonly CallSemaphore[];
  /** The conversation or principal that the process is for. Undefined: processes are shared. */
  readonly owner: string | undefined;
  /** Whether the process is needed: a conversation is open, or the server is `eager`. */
  isWanted(): boolean;
  /** Starts a process and negotiates with it. When that fails, nothing is left of the process. */
  open(opening: ProcessOpening): Promise<ProcessInstance>;
  nextNumber(): number;
  onLists(instance: ProcessInstance, lists: FirstLists): void;
  emit(occurrence: HostOccurrence): void;
  /** There is no process, and none is being started. */
  onIdle(): void;
}

/** What a supervisor tells, and wants to know, about a process that it starts. */
export interface ProcessOpening {
  /** The number of the new instance. */
  readonly number: number;
  readonly signal: AbortSignal;
  /** The process exists, and has not answered yet. */
  onStarted(pid: number | undefined): void;
  /** The last call or subscription of the process has ended. */
  onIdle(instance: ProcessInstance): void;
}

/**
 * Starts a process when every semaphore has a slot for it. The slots are released when nothing is left of the process,
 * or when it could not be started.
 */
export async function openWithSlots(
  { processSlots, emit, open }: Pick<SupervisorContext, 'processSlots' | 'emit' | 'open'>,
  why: StartReason,
  opening: ProcessOpening,
): Promise<ProcessInstance> {
  const { number, signal } = opening;
  const taken: CallSemaphore[] = [];
  const release = () => {
    for (const semaphore of taken.splice(0)) semaphore.release();
  };
  try {
    for (const semaphore of processSlots) {
      if (!semaphore.tryTake()) await semaphore.take(signal);
      taken.push(semaphore);
    }
    emit({ kind: 'start', generation: number, why });
    const instance = await open(opening);
    void instance.closed.then(release);
    return instance;
  } catch (error) {
    release();
    throw error;
  }
}
