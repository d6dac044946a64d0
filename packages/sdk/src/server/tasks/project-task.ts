import { META } from '../../era/meta-keys.js';
import { isJsonObject, type JsonObject } from '../../wire/json-rpc.js';
import type { CreateTaskResult, DetailedTask, LegacyTask, Task } from '../../wire/model.js';
import { shownTtl } from './change-task.js';
import type { TaskRecord } from './store.js';

/** The answer to the call that became a task, in the modern era. */
export function toCreateTaskResult(record: TaskRecord, now: number): CreateTaskResult {
  return { resultType: 'task', ...toTask(record, now) };
}

/** What `tasks/get` and `notifications/tasks` show in the modern era (TASK-M-031, TASK-M-032). */
export function toDetailedTask(record: TaskRecord, now: number): DetailedTask {
  const task = toTask(record, now);
  const { outcome, status } = record;
  if (status === 'input_required') return { ...task, inputRequests: record.questions };
  if (outcome && 'result' in outcome) {
    // TASK-M-033: the same as the plain result, which has a type.
    return { ...task, result: { resultType: 'complete', ...outcome.result } };
  }
  return outcome ? { ...task, error: outcome.error } : task;
}

function toTask(record: TaskRecord, now: number): Task {
  const { id, status, statusMessage, createdAt, updatedAt, pollIntervalMs } = record;
  return {
    taskId: id,
    status,
    ...(statusMessage !== undefined && { statusMessage }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttlMs: shownTtl(record, now),
    pollIntervalMs,
  };
}

/** A task of 2025-11-25. A tool that reports an error has failed there (TASK-L-035). */
export function toLegacyTask(record: TaskRecord, now: number): LegacyTask {
  const { status, ttlMs, pollIntervalMs, statusMessage, ...rest } = toTask(record, now);
  const problem = problemOf(record);
  const message = problem ?? statusMessage;
  return {
    ...rest,
    status: problem === undefined ? status : 'failed',
    ...(message !== undefined && { statusMessage: message }),
    ttl: ttlMs,
    ...(pollIntervalMs !== undefined && { pollInterval: pollIntervalMs }),
  };
}

/** What the tool says of its error; undefined if it did not report one. */
function problemOf({ outcome }: TaskRecord): string | undefined {
  if (!outcome || !('result' in outcome) || outcome.result['isError'] !== true) return undefined;
  const { content } = outcome.result;
  const text = Array.isArray(content)
    ? content.find((block) => isJsonObject(block) && block['type'] === 'text')
    : undefined;
  return typeof text?.text === 'string' ? text.text.slice(0, MAX_MESSAGE) : 'The tool reported an error';
}

export const MAX_MESSAGE = 1000;

/** TASK-L-050: names the task that a message belongs to. */
export function withRelatedTask<T extends { readonly _meta?: unknown }>(value: T, taskId: string): T {
  const { _meta } = value;
  return { ...value, _meta: { ...(isJsonObject(_meta) && _meta), [META.relatedTask]: { taskId } } };
}

export type WithMeta = JsonObject & { readonly _meta?: unknown };
