import { createDeferred, type Deferred } from '../../async/deferred.js';
import { IsthmusError } from '../../errors.js';
import type { ProcessInstance } from './process-instance.js';
import { openWithSlots, type StartReason, type SupervisorContext } from './supervisor-context.js';

/** The attempts of a supervisor to start a process, one at a time, and the callers that wait for the outcome. */
export class StartAttempts {
  readonly #context: SupervisorContext;
  readonly #onIdle: (instance: ProcessInstance) => void;
  /** What callers that need the process wait for. The current attempt settles it, or the next one. */
  #next: Deferred<ProcessInstance> | undefined;
  #current: { readonly abort: AbortController; readonly done: Promise<void> } | undefined;
  /** A process that has not answered yet. */
  #starting: { readonly number: number; readonly pid: number | undefined } | undefined;

  constructor(context: SupervisorContext, onIdle: (instance: ProcessInstance) => void) {
    this.#context = context;
    this.#onIdle = onIdle;
  }

  get isAwaited(): boolean {
    return this.#next !== undefined;
  }

  /** Settles when the current attempt has ended. Undefined: there is none. */
  get done(): Promise<void> | undefined {
    return this.#current?.done;
  }

  /** The next process that is ready. Rejects when the attempt fails. */
  awaitNext(): Promise<ProcessInstance> {
    this.#next ??= createDeferred();
    this.#next.promise.catch(() => {});
    return this.#next.promise;
  }

  settle(outcome: ProcessInstance | IsthmusError): void {
    const next = this.#next;
    this.#next = undefined;
    if (outcome instanceof IsthmusError) next?.reject(outcome);
    else next?.resolve(outcome);
  }

  pidOf(number: number): number | undefined {
    return this.#starting?.number === number ? this.#starting.pid : undefined;
  }

  abort(error: IsthmusError): void {
    this.#current?.abort.abort(error);
  }

  /** Starts a process. One that is ready after `abort` is closed. The attempt lasts until the handler has returned. */
  async open(
    number: number,
    why: StartReason,
    onOpen: (instance: ProcessInstance) => void,
    onError: (error: unknown, isAborted: boolean) => void,
  ): Promise<void> {
    const done = createDeferred<void>();
    const abort = new AbortController();
    this.#current = { abort, done: done.promise };
    try {
      const instance = await openWithSlots(this.#context, why, {
        number,
        signal: abort.signal,
        onStarted: (pid) => {
          this.#starting = { number, pid };
        },
        onIdle: this.#onIdle,
      });
      if (abort.signal.aborted) await instance.close();
      else onOpen(instance);
    } catch (error) {
      onError(error, abort.signal.aborted);
    } finally {
      this.#current = undefined;
      done.resolve();
    }
  }
}
