import type { Clock } from '../../async/clock.js';
import { IsthmusError, messageOf } from '../../errors.js';
import type { HostOccurrence } from '../host-event.js';
import type { LastExit } from '../status.js';
import type { ProcessInstance } from './process-instance.js';

/** How the processes of one supervisor have ended, and the retired processes that still end. */
export class Exits {
  readonly #clock: Clock;
  readonly #emit: (occurrence: HostOccurrence) => void;
  readonly #ending = new Map<ProcessInstance, Promise<void>>();
  /** The last exit that was not requested. */
  last: LastExit | undefined;
  #lastError: IsthmusError | undefined;

  constructor(clock: Clock, emit: (occurrence: HostOccurrence) => void) {
    this.#clock = clock;
    this.#emit = emit;
  }

  /** A process exited without a request, or could not be started. */
  record(error: IsthmusError, phase: 'start' | 'run', generation: number, pid: number | undefined): void {
    const reason = error.message;
    this.#emit({ kind: 'exit', generation, pid, phase, expected: false, reason });
    this.last = { at: this.#clock.now(), generation, phase, reason, stderrTail: error.stderrTail ?? '' };
    this.#lastError = error;
  }

  /** Ends a retired process. Its calls in flight may take `drainMs`. */
  async end(instance: ProcessInstance, drainMs: number): Promise<void> {
    const ending = this.#drain(instance, drainMs);
    this.#ending.set(instance, ending);
    await ending;
    this.#ending.delete(instance);
  }

  /** Shortens the time of processes that already drain. */
  shorten(drainMs: number): void {
    for (const instance of this.#ending.keys()) void instance.drain(drainMs);
  }

  /** Settles when all retired processes have ended. */
  async done(): Promise<void> {
    await Promise.all(this.#ending.values());
  }

  /** The error of calls while the process is in a crash loop. */
  crashLoop(label: string, failures: number): IsthmusError {
    const cause = this.#lastError;
    const message = `${label} ended ${failures} times in a row and is not restarted automatically; the last time: ${cause?.message}`;
    const { stderrTail, generation } = cause ?? {};
    return new IsthmusError('CRASH_LOOP', message, { cause, sent: 'no', stderrTail, generation });
  }

  async #drain(instance: ProcessInstance, drainMs: number): Promise<void> {
    const { number: generation, pid } = instance;
    const inTime = await instance.drain(drainMs);
    if (!inTime && drainMs > 0) {
      const why = `calls were still in flight after ${drainMs} ms`;
      this.#emit({ kind: 'kill', generation, pid, why });
    }
    if (instance.crash) return this.record(instance.crash, 'run', generation, pid);
    this.#emit({ kind: 'exit', generation, pid, phase: 'run', expected: true, reason: 'the host ended it' });
  }
}

/** The error of a failed start. No call has reached the process. */
export function asStartError(thrown: unknown, generation: number): IsthmusError {
  if (thrown instanceof IsthmusError) return thrown.with({ generation, sent: 'no' });
  return new IsthmusError('CONNECTION_CLOSED', messageOf(thrown), { cause: thrown, sent: 'no', generation });
}
