import { createDeferred, type Deferred } from '../../../async/deferred.js';
import { IsthmusError } from '../../../errors.js';
import type { InputRequest, InputResponse } from '../../../wire/model.js';
import type { TaskContext } from '../running-task.js';
import type { TaskRecord } from '../store.js';

/** The open questions of a task: what its handler asked, until the owner of the task has answered. */
export class TaskQuestions {
  readonly #context: TaskContext;
  readonly #keyPrefix: string;
  readonly #onChange: () => void;
  readonly #open = new Map<string, TaskQuestion>();
  #asked = 0;

  /**
   * `keyPrefix`: a key is never used again, also not by the next process that goes on with the task (TASK-M-040).
   * `onChange`: called when the owner should see other questions than before.
   */
  constructor(context: TaskContext, keyPrefix: string, onChange: () => void) {
    this.#context = context;
    this.#keyPrefix = keyPrefix;
    this.#onChange = onChange;
  }

  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  /** The questions by their keys, as the owner sees them. */
  shown(): Record<string, InputRequest> {
    return Object.fromEntries([...this.#open].map(([key, { request }]) => [key, request]));
  }

  /** The question stays open until it is answered, withdrawn or too old. */
  ask(request: InputRequest, signal?: AbortSignal): Promise<InputResponse> {
    const { clock, maxTtlMs } = this.#context.settings;
    const giveBack = this.#context.takeBytes(Buffer.byteLength(JSON.stringify(request)));
    if (!giveBack) return Promise.reject(tooLarge());
    this.#asked += 1;
    const key = `${KEY_NAMES[request.method]}-${this.#keyPrefix}${this.#asked}`;
    const deferred = createDeferred<InputResponse>();
    const withdraw = (reason: unknown) => {
      if (!this.#take(key)) return;
      deferred.reject(reason as Error);
      this.#onChange();
    };
    const callOffTimeout = clock.after(
      maxTtlMs,
      () => withdraw(new IsthmusError('TIMED_OUT', `no answer came within ${maxTtlMs} ms`)),
      { background: true },
    );
    const onAbort = () => withdraw(signal?.reason);
    const callOff = () => {
      callOffTimeout();
      giveBack();
      signal?.removeEventListener('abort', onAbort);
    };
    this.#open.set(key, { request, deferred, callOff });
    if (this.#open.size === 1) this.#context.onWaiting(true);
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) onAbort();
    // Questions of one turn of the event loop are shown together.
    setImmediate(() => this.#onChange());
    return deferred.promise;
  }

  /** Takes the answers out of the record of the task. False: there are none. */
  deliver({ answers }: TaskRecord): boolean {
    let isAny = false;
    for (const [key, answer] of Object.entries(answers)) {
      isAny = true;
      const question = this.#take(key);
      if ('response' in answer) question?.deferred.resolve(answer.response);
      else question?.deferred.reject(new IsthmusError('REFUSED_BY_PEER', answer.refusal));
    }
    return isAny;
  }

  rejectAll(reason: Error): void {
    for (const key of [...this.#open.keys()]) this.#take(key)?.deferred.reject(reason);
  }

  /** The task is over. */
  end(reason: Error): void {
    // The handler may not await them any more; that must not become an unhandled rejection.
    for (const { deferred } of this.#open.values()) deferred.promise.catch(() => {});
    this.rejectAll(reason);
  }

  /** Another process asks them again. They are never answered here. */
  leave(): void {
    for (const key of [...this.#open.keys()]) this.#take(key);
  }

  #take(key: string): TaskQuestion | undefined {
    const question = this.#open.get(key);
    if (!question) return undefined;
    this.#open.delete(key);
    question.callOff();
    if (this.#open.size === 0) this.#context.onWaiting(false);
    return question;
  }
}

interface TaskQuestion {
  readonly request: InputRequest;
  readonly deferred: Deferred<InputResponse>;
  readonly callOff: () => void;
}

const KEY_NAMES: Record<InputRequest['method'], string> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

function tooLarge(): IsthmusError {
  return new IsthmusError('BUSY', 'The open questions of this client have too many bytes', { sent: 'no' });
}
