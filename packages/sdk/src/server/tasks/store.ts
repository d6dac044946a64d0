import type { JsonObject } from '../../wire/json-rpc.js';
import type { InputRequests, InputResponse, TaskError, TaskStatus } from '../../wire/model.js';

/**
 * Where tasks are kept. A store holds records and does not interpret them: the runner decides what a record becomes. All
 * times are given by the caller. A method rejects when the store cannot do its work.
 */
export interface TaskStore {
  /**
   * Adds a task. Settles when every process that shares the store sees it (TASK-M-021). If there is no room, finished
   * tasks of the client that uses most of it are dropped, the oldest first; `full`: there are none.
   */
  create(record: TaskRecord, bounds: TaskBounds): Promise<'created' | 'full'>;
  get(id: string): Promise<TaskRecord | undefined>;
  /**
   * Compare and set: replaces a task if its revision is the one before that of `record`. Its worker may be another one
   * than before. It may drop finished tasks to make room, but not this one.
   */
  replace(record: TaskRecord, bounds: TaskBounds): Promise<'replaced' | 'stale' | 'gone'>;
  /** The tasks of an owner in the order of creation, after a position, as many as fit in the limit, and at least one. */
  list(owner: string, after: TaskPosition | undefined, limit: TaskPageLimit): Promise<TaskPage>;
  /** Calls back when a task may have changed, also if another process has changed it. */
  watch(id: string, onChange: () => void): () => void;
  /** A process that runs tasks says that it lives until then. */
  beat(worker: string, until: number): Promise<void>;
  isAlive(worker: string, now: number): Promise<boolean>;
  /** Drops expired tasks, and returns unfinished ones whose worker does not live any more. */
  review(now: number): Promise<readonly string[]>;
  /** Ends watches and connections. A second call is harmless. */
  close(): Promise<void>;
}

/** A task as it is kept. Records are values: a change is a new record with the next revision. */
export interface TaskRecord {
  readonly id: string;
  /** The principal that the task belongs to. Undefined: the id alone gives access to it. */
  readonly owner?: string;
  /** Under which key limits count it: the principal, otherwise the address. */
  readonly client: string;
  readonly tool: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Counted from the creation. It is prolonged while the task runs. */
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
  readonly status: TaskStatus;
  readonly statusMessage?: string;
  /** The open questions, by key. A key is never used again. */
  readonly questions: InputRequests;
  /** Answers that the worker has not taken yet. */
  readonly answers: Readonly<Record<string, TaskAnswer>>;
  readonly cancelRequested: boolean;
  readonly outcome?: TaskOutcome;
  /** The process that runs it. After the end of that process another one may go on with it. */
  readonly worker: string;
  /** What the worker keeps with the task. Clients do not see it. */
  readonly note?: JsonObject;
  /** When the store may drop it. Undefined while it runs. */
  readonly expiresAt?: number;
  /** 1 for a new task. */
  readonly revision: number;
}

/** The answer to a question of a task, or why there is none. */
export type TaskAnswer = { readonly response: InputResponse } | { readonly refusal: string };

/** How a task ended. A cancelled task has no outcome. */
export type TaskOutcome = { readonly result: JsonObject } | { readonly error: TaskError };

/** A place in a list of tasks. */
export interface TaskPosition {
  readonly createdAt: number;
  readonly id: string;
}

/** The most that is read for one page of a list: records contain results, which may be large. */
export interface TaskPageLimit {
  readonly tasks: number;
  /** Of the records, as JSON in UTF-8. */
  readonly bytes: number;
}

/** A part of a list of tasks. */
export interface TaskPage {
  readonly records: readonly TaskRecord[];
  readonly hasMore: boolean;
}

/** How many of these belong on one page. */
export function countOnPage(sizes: readonly number[], limit: TaskPageLimit): number {
  let bytes = 0;
  let count = 0;
  for (const size of sizes) {
    bytes += size;
    if (count === limit.tasks || (count > 0 && bytes > limit.bytes)) break;
    count += 1;
  }
  return count;
}

/** How much a store may keep. */
export interface TaskBounds {
  readonly maxTasks: number;
  /** Of all records, as JSON in UTF-8. */
  readonly maxBytes: number;
}

/** Whether nothing about the task changes any more (TASK-L-031). */
export function isFinished({ status }: Pick<TaskRecord, 'status'>): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}
