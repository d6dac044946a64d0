import { LazyAbort } from '../../async/abort.js';
import { IsthmusError } from '../../errors.js';
import { ErrorCode } from '../../wire/error-codes.js';
import type { JsonObject } from '../../wire/json-rpc.js';
import type { InputRequest, InputResponse } from '../../wire/model.js';
import { changeTask, type TaskChange } from './change-task.js';
import type { TaskSettings } from './options.js';
import { MAX_MESSAGE } from './project-task.js';
import { TaskQuestions } from './run/task-questions.js';
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
  readonly #questions: TaskQuestions;
  readonly #unwatch: () => void;
  readonly #worker: string;
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
    const keyPrefix = record.revision === 1 ? '' : `${record.revision}-`;
    this.#questions = new TaskQuestions(context, keyPrefix, () => this.#write());
    this.#message = record.statusMessage;
    this.#note = record.revision === 1 ? undefined : record.note;
    this.#unwatch = context.settings.store.watch(record.id, () => void this.#read());
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Asks the owner of the task. */
  ask(request: InputRequest, signal?: AbortSignal): Promise<InputResponse> {
    return this.#hasEnded ? Promise.reject(taskIsOver()) : this.#questions.ask(request, signal);
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
    this.#questions.leave();
    this.cancellation.abort(TASK_LEFT);
  }

  /** The server has stopped. What is not in the store by now will not get there. */
  abandon(): void {
    this.#isAbandoned = true;
  }

  /** The client or the server ends the task. The handler may still answer. */
  abort(reason: IsthmusError): void {
    this.cancellation.abort(reason);
    this.#questions.rejectAll(reason);
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
    this.#questions.end(reason);
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
        this.#questions.rejectAll(error as Error);
      }
    }
    this.#isWriting = false;
  }

  /** The state that clients should see now. Answers are taken out of the record. */
  #present(known: TaskRecord): TaskChange {
    this.#questions.deliver(known);
    return {
      questions: this.#questions.shown(),
      answers: {},
      status: this.#questions.isEmpty ? 'working' : 'input_required',
      ...(this.#message !== undefined && { statusMessage: this.#message }),
      ...(this.#note && { note: { ...known.note, ...this.#note } }),
    };
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
    if (this.#questions.deliver(record)) this.#write();
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

const MAX_PAUSE_MS = 20_000;

/** The reason of a cancellation that does not end the task: another process goes on with it. */
export const TASK_LEFT = new IsthmusError('CANCELLED', 'another process goes on with the task');

function taskIsOver(): IsthmusError {
  return new IsthmusError('CANCELLED', 'the task is over; no more questions can be asked');
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
