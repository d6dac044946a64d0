import type { Clock } from '../../async/clock.js';
import { IsthmusError } from '../../errors.js';
import type { HostedServerSettings } from '../definition.js';
import type { HostOccurrence } from '../host-event.js';
import type { LastExit } from '../status.js';
import type { CallSemaphore } from './call-semaphore.js';
import type { FirstLists } from './first-lists.js';
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
  /** Whether the process is needed: a conversation is open, or the server is `eager`. */
  isWanted(): boolean;
  /** Starts a process and speaks to it. The number is that of the new life. */
  open(number: number, signal: AbortSignal): Promise<ProcessInstance>;
  nextNumber(): number;
  /** Told who supervises. */
  adopt(supervisor: Supervisor): void;
  onLists(generation: ProcessInstance, lists: FirstLists): void;
  emit(occurrence: HostOccurrence): void;
  /** There is no process, and none is being started. */
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

/** How the processes of one supervisor have ended, and those that are on their way out. */
export class Exits {
  readonly #clock: Clock;
  readonly #emit: (occurrence: HostOccurrence) => void;
  readonly #leaving = new Map<ProcessInstance, Promise<void>>();
  /** The last exit that was not requested. */
  last: LastExit | undefined;
  lastError: IsthmusError | undefined;

  constructor(clock: Clock, emit: (occurrence: HostOccurrence) => void) {
    this.#clock = clock;
    this.#emit = emit;
  }

  /** A process ended by itself, or could not be started. */
  record(error: IsthmusError, phase: 'start' | 'run', generation: number, pid: number | undefined): void {
    const reason = error.message;
    this.#emit({ kind: 'exit', generation, pid, phase, expected: false, reason });
    this.last = { at: this.#clock.now(), generation, phase, reason, stderrTail: error.stderrTail ?? '' };
    this.lastError = error;
  }

  /** Sees a retired process out: what is in flight may take `drainMs`. */
  async leave(generation: ProcessInstance, drainMs: number): Promise<void> {
    const leaving = this.#seeOut(generation, drainMs);
    this.#leaving.set(generation, leaving);
    await leaving;
    this.#leaving.delete(generation);
  }

  /** Some may be on their way out with more time than there is now. */
  hurry(drainMs: number): void {
    for (const generation of this.#leaving.keys()) void generation.drain(drainMs);
  }

  /** Settles when all that were leaving have left. */
  async done(): Promise<void> {
    await Promise.all(this.#leaving.values());
  }

  /** The error of calls while the process is in a crash loop. */
  crashLoop(label: string, failures: number): IsthmusError {
    const cause = this.lastError;
    const message = `${label} ended ${failures} times in a row and is not started again by itself; the last time: ${cause?.message}`;
    const { stderrTail, generation } = cause ?? {};
    return new IsthmusError('CRASH_LOOP', message, { cause, sent: 'no', stderrTail, generation });
  }

  async #seeOut(generation: ProcessInstance, drainMs: number): Promise<void> {
    const { number, pid } = generation;
    const inTime = await generation.drain(drainMs);
    if (!inTime && drainMs > 0) {
      const why = `calls were still in flight after ${drainMs} ms`;
      this.#emit({ kind: 'kill', generation: number, pid, why });
    }
    if (generation.diedOf) return this.record(generation.diedOf, 'run', number, pid);
    const reason = 'it was told to end';
    this.#emit({ kind: 'exit', generation: number, pid, phase: 'run', expected: true, reason });
  }
}
