import { LazyAbort } from '../../async/abort.js';
import { createDeferred, type Deferred } from '../../async/deferred.js';
import { IsthmusError } from '../../errors.js';
import { ErrorCode } from '../../wire/error-codes.js';
import type { JsonObject } from '../../wire/json-rpc.js';
import type { InputRequest, InputResponse } from '../../wire/model.js';
import { changeTask, type TaskChange } from './change-task.js';
import type { TaskSettings } from './options.js';
import { MAX_MESSAGE } from './project-task.js';
import { isFinished, type TaskOutcome, type TaskRecord } from './store.js';

/** What a running task needs of its runner. */
export interface TaskContext {
  readonly settings: TaskSettings;
  /** The least time between two status messages. */
  messagePauseMs(): number;
  /** Room for a question of this size. Undefined: there is none. Otherwise a function that gives it back. */
  takeBytes(count: number): (() => void) | undefined;
  /** Called when the task begins to wait for answers, and when it does not wait any more. */
  onWaiting(isWaiting: boolean): void;
  /** Called for each state that this process sees. */
  onState(record: TaskRecord): void;
}

/**
 * A task that this process runs. The handler's side of it is here; the state that clients see is in the store. Writes go
 * one after the other. Answers and cancellations come through the store, since another process may have received them.
 */
export class RunningTask {
  readonly id: string;
  readonly cancellation = new LazyAbort();
  readonly #context: TaskContext;
  readonly #open = new Map<string, TaskQuestion>();
  readonly #unwatch: () => void;
  readonly #worker: string;
  /** A key is never used again, also not by the next process that goes on with the task (TASK-M-040). */
  readonly #keyPrefix: string;
  #asked = 0;
  #message: string | undefined;
  #note: JsonObject | undefined;
  #hasEnded = false;
  #finishing: Promise<void> | undefined;
  #isAbandoned = false;
  #isWriting = false;
  #isDirty = false;
  #isReading = false;
  #mustReadAgain = false;
  #writeDue: (() => void) | undefined;
  #lastWrite = Number.NEGATIVE_INFINITY;
  #callOffGrace: (() => void) | undefined;
  #seen = 0;

