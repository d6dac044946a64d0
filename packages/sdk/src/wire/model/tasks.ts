import type { InputRequests, InputResponses } from './questions.js';
import type { Cursor, Meta, ResultMeta } from './vocabulary.js';

/** The same words in both forms. The last three are final. */
export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

type TaskBase = {
  taskId: string;
  status: TaskStatus;
  statusMessage?: string;
  /** ISO 8601. */
  createdAt: string;
  /** ISO 8601. */
  lastUpdatedAt: string;
};

/** A task of the extension `io.modelcontextprotocol/tasks`. Since 2026-07-28. */
export type Task = TaskBase & {
  /** Counted from `createdAt`, in milliseconds. `null`: unlimited. It may change while the task lives. */
  ttlMs: number | null;
  /** How long to wait between two polls. */
  pollIntervalMs?: number;
};

/** The result of `tools/call` if the server runs the call as a task. Since 2026-07-28, by extension. */
export type CreateTaskResult = Task & { resultType: 'task'; _meta?: ResultMeta };

/** The result of `tasks/get`, and the params of `notifications/tasks`. Since 2026-07-28, by extension. */
export type DetailedTask = Task & {
  resultType?: 'complete';
  /** With `input_required`: all open questions, by key. */
  inputRequests?: InputRequests;
  /** With `completed`: what the plain request would have returned. */
  result?: { [key: string]: unknown };
  /** With `failed`: the error that the plain request would have returned. */
  error?: TaskError;
  _meta?: ResultMeta;
};

/** The JSON-RPC error of a failed task. */
export type TaskError = { code: number; message: string; data?: unknown };

/** Params of `tasks/get` and `tasks/cancel`, and in 2025-11-25 of `tasks/result`. */
export type TaskParams = { taskId: string; _meta?: Meta };

/** Params of `tasks/update`. Since 2026-07-28, by extension. */
export type UpdateTaskParams = TaskParams & { inputResponses: InputResponses };

/** A task of 2025-11-25: the result of `tasks/get` and `tasks/cancel`, and the params of `notifications/tasks/status`. */
export type LegacyTask = TaskBase & {
  /** Counted from `createdAt`, in milliseconds. `null`: unlimited. */
  ttl: number | null;
  pollInterval?: number;
};

/** The result of a request that the receiver runs as a task. 2025-11-25 only. */
export type LegacyCreateTaskResult = { task: LegacyTask; _meta?: ResultMeta };

/** The member `task` of the params of a request that is to run as a task. 2025-11-25 only. */
export type LegacyTaskWish = { ttl?: number };

/** One page of `tasks/list`. 2025-11-25 only. */
export type ListTasksResult = { tasks: LegacyTask[]; nextCursor?: Cursor; _meta?: ResultMeta };
