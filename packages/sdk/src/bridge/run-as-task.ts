import type { Cancellation } from '../async/abort.js';
import { ProtocolError } from '../errors.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';
import { markForClient } from './upstream-errors.js';

/** Makes calls to the upstream. */
export interface TaskCaller {
  /** On behalf of the client that called the tool, while it waits. */
  make(method: string, params: JsonObject): Promise<JsonObject>;
  /** After the client has stopped waiting. */
  cancel(method: string, params: JsonObject): Promise<JsonObject>;
}

/**
 * Calls a tool that a 2025-11-25 server only runs as a task, for a client without tasks: starts the task, waits for it,
 * and returns its result as the result of the call.
 */
export async function runAsTask(
  { make, cancel }: TaskCaller,
  params: JsonObject,
  signal: Cancellation,
): Promise<JsonObject> {
  const created = await make('tools/call', { ...params, task: { ttl: TASK_TTL_MS } });
  const task = created['task'];
  const taskId = isJsonObject(task) ? task['taskId'] : undefined;
  // The server answered with a result instead of a task.
  if (typeof taskId !== 'string') return created;
  const onAbort = () => void cancel('tasks/cancel', { taskId }).catch(() => {});
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return withoutTask(await make('tasks/result', { taskId }));
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Removes the id of the task, which the client does not know. */
function withoutTask(result: JsonObject): JsonObject {
  const { _meta, ...rest } = result;
  if (!isJsonObject(_meta)) return result;
  const { [RELATED_TASK]: _task, ...own } = _meta;
  return Object.keys(own).length > 0 ? { ...rest, _meta: own } : rest;
}

/** Whether the error means that the tool must be called as a task. */
export function wantsTask(error: unknown): boolean {
  return error instanceof ProtocolError && error.code === ErrorCode.MethodNotFound;
}

export const RELATED_TASK = 'io.modelcontextprotocol/related-task';
const TASK_TTL_MS = 3_600_000;

/**
 * The error when a legacy server failed a call because the client could not be asked. It names the missing capability
 * (META-008), and has the answer of the server in `data.serverAnswer`: a bridge in front of this one may serve a legacy
 * client, which has to get that answer.
 */
export function refusedFor(refusal: ProtocolError, answer: unknown): ProtocolError {
  if (answer instanceof ProtocolError && withAnswers.has(answer)) return answer;
  const serverAnswer = answerOf(answer);
  if (!serverAnswer || JSON.stringify(serverAnswer).length > MAX_ANSWER) return refusal;
  const data = isJsonObject(refusal.data) ? refusal.data : {};
  const error = markForClient(new ProtocolError(refusal.code, refusal.message, { ...data, serverAnswer }));
  withAnswers.add(error);
  return error;
}

/** The answer of the server at the end of a chain of bridges, if the error contains it. */
export function serverAnswerIn(error: unknown): JsonObject | ProtocolError | undefined {
  if (!(error instanceof ProtocolError) || error.code !== ErrorCode.MissingClientCapability) return undefined;
  const answer = isJsonObject(error.data) ? error.data['serverAnswer'] : undefined;
  if (!isJsonObject(answer)) return undefined;
  const { result, error: failure } = answer;
  if (isJsonObject(result)) return result;
  if (!isJsonObject(failure)) return undefined;
  const { code, message, data } = failure;
  if (!Number.isSafeInteger(code) || typeof message !== 'string') return undefined;
  return new ProtocolError(code as number, message, data);
}

function answerOf(answer: unknown): JsonObject | undefined {
  if (answer instanceof ProtocolError) {
    const { code, message, data } = answer;
    return { error: data === undefined ? { code, message } : { code, message, data } };
  }
  return isJsonObject(answer) ? { result: answer } : undefined;
}

/** Errors that already contain the answer. */
const withAnswers = new WeakSet<ProtocolError>();

/** In characters of JSON. Clients read a limited part of an HTTP error. */
const MAX_ANSWER = 65_536;
