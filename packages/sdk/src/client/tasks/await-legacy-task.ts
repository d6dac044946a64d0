import type { Cancellation } from '../../async/abort.js';
import type { Clock } from '../../async/clock.js';
import { META } from '../../era/meta-keys.js';
import { IsthmusError } from '../../errors.js';
import { isJsonObject, type JsonObject } from '../../wire/json-rpc.js';

/** What is needed to wait for a task of a 2025-11-25 server. */
export interface LegacyTaskWaiter {
  /** Makes a request about the task while the caller waits. */
  request(method: string, params: JsonObject): Promise<JsonObject>;
  /** Cancels the task after the caller has stopped waiting. Undefined: the server cannot cancel tasks. */
  readonly cancel: ((params: JsonObject) => Promise<unknown>) | undefined;
  /** Called with each new status message. Undefined: the status is not asked for. */
  readonly onMessage?: ((message: string) => void) | undefined;
  readonly cancellation: Cancellation;
  readonly clock: Clock;
}

/** The id in a `CreateTaskResult` of 2025-11-25. Undefined: it is a plain result. */
export function legacyTaskId(created: JsonObject): string | undefined {
  const { task } = created;
  const taskId = isJsonObject(task) ? task['taskId'] : undefined;
  return typeof taskId === 'string' ? taskId : undefined;
}

/**
 * Waits for the end of a task with `tasks/result`, whose stream also carries the questions of the task (TASK-L-034). A wait
 * that takes too long is begun again: the task goes on meanwhile.
 */
export async function awaitLegacyTask(created: JsonObject, waiter: LegacyTaskWaiter): Promise<JsonObject> {
  const taskId = legacyTaskId(created)!;
  const { cancellation, cancel, request } = waiter;
  const onAbort = () => void cancel?.({ taskId }).catch(() => {});
  cancellation.addEventListener('abort', onAbort, { once: true });
  const stopPolling = pollStatus(created, taskId, waiter);
  try {
    for (;;) {
      try {
        return withoutRelatedTask(await request('tasks/result', { taskId }));
      } catch (error) {
        if (!isTimeout(error) || cancellation.aborted) throw error;
      }
    }
  } finally {
    stopPolling();
    cancellation.removeEventListener('abort', onAbort);
  }
}

/** Removes the id of the task, which the client does not know. */
function withoutRelatedTask(result: JsonObject): JsonObject {
  const { _meta, ...rest } = result;
  if (!isJsonObject(_meta)) return result;
  const { [META.relatedTask]: _task, ...own } = _meta;
  return Object.keys(own).length > 0 ? { ...rest, _meta: own } : rest;
}

/** Tells the status messages of the task. A poll that fails is not repeated: `tasks/result` tells what is wrong. */
function pollStatus(created: JsonObject, taskId: string, waiter: LegacyTaskWaiter): () => void {
  const { onMessage, clock, request } = waiter;
  if (!onMessage) return () => {};
  let isOver = false;
  let callOff = () => {};
  let last: unknown;
  const tell = (task: JsonObject) => {
    const { statusMessage, pollInterval } = task;
    if (isOver) return;
    if (typeof statusMessage === 'string' && statusMessage !== last) onMessage(statusMessage);
    last = statusMessage;
    const wanted = typeof pollInterval === 'number' ? pollInterval : DEFAULT_POLL_MS;
    const pauseMs = Math.min(Math.max(wanted, MIN_POLL_MS), MAX_POLL_MS);
    const poll = () => void request('tasks/get', { taskId }).then(tell, () => {});
    callOff = clock.after(pauseMs, poll, { background: true });
  };
  const { _meta, task } = created;
  const immediate = isJsonObject(_meta) ? _meta[META.immediateResponse] : undefined;
  // TASK-L-028: shown until the task has a message of its own.
  tell({ statusMessage: immediate, ...(task as JsonObject) });
  return () => {
    isOver = true;
    callOff();
  };
}

function isTimeout(error: unknown): boolean {
  return error instanceof IsthmusError && error.code === 'TIMED_OUT';
}

const DEFAULT_POLL_MS = 1000;
const MIN_POLL_MS = 200;
const MAX_POLL_MS = 60_000;