  constructor(context: TaskContext, record: TaskRecord) {
    this.id = record.id;
    this.#context = context;
    this.#worker = record.worker;
    this.#keyPrefix = record.revision === 1 ? '' : `${record.revision}-`;
    this.#message = record.statusMessage;
    this.#note = record.revision === 1 ? undefined : record.note;
    this.#unwatch = context.settings.store.watch(record.id, () => void this.#read());
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Asks the owner of the task. The question stays open until it is answered, withdrawn or too old. */
  ask(request: InputRequest, signal?: AbortSignal): Promise<InputResponse> {
    if (this.#hasEnded) return Promise.reject(taskIsOver());
    const { clock, maxTtlMs } = this.#context.settings;
    const giveBack = this.#context.takeBytes(Buffer.byteLength(JSON.stringify(request)));
    if (!giveBack) return Promise.reject(tooLarge());
    this.#asked += 1;
    const key = `${KEY_NAMES[request.method]}-${this.#keyPrefix}${this.#asked}`;
    const deferred = createDeferred<InputResponse>();
    const withdraw = (reason: unknown) => {
      if (!this.#take(key)) return;
      deferred.reject(reason as Error);
      this.#write();
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
    setImmediate(() => this.#write());
    return deferred.promise;
  }

  /** Shows the message as the status. Messages that come quickly after each other are shown now and then. */
  say(message: string): void {
    if (this.#hasEnded || message === this.#message) return;
    this.#message = message.slice(0, MAX_MESSAGE);
    const { clock } = this.#context.settings;
    const wait = this.#lastWrite + this.#context.messagePauseMs() - clock.now();
    if (wait <= 0) return this.#write();
    this.#writeDue ??= clock.after(wait, () => this.#write(), { background: true });
  }

  /** Whether another process can go on with the task. */
  get isResumable(): boolean {
    return this.#note !== undefined;
  }

  /** Keeps with the task what another process needs to go on with it. */
  keep(note: JsonObject): void {
    if (this.#hasEnded) return;
    this.#note = note;
    this.#write();
  }

  /** Looks for changes of other processes: the message about one may have been lost. */
  look(): void {
    void this.#read();
  }

  /** The handler has ended. The first end counts, also if another process was faster. Settles when it is in the store. */
  finish(end: TaskEnd): Promise<void> {
    this.#finishing ??= this.#finish(end);
    return this.#finishing;
  }

  async #finish(end: TaskEnd): Promise<void> {
    if (this.#hasEnded) return;
    this.#end(taskIsOver());
    const record = await this.#persist(this.#ended(end));
    if (record) this.#tell(record);
  }

  /** The last message stays, also if it was not written because it came soon after another one. */
  #ended(end: TaskEnd): TaskChange {
    const said = this.#message === undefined ? {} : { statusMessage: this.#message };
    if (end === 'cancelled') return { ...said, status: 'cancelled', cancelRequested: true };
    if ('error' in end)
      return { status: 'failed', statusMessage: end.error.message.slice(0, MAX_MESSAGE), outcome: end };
    return { ...said, status: 'completed', outcome: end };
  }

  /** The task goes on in another process. Its questions are asked there again, so they are not answered here. */
  leave(): void {
    if (this.#hasEnded) return;
    this.#isAbandoned = true;
    this.#stop();
    for (const key of [...this.#open.keys()]) this.#take(key);
    this.cancellation.abort(TASK_LEFT);
  }

  /** The server has stopped. What is not in the store by now will not get there. */
  abandon(): void {
    this.#isAbandoned = true;
  }

  /** The client or the server ends the task. The handler may still answer. */
  abort(reason: IsthmusError): void {
    this.cancellation.abort(reason);
    for (const key of [...this.#open.keys()]) this.#take(key)?.deferred.reject(reason);
  }

  /**
   * The result of a task must not be lost because the store is away for a moment. A result that cannot be written for long
   * is given up, and the task fails: its client must not wait for an end that never comes.
   */
  async #persist(wanted: TaskChange): Promise<TaskRecord | undefined> {
    const { clock } = this.#context.settings;
    let change = wanted;
    for (let pauseMs = 100; !this.#isAbandoned; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      try {
        return await this.#change(() => change);
      } catch {
        if (pauseMs === MAX_PAUSE_MS && change.outcome) change = NOT_STORED;
        await new Promise<void>((resolve) => clock.after(pauseMs, resolve, { background: true }));
      }
    }
    return undefined;
  }

  /** Only the process that the task belongs to changes it. */
  #change(change: (known: TaskRecord) => TaskChange): Promise<TaskRecord | undefined> {
    return changeTask(this.#context.settings, this.id, (known) =>
      known.worker === this.#worker ? change(known) : undefined,
    );
  }

  #stop(): void {
    this.#hasEnded = true;
    this.#unwatch();
    this.#writeDue?.();
    this.#callOffGrace?.();
  }

  #end(reason: IsthmusError): void {
    this.#stop();
    for (const key of [...this.#open.keys()]) {
      const question = this.#take(key);
      // The handler may not await it any more; that must not become an unhandled rejection.
      question?.deferred.promise.catch(() => {});
      question?.deferred.reject(reason);
    }
  }

  #take(key: string): TaskQuestion | undefined {
    const question = this.#open.get(key);
    if (!question) return undefined;
    this.#open.delete(key);
    question.callOff();
    if (this.#open.size === 0) this.#context.onWaiting(false);
    return question;
  }

  #write(): void {
    this.#isDirty = true;
    if (!this.#isWriting) void this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#isDirty && !this.#hasEnded) {
      this.#isDirty = false;
      this.#writeDue?.();
      this.#writeDue = undefined;
      this.#lastWrite = this.#context.settings.clock.now();
      try {
        const record = await this.#change((known) => this.#present(known));
        if (record) this.#apply(record);
      } catch (error) {
        // The owner cannot see the questions, so they cannot be answered.
        this.#rejectAll(error as Error);
      }
    }
    this.#isWriting = false;
  }

  #rejectAll(error: Error): void {
    for (const key of [...this.#open.keys()]) this.#take(key)?.deferred.reject(error);
  }

  /** The state that clients should see now. Answers are taken out of the record. */
  #present(known: TaskRecord): TaskChange {
    this.#deliver(known);
    const questions = Object.fromEntries([...this.#open].map(([key, { request }]) => [key, request]));
    return {
      questions,
      answers: {},
      status: this.#open.size > 0 ? 'input_required' : 'working',
      ...(this.#message !== undefined && { statusMessage: this.#message }),
      ...(this.#note && { note: { ...known.note, ...this.#note } }),
    };
  }

  #deliver({ answers }: TaskRecord): boolean {
    let isAny = false;
    for (const [key, answer] of Object.entries(answers)) {
      isAny = true;
      const question = this.#take(key);
      if ('response' in answer) question?.deferred.resolve(answer.response);
      else question?.deferred.reject(new IsthmusError('REFUSED_BY_PEER', answer.refusal));
    }
    return isAny;
  }

  async #read(): Promise<void> {
    this.#mustReadAgain = true;
    if (this.#isReading) return;
    this.#isReading = true;
    while (this.#mustReadAgain && !this.#hasEnded) {
      this.#mustReadAgain = false;
      const record = await this.#context.settings.store.get(this.id).catch(() => undefined);
      if (record && !this.#hasEnded) this.#apply(record);
    }
    this.#isReading = false;
  }

  #apply(record: TaskRecord): void {
    if (record.revision <= this.#seen) return;
    if (record.worker !== this.#worker) return this.leave();
    this.#tell(record);
    if (isFinished(record)) {
      const reason = new IsthmusError('CANCELLED', `the task is ${record.status}`);
      this.#end(reason);
      return this.cancellation.abort(reason);
    }
    if (record.cancelRequested) this.#cancelled();
    if (this.#deliver(record)) this.#write();
  }

  /** TASK-M-051: the end of the handler decides. A handler that goes on for long is given up. */
  #cancelled(): void {
    if (this.#callOffGrace) return;
    const { clock, cancelGraceMs } = this.#context.settings;
    this.#callOffGrace = clock.after(cancelGraceMs, () => void this.finish('cancelled'));
    this.abort(new IsthmusError('CANCELLED', 'the client cancelled the task'));
  }

  #tell(record: TaskRecord): void {
    if (record.revision <= this.#seen) return;
    this.#seen = record.revision;
    this.#context.onState(record);
  }
}

export type TaskEnd = TaskOutcome | 'cancelled';

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

const MAX_PAUSE_MS = 20_000;

/** The reason of a cancellation that does not end the task: another process goes on with it. */
export const TASK_LEFT = new IsthmusError('CANCELLED', 'another process goes on with the task');

function taskIsOver(): IsthmusError {
  return new IsthmusError('CANCELLED', 'the task is over; no more questions can be asked');
}

function tooLarge(): IsthmusError {
  return new IsthmusError('BUSY', 'The open questions of this client have too many bytes', { sent: 'no' });
}

const NOT_STORED_MESSAGE = 'The task has ended, and the store could not keep its result';
const NOT_STORED: TaskChange = {
  status: 'failed',
  statusMessage: NOT_STORED_MESSAGE,
  outcome: {
    error: {
      code: ErrorCode.InternalError,
      message: NOT_STORED_MESSAGE,
      data: { reason: 'NOT_STORED', sent: 'yes' },
    },
  },
};
