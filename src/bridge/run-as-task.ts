import { ProtocolError } from '../errors.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';

/** Makes one call on the far side. */
export type Make = (method: string, params: JsonObject) => Promise<JsonObject>;

/**
 * A tool of a 2025-11-25 server that can only be called as a task, called by a client that knows of none: the
 * task is started, waited for, and its result is the result of the call.
 */
export async function runAsTask(make: Make, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
  const created = await make('tools/call', { ...params, task: { ttl: TASK_TTL_MS } });
  const task = created['task'];
  const taskId = isJsonObject(task) ? task['taskId'] : undefined;
  // It answered at once after all.
  if (typeof taskId !== 'string') return created;
  const cancel = () => void make('tasks/cancel', { taskId }).catch(() => {});
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const { _meta, ...result } = await make('tasks/result', { taskId });
    return result;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** The refusal of a server whose tool wants to be called as a task. */
export function wantsTask(error: unknown): boolean {
  return error instanceof ProtocolError && error.code === ErrorCode.MethodNotFound;
}

const TASK_TTL_MS = 3_600_000;
