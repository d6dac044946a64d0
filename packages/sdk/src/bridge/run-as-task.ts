import type { Cancellation } from '../async/abort.js';
import { ProtocolError } from '../errors.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';

/** Makes calls on the far side. */
export interface TaskCaller {
  /** For whoever called the tool, and for as long as that one waits. */
  make(method: string, params: JsonObject): Promise<JsonObject>;
  /** When nobody waits any more. */
  cancel(method: string, params: JsonObject): Promise<JsonObject>;
}

/**
 * A tool of a 2025-11-25 server that can only be called as a task, called by a client that knows of none: the
 * task is started, waited for, and its result is the result of the call.
 */
export async function runAsTask(
  { make, cancel }: TaskCaller,
  params: JsonObject,
  signal: Cancellation,
): Promise<JsonObject> {
  const created = await make('tools/call', { ...params, task: { ttl: TASK_TTL_MS } });
  const task = created['task'];
  const taskId = isJsonObject(task) ? task['taskId'] : undefined;
  // It answered at once after all.
  if (typeof taskId !== 'string') return created;
  const onAbort = () => void cancel('tasks/cancel', { taskId }).catch(() => {});
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return withoutTask(await make('tasks/result', { taskId }));
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Which task it was means nothing to whoever knows of none. */
function withoutTask(result: JsonObject): JsonObject {
  const { _meta, ...rest } = result;
  if (!isJsonObject(_meta)) return result;
  const { [RELATED_TASK]: _task, ...own } = _meta;
  return Object.keys(own).length > 0 ? { ...rest, _meta: own } : rest;
}

/** The refusal of a server whose tool wants to be called as a task. */
export function wantsTask(error: unknown): boolean {
  return error instanceof ProtocolError && error.code === ErrorCode.MethodNotFound;
}

export const RELATED_TASK = 'io.modelcontextprotocol/related-task';
const TASK_TTL_MS = 3_600_000;
