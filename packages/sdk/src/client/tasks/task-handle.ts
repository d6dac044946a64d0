import type { Cancellation } from '../../async/abort.js';
import type { Clock } from '../../async/clock.js';
import { IsthmusError, ProtocolError } from '../../errors.js';
import type { Era } from '../../exchange/call.js';
import { ErrorCode } from '../../wire/error-codes.js';
import type { JsonObject } from '../../wire/json-rpc.js';
import type { CallToolResult, InputRequest, InputResponse, ProgressUpdate } from '../../wire/model.js';
import type { CallOptions } from '../call-options.js';
import { awaitLegacyTask } from './await-legacy-task.js';
import { followTask } from './follow-task.js';
import { isOver, readTask, type TaskState } from './read-task.js';
import { repeatRequest, type TaskRequester } from './repeat-request.js';

/** What a task handle needs of its client. */
export interface TaskCalls {
  readonly era: Era;
  readonly clock: Clock;
  call(method: string, params: JsonObject, options: CallOptions): Promise<JsonObject>;
  answer(request: InputRequest, signal: AbortSignal): Promise<InputResponse>;
  /** Rejects a result that does not fit the output schema of its tool. */
  check(result: JsonObject): Promise<CallToolResult>;
}

/** How to wait for the result of a task. */
export interface TaskWaitOptions {
  /** Ends the waiting. The task goes on. */
  readonly signal?: AbortSignal | undefined;
  /** The longest time to wait. Default: until the task has ended. */
  readonly timeoutMs?: number | undefined;
  /** Called with each new status message of the task. */
  readonly onProgress?: ((update: ProgressUpdate) => void) | undefined;
}

/**
 * A task of a server. It can be used after a reconnect, and in another process: `client.task(id)`. A handle of a call that
 * the server answered at once has no id, and its result is there.
 */
export class TaskHandle {
  readonly id: string | undefined;
  readonly #calls: TaskCalls;
  readonly #done: CallToolResult | undefined;

  constructor(calls: TaskCalls, task: { readonly id: string } | { readonly result: CallToolResult }) {
    this.#calls = calls;
    this.id = 'id' in task ? task.id : undefined;
    this.#done = 'result' in task ? task.result : undefined;
  }

  /** The state of the task now. */
  async get(options: CallOptions = {}): Promise<TaskState> {
    const params = { taskId: this.#taskId };
    return readTask('tasks/get', await this.#calls.call('tasks/get', params, { ...options, retry: 'safe' }));
  }

  /** Asks the server to end the task. It may have ended already, or end otherwise. */
  async cancel(options: CallOptions = {}): Promise<void> {
    try {
      await this.#calls.call('tasks/cancel', { taskId: this.#taskId }, options);
    } catch (error) {
      // TASK-L-081: a legacy server refuses to cancel what has ended.
      const isRefused = error instanceof ProtocolError && error.code === ErrorCode.InvalidParams;
      if (!isRefused || this.#calls.era === 'modern' || !isOver(await this.get(options))) throw error;
    }
  }

  /**
   * Waits for the end, and returns the result of the call or throws its error. Questions of the task are answered with the
   * answers of the client.
   */
  async result({ signal, timeoutMs, onProgress }: TaskWaitOptions = {}): Promise<CallToolResult> {
    if (this.#done) return this.#done;
    const { clock, check } = this.#calls;
    const over = new AbortController();
    const stop = () => {
      const cause = signal?.reason;
      over.abort(
        new IsthmusError('CANCELLED', 'the wait for the task was cancelled', { sent: 'maybe', cause }),
      );
    };
    const callOff =
      timeoutMs === undefined
        ? undefined
        : clock.after(timeoutMs, () => {
            const message = `the task did not end within ${timeoutMs} ms`;
            over.abort(new IsthmusError('TIMED_OUT', message, { sent: 'maybe' }));
          });
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true });
    try {
      return await check(await this.#follow(over.signal, onProgress));
    } catch (error) {
      throw over.signal.aborted ? over.signal.reason : error;
    } finally {
      callOff?.();
      signal?.removeEventListener('abort', stop);
    }
  }

  #follow(signal: AbortSignal, onProgress: TaskWaitOptions['onProgress']): Promise<JsonObject> {
    const { era, clock, answer } = this.#calls;
    let count = 0;
    const onMessage =
      onProgress &&
      ((message: string) => {
        count += 1;
        onProgress({ progress: count, message });
      });
    const common = {
      request: (method: string, params: JsonObject) => this.#request(method, params, signal),
      cancellation: signal as Cancellation,
      clock,
      ...(onMessage && { onMessage }),
      // The task goes on if only the waiting ends.
      cancel: async () => {},
    };
    const seed = { resultType: 'task', taskId: this.#taskId, status: 'working', pollIntervalMs: 1 };
    if (era === 'modern') return followTask(seed, { ...common, ask: answer });
    return awaitLegacyTask({ task: { ...seed, pollInterval: 1 } }, common);
  }

  #request(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const { call, clock } = this.#calls;
    const once: TaskRequester = (asked, about) => {
      const timeoutMs = asked === 'tasks/result' ? { timeoutMs: RESULT_MS } : {};
      return call(asked, about, { ...timeoutMs, signal, retry: 'safe' });
    };
    const cancellation = signal as Cancellation;
    return repeatRequest(once, method, params, { cancellation, clock, patienceMs: PATIENCE_MS });
  }

  get #taskId(): string {
    if (this.id !== undefined) return this.id;
    throw new IsthmusError('INVALID_OPTION', 'The server answered this call at once: there is no task', {
      sent: 'no',
    });
  }
}

/** How long the connection may fail while a result is waited for. */
const PATIENCE_MS = 10_000;
/** A request for a result is renewed after this time. */
const RESULT_MS = 600_000;
