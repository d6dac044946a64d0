import type { Cancellation } from '../async/abort.js';
import { ProtocolError } from '../errors.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';
import { asOwn } from './upstream-errors.js';

/** Makes calls on the far side. */
export interface TaskCaller {
  /** For the client that called the tool, as long as it waits. */
  make(method: string, params: JsonObject): Promise<JsonObject>;
  /** When no client waits any more. */
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

/** A client that does not know of tasks has no use for the id of the task. */
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

/**
 * A legacy server has failed a call since the client could not be asked. A modern client is told what it lacks (META-008),
 * and in `data.serverAnswer` what the server answered: a bridge in front of this one may speak for a legacy client, for
 * which that answer is the right one.
 */
export function refusedFor(refusal: ProtocolError, said: unknown): ProtocolError {
  if (said instanceof ProtocolError && withAnswers.has(said)) return said;
  const serverAnswer = answerOf(said);
  if (!serverAnswer || JSON.stringify(serverAnswer).length > MAX_ANSWER) return refusal;
  const data = isJsonObject(refusal.data) ? refusal.data : {};
  const told = asOwn(new ProtocolError(refusal.code, refusal.message, { ...data, serverAnswer }));
  withAnswers.add(told);
  return told;
}

/** What the server at the end of a chain of bridges answered, where the bridge that was asked has told it. */
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

function answerOf(said: unknown): JsonObject | undefined {
  if (said instanceof ProtocolError) {
    const { code, message, data } = said;
    return { error: data === undefined ? { code, message } : { code, message, data } };
  }
  return isJsonObject(said) ? { result: said } : undefined;
}

/** These have the answer already. */
const withAnswers = new WeakSet<ProtocolError>();

/** Characters of JSON. Clients read only so much of an HTTP error. */
const MAX_ANSWER = 65_536;
