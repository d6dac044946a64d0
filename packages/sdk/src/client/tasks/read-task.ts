import { IsthmusError } from '../../errors.js';
import { isJsonObject, type JsonObject } from '../../wire/json-rpc.js';
import type { CallToolResult, InputRequests, TaskError, TaskStatus } from '../../wire/model.js';

/** A task as a client sees it, the same in both eras. */
export interface TaskState {
  readonly id: string;
  readonly status: TaskStatus;
  readonly statusMessage?: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  /** Counted from `createdAt`. `null`: unlimited. */
  readonly ttlMs: number | null;
  readonly pollIntervalMs?: number;
  /** The open questions. Modern only: a legacy server sends requests. */
  readonly inputRequests?: InputRequests;
  /** Of a completed task. Modern only: a legacy server is asked for it with `tasks/result`. */
  readonly result?: CallToolResult;
  /** Of a failed task. Modern only. */
  readonly error?: TaskError;
}

/** The task that a call became, in either era. Undefined: the answer is a result. */
export function createdTask(answer: JsonObject): TaskState | undefined {
  if (answer['resultType'] === 'task') return readTask('tools/call', answer);
  const { task } = answer;
  return isJsonObject(task) && typeof task['taskId'] === 'string' && answer['content'] === undefined
    ? readTask('tools/call', task)
    : undefined;
}

/** Reads a task of either era, and refuses what is none. */
export function readTask(method: string, task: JsonObject): TaskState {
  const { taskId, status, statusMessage, createdAt, lastUpdatedAt, inputRequests, result, error } = task;
  const ttlMs = task['ttlMs'] ?? task['ttl'] ?? null;
  const pollIntervalMs = task['pollIntervalMs'] ?? task['pollInterval'];
  if (typeof taskId !== 'string' || !STATES.has(status)) {
    const message = `${method} was answered with a task without a valid taskId and status`;
    throw new IsthmusError('INVALID_RESULT', message, { sent: 'maybe' });
  }
  return {
    id: taskId,
    status: status as TaskStatus,
    ...(typeof statusMessage === 'string' && { statusMessage }),
    createdAt: String(createdAt),
    lastUpdatedAt: String(lastUpdatedAt),
    ttlMs: typeof ttlMs === 'number' ? ttlMs : null,
    ...(typeof pollIntervalMs === 'number' && { pollIntervalMs }),
    ...(isJsonObject(inputRequests) && { inputRequests: inputRequests as InputRequests }),
    ...(isJsonObject(result) && { result: withoutType(result) as CallToolResult }),
    ...(isJsonObject(error) && { error: error as TaskError }),
  };
}

const STATES: ReadonlySet<unknown> = new Set([
  'working',
  'input_required',
  'completed',
  'failed',
  'cancelled',
]);

export function isOver({ status }: TaskState): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

function withoutType(result: JsonObject): JsonObject {
  const { resultType, ...rest } = result;
  return rest;
}
