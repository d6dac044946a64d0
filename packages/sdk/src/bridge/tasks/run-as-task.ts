import { randomUUID } from 'node:crypto';
import { legacyTaskId } from '../../client/tasks/await-legacy-task.js';
import { ProtocolError } from '../../errors.js';
import type { Call } from '../../exchange/call.js';
import { ErrorCode } from '../../wire/error-codes.js';
import type { JsonObject } from '../../wire/json-rpc.js';
import type { ForwardContext } from '../forwarded-call.js';
import type { UpstreamSession } from '../upstream-sessions.js';
import { keepTask } from './task-note.js';
import { followLegacyTask, requestsOf } from './upstream-task.js';

/** Runs a tool that a 2025-11-25 server takes as a task, for a client without tasks or for a task of the bridge. */
export async function runAsTask(
  call: Call,
  params: JsonObject,
  session: UpstreamSession,
  context: ForwardContext,
): Promise<JsonObject> {
  // PROG-011: a task reports progress with the token that it was started with.
  const progressToken = call.wantsProgress ? randomUUID() : undefined;
  const request = requestsOf(call, session, context, { progressToken });
  const created = await request('tools/call', { ...params, task: { ttl: TASK_TTL_MS } });
  // The server answered with a result instead of a task.
  if (legacyTaskId(created) === undefined) return created;
  await call.task?.begin();
  keepTask(call, context, legacyTaskId(created)!);
  return followLegacyTask(created, call, session, context, request);
}

/**
 * The answer to a plain call, made again as a task if the tool runs only as one. Some servers refuse the plain call of
 * such a tool with a tool error (TASK-L-010 wants -32601), so the list of tools decides. The tool has not run.
 */
export async function againIfTaskOnly(
  refused: JsonObject,
  call: Call,
  params: JsonObject,
  session: UpstreamSession,
  context: ForwardContext,
): Promise<JsonObject> {
  try {
    await readTools(call, session, context);
  } catch {
    return refused;
  }
  const isTaskOnly = context.tools.taskSupport(params['name'], call.peer.principal) === 'required';
  return isTaskOnly ? runAsTask(call, params, session, context) : refused;
}

/** Reads the list of tools for the client of a call. It says which tools run as tasks. */
export async function readTools(
  call: Call,
  session: UpstreamSession,
  context: ForwardContext,
): Promise<void> {
  const request = requestsOf(call, session, context);
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const list = await request('tools/list', cursor === undefined ? {} : { cursor });
    context.tools.learn(list, call.peer);
    cursor = list['nextCursor'];
    if (cursor === undefined) break;
  }
}

const MAX_PAGES = 100;

/** Whether the error means that the tool must be called as a task (TASK-L-010, TASK-L-012). */
export function wantsTask(error: unknown): boolean {
  if (!(error instanceof ProtocolError)) return false;
  return error.code === ErrorCode.MethodNotFound || error.code === ErrorCode.InvalidRequest;
}

/** The result is read as soon as it is there, so only the time that the task runs counts. */
const TASK_TTL_MS = 86_400_000;
