import type { Cancellation } from '../../async/abort.js';
import type { Clock } from '../../async/clock.js';
import { IsthmusError, ProtocolError } from '../../errors.js';
import { ErrorCode } from '../../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../../wire/json-rpc.js';
import type { InputRequest, InputResponse } from '../../wire/model.js';

/** What is needed to follow a task of a modern server to its end. */
export interface TaskFollower {
  /** Makes a request about the task, `tasks/get` or `tasks/update`, while the caller waits. */
  request(method: string, params: JsonObject): Promise<JsonObject>;
  /** Makes the request `tasks/cancel` after the caller has stopped waiting. */
  cancel(params: JsonObject): Promise<unknown>;
  /** Asks the user a question of the task. */
  ask(request: InputRequest, signal: AbortSignal): Promise<InputResponse>;
  /** Called with each new status message. */
  onMessage?(message: string): void;
  /** When it is aborted, the task is cancelled. */
  readonly cancellation: Cancellation;
  readonly clock: Clock;
}

/**
 * Polls a task until it has ended, and returns its result. Each question is asked once, although every poll repeats it
 * (TASK-M-043). An error of the task is thrown as the plain call would have thrown it.
 */
export function followTask(created: JsonObject, follower: TaskFollower): Promise<JsonObject> {
  return new FollowedTask(created, follower).follow();
}

/** Whether a result is the handle of a task (TASK-M-020). */
export function isTaskHandle(result: JsonObject): boolean {
  return result['resultType'] === 'task' && typeof result['taskId'] === 'string';
}

class FollowedTask {
  readonly #taskId: unknown;
  readonly #follower: TaskFollower;
  readonly #asked = new Set<string>();
  /** The questions that the user has not answered yet. */
  readonly #open = new Map<string, AbortController>();
  #state: JsonObject;
  #message: unknown;
  /** The first question that could not be put to the user. */
  #failure: { readonly error: unknown } | undefined;
  #wake = () => {};

  constructor(created: JsonObject, follower: TaskFollower) {
    this.#state = created;
    this.#taskId = created['taskId'];
    this.#follower = follower;
  }

  async follow(): Promise<JsonObject> {
    const { cancellation } = this.#follower;
    const onAbort = () => this.#wake();
    cancellation.addEventListener('abort', onAbort);
    try {
      for (;;) {
        const end = this.#end();
        if (end) return end;
        this.#report();
        this.#askNew();
        await this.#pause();
        if (cancellation.aborted) throw cancellation.reason;
        if (this.#failure) throw this.#failure.error;
        this.#state = await this.#follower.request('tasks/get', { taskId: this.#taskId });
      }
    } catch (error) {
      if (cancellation.aborted || this.#failure) this.#cancel();
      throw error;
    } finally {
      cancellation.removeEventListener('abort', onAbort);
      this.#withdraw({}, 'the task has ended');
    }
  }

  /** The result of a finished task. Throws the error of a failed one. */
  #end(): JsonObject | undefined {
    const { status, result, error, statusMessage } = this.#state;
    if (status === 'completed') {
      // A handle has no result: the next poll brings it.
      if (isTaskHandle(this.#state)) return undefined;
      this.#report();
      if (isJsonObject(result)) return result;
      throw new IsthmusError('INVALID_RESULT', 'The task is completed and has no result', { sent: 'maybe' });
    }
    if (status === 'cancelled') {
      throw new ProtocolError(ErrorCode.InternalError, 'The server cancelled the task');
    }
    if (status !== 'failed' || isTaskHandle(this.#state)) return undefined;
    const { code, message, data } = isJsonObject(error) ? error : ({} as JsonObject);
    const text = typeof message === 'string' ? message : String(statusMessage ?? 'The task failed');
    throw new ProtocolError(
      Number.isSafeInteger(code) ? (code as number) : ErrorCode.InternalError,
      text,
      data,
    );
  }

  #report(): void {
    const { statusMessage } = this.#state;
    if (typeof statusMessage !== 'string' || statusMessage === this.#message) return;
    this.#message = statusMessage;
    this.#follower.onMessage?.(statusMessage);
  }

  #askNew(): void {
    const { status, inputRequests } = this.#state;
    const outstanding = status === 'input_required' && isJsonObject(inputRequests) ? inputRequests : {};
    this.#withdraw(outstanding, 'the task does not need the answer any more');
    for (const [key, request] of Object.entries(outstanding)) {
      if (this.#asked.has(key) || !isJsonObject(request)) continue;
      this.#asked.add(key);
      void this.#answer(key, request as unknown as InputRequest);
    }
  }

  async #answer(key: string, request: InputRequest): Promise<void> {
    const control = new AbortController();
    this.#open.set(key, control);
    try {
      const response = await this.#follower.ask(request, control.signal);
      this.#open.delete(key);
      const inputResponses = { [key]: response };
      await this.#follower.request('tasks/update', { taskId: this.#taskId, inputResponses });
    } catch (error) {
      if (control.signal.aborted) return;
      this.#open.delete(key);
      this.#failure ??= { error };
    }
    this.#wake();
  }

  /** Takes back the open questions that are not outstanding. The server may ask one of them again. */
  #withdraw(outstanding: JsonObject, why: string): void {
    for (const [key, control] of [...this.#open]) {
      if (Object.hasOwn(outstanding, key)) continue;
      this.#open.delete(key);
      this.#asked.delete(key);
      control.abort(new IsthmusError('CANCELLED', why));
    }
  }

  /** Until the next poll is due, or a question was answered. */
  async #pause(): Promise<void> {
    const { clock, cancellation } = this.#follower;
    if (cancellation.aborted || this.#failure) return;
    await new Promise<void>((resolve) => {
      const callOff = clock.after(this.#pauseMs(), resolve);
      this.#wake = () => {
        callOff();
        resolve();
      };
    });
  }

  /** TASK-M-035 */
  #pauseMs(): number {
    if (isTaskHandle(this.#state) && FINAL.has(this.#state['status'])) return 0;
    const { pollIntervalMs } = this.#state;
    const wanted =
      typeof pollIntervalMs === 'number' && pollIntervalMs > 0 ? pollIntervalMs : DEFAULT_POLL_MS;
    return Math.min(Math.max(wanted, MIN_POLL_MS), MAX_POLL_MS);
  }

  #cancel(): void {
    this.#follower.cancel({ taskId: this.#taskId }).catch(() => {});
  }
}

const FINAL: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled']);
const DEFAULT_POLL_MS = 1000;
const MIN_POLL_MS = 10;
/** A server that names a longer time would hide the end of its task. */
const MAX_POLL_MS = 60_000;
