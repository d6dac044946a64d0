import type { Clock } from '../async/clock.js';
import type { CallSemaphore } from './call-semaphore.js';
import type { HostedServerSettings } from './definition.js';
import type { FirstLists } from './first-lists.js';
import type { HostOccurrence } from './host-event.js';
import type { ProcessInstance } from './process-instance.js';
import type { Supervisor } from './supervisor.js';

/** Why a process is started. */
export type StartReason = 'use' | 'eager' | 'restart' | 'crash' | 'age';

/** What a supervisor needs of the server that its process belongs to. */
export interface SupervisorContext {
  /** The server's name. */
  readonly label: string;
  readonly settings: HostedServerSettings;
  readonly clock: Clock;
  readonly random: () => number;
  /** Places for processes: of the server, and of the whole host. */
  readonly budgets: readonly CallSemaphore[];
  /** Whose process it is, where they are not shared. */
  readonly owner: string | undefined;
  /** Whether somebody would miss the process: a conversation is open, or it is to be there always. */
  isWanted(): boolean;
  /** Starts a process and speaks to it. The number is that of the new life. */
  open(number: number, signal: AbortSignal): Promise<ProcessInstance>;
  nextNumber(): number;
  /** Told who supervises. */
  adopt(supervisor: Supervisor): void;
  onLists(generation: ProcessInstance, lists: FirstLists): void;
  emit(occurrence: HostOccurrence): void;
  /** There is no process, and none is on its way. */
  onIdle(): void;
}

/**
 * Starts a process when there is a place for it in every budget; the places are given back when nothing is left of
 * it, or when it could not be started.
 */
export async function openInPlace(
  { budgets, emit, open }: Pick<SupervisorContext, 'budgets' | 'emit' | 'open'>,
  number: number,
  why: StartReason,
  signal: AbortSignal,
): Promise<ProcessInstance> {
  const taken: CallSemaphore[] = [];
  const giveBack = () => {
    for (const budget of taken.splice(0)) budget.release();
  };
  try {
    for (const budget of budgets) {
      if (!budget.tryTake()) await budget.take(signal);
      taken.push(budget);
    }
    emit({ kind: 'start', generation: number, why });
    const generation = await open(number, signal);
    void generation.closed.then(giveBack);
    return generation;
  } catch (error) {
    giveBack();
    throw error;
  }
}
