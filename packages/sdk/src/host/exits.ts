import type { Clock } from '../async/clock.js';
import { IsthmusError } from '../errors.js';
import type { HostOccurrence } from './host-event.js';
import type { ProcessInstance } from './process-instance.js';
import type { LastExit } from './status.js';

/** How the processes of one supervisor have ended, and those that are on their way out. */
export class Exits {
  readonly #clock: Clock;
  readonly #emit: (occurrence: HostOccurrence) => void;
  readonly #leaving = new Map<ProcessInstance, Promise<void>>();
  /** The last one that nobody had asked for. */
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

  /** What callers are told who come when it has ended too often. */
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
