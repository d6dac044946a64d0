import { randomUUID } from 'node:crypto';
import { awaitLegacyTask, legacyTaskId } from '../client/tasks/await-legacy-task.js';
import { followTask } from '../client/tasks/follow-task.js';
import { repeatRequest, type TaskRequester } from '../client/tasks/repeat-request.js';
import { ProtocolError } from '../errors.js';
import type { Call, ToldTask } from '../exchange/call.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';
import { type ForwardContext, ForwardedCall, questionForClient } from './forwarded-call.js';
import { markForClient } from './upstream-errors.js';
import type { UpstreamSession } from './upstream-sessions.js';

/** Runs a tool that a 2025-11-25 server takes as a task, for a client without tasks or for a task of the bridge. */
export async function runAsTask(
  call: Call,
  params: JsonObject,
  session: UpstreamSession,
  context: ForwardContext,
): Promise<JsonObject> {
  // PROG-011: a task reports progress with the token that it was started with.
  const progressToken = call.wantsProgress ? randomUUID() : undefined;
  const request = requestsOf(call, session, context, progressToken);
  const created = await request('tools/call', { ...params, task: { ttl: TASK_TTL_MS } });
  // The server answered with a result instead of a task.
  if (legacyTaskId(created) === undefined) return created;
  await call.task?.begin();
  const { upstream } = context;
  return awaitLegacyTask(created, {
    request,
    cancel:
      upstream.tasks === 'legacy' && upstream.cancelsTasks ? cancelsOf(call, session, context) : undefined,
    onMessage: messagesTo(call),
    cancellation: call.cancellation,
    clock: context.clock,
  });
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
  const request = requestsOf(call, session, context, undefined);
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const list = await request('tools/list', cursor === undefined ? {} : { cursor });
    context.tools.learn(list, call.peer);
    cursor = list['nextCursor'];
    if (cursor === undefined) break;
  }
}

const MAX_PAGES = 100;

/** Follows a task of a modern server. If the client takes tasks, the bridge gives it one of its own. */
export async function followUpstreamTask(
  created: JsonObject,
  call: Call,
  session: UpstreamSession,
  context: ForwardContext,
): Promise<JsonObject> {
  await call.task?.begin(toldOf(created));
  const onMessage = messagesTo(call);
  return followTask(created, {
    request: requestsOf(call, session, context, undefined),
    cancel: cancelsOf(call, session, context),
    ask: (request, signal) => call.ask(questionForClient(request, call.peer.era), signal),
    ...(onMessage && { onMessage }),
    cancellation: call.cancellation,
    clock: context.clock,
  });
}

function toldOf({ ttlMs, pollIntervalMs, _meta }: JsonObject): ToldTask {
  const isInterval = typeof pollIntervalMs === 'number' && pollIntervalMs > 0;
  return {
    ttlMs: typeof ttlMs === 'number' ? ttlMs : Number.POSITIVE_INFINITY,
    pollIntervalMs: isInterval
      ? Math.round(Math.min(Math.max(pollIntervalMs, MIN_POLL_MS), MAX_POLL_MS))
      : undefined,
    meta: isJsonObject(_meta) ? _meta : undefined,
  };
}

/** Clients are not asked to poll more often, and not less: the end of the task would be hidden from them. */
const MIN_POLL_MS = 100;
const MAX_POLL_MS = 60_000;

/** The status of the upstream's task is shown as the status of the bridge's task, or as progress of the call. */
function messagesTo(call: Call): ((message: string) => void) | undefined {
  const { task } = call;
  if (task?.id !== undefined) return (message) => task.say(message);
  if (!call.wantsProgress) return undefined;
  let progress = 0;
  return (message) => call.progress({ progress: ++progress, message });
}

/** Makes requests about a task on behalf of the client that called the tool. */
function requestsOf(
  call: Call,
  session: UpstreamSession,
  context: ForwardContext,
  progressToken: string | undefined,
): TaskRequester {
  const once: TaskRequester = async (method, params) => {
    const out = new ForwardedCall(call, params, session.owner, context, { method, progressToken });
    const result = await session.caller.call(out).catch((error: unknown) => {
      throw out.refusal ? refusedFor(out.refusal, error) : error;
    });
    if (out.refusal && result['isError'] === true) throw refusedFor(out.refusal, result);
    return result;
  };
  const repetition = { cancellation: call.cancellation, clock: context.clock, patienceMs: PATIENCE_MS };
  return (method, params) =>
    method.startsWith('tasks/') ? repeatRequest(once, method, params, repetition) : once(method, params);
}

/** How long the connection to the server of a task may fail. It may start again meanwhile. */
const PATIENCE_MS = 30_000;

/** Cancels a task after its client has stopped waiting. */
function cancelsOf(call: Call, session: UpstreamSession, context: ForwardContext) {
  return (params: JsonObject) => {
    const method = 'tasks/cancel';
    const ofTask = { method, progressToken: undefined, isDetached: true };
    return session.caller.call(new ForwardedCall(call, params, session.owner, context, ofTask));
  };
}

/** Whether the error means that the tool must be called as a task (TASK-L-010, TASK-L-012). */
export function wantsTask(error: unknown): boolean {
  if (!(error instanceof ProtocolError)) return false;
  return error.code === ErrorCode.MethodNotFound || error.code === ErrorCode.InvalidRequest;
}

/** The result is read as soon as it is there, so only the time that the task runs counts. */
const TASK_TTL_MS = 86_400_000;

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
