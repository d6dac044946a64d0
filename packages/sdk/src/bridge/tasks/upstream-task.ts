import type { Clock } from '../../async/clock.js';
import { awaitLegacyTask } from '../../client/tasks/await-legacy-task.js';
import { followTask } from '../../client/tasks/follow-task.js';
import { type Repetition, repeatRequest, type TaskRequester } from '../../client/tasks/repeat-request.js';
import type { ProtocolError } from '../../errors.js';
import type { Call, ToldTask } from '../../exchange/call.js';
import { lostWorker } from '../../server/tasks/lost-task.js';
import { TASK_LEFT } from '../../server/tasks/running-task.js';
import { isJsonObject, type JsonObject } from '../../wire/json-rpc.js';
import { type ForwardContext, ForwardedCall, questionForClient } from '../forwarded-call.js';
import { refusedFor } from '../server-answer.js';
import type { UpstreamSession } from '../upstream-sessions.js';
import { keepTask, type UpstreamTask } from './task-note.js';

/** Follows a task of a modern server. If the client takes tasks, the bridge gives it one of its own. */
export async function followUpstreamTask(
  created: JsonObject,
  call: Call,
  session: UpstreamSession,
  context: ForwardContext,
): Promise<JsonObject> {
  await call.task?.begin(toldOf(created));
  keepTask(call, context, String(created['taskId']));
  return followModernTask(created, call, session, context, requestsOf(call, session, context));
}

/** Goes on with a task of the server that another process has begun. */
export function resumeUpstreamTask(
  { era, taskId }: UpstreamTask,
  call: Call,
  session: UpstreamSession,
  context: ForwardContext,
): Promise<JsonObject> {
  // A server that does not know the task has lost it, too.
  const request = requestsOf(call, session, context, { lost: lostWorker() });
  const task = { taskId, status: 'working', pollInterval: 1 };
  if (era === 'legacy') return followLegacyTask({ task }, call, session, context, request);
  const created = { resultType: 'task', taskId, status: 'working', pollIntervalMs: 1 };
  return followModernTask(created, call, session, context, request);
}

function followModernTask(
  created: JsonObject,
  call: Call,
  session: UpstreamSession,
  context: ForwardContext,
  request: TaskRequester,
): Promise<JsonObject> {
  const onMessage = messagesTo(call);
  return followTask(created, {
    request,
    cancel: cancelsOf(call, session, context),
    ask: (request, signal) => call.ask(questionForClient(request, call.peer.era), signal),
    ...(onMessage && { onMessage }),
    cancellation: call.cancellation,
    clock: context.clock,
  });
}

export function followLegacyTask(
  created: JsonObject,
  call: Call,
  session: UpstreamSession,
  context: ForwardContext,
  request: TaskRequester,
): Promise<JsonObject> {
  const { upstream, clock } = context;
  return awaitLegacyTask(created, {
    request,
    cancel:
      upstream.tasks === 'legacy' && upstream.cancelsTasks ? cancelsOf(call, session, context) : undefined,
    onMessage: messagesTo(call),
    cancellation: call.cancellation,
    clock,
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
export function requestsOf(
  call: Call,
  session: UpstreamSession,
  context: ForwardContext,
  { progressToken, lost }: RequestOptions = {},
): TaskRequester {
  const once: TaskRequester = async (method, params) => {
    const out = new ForwardedCall(call, params, session.owner, context, { method, progressToken });
    const result = await session.caller.call(out).catch((error: unknown) => {
      throw out.refusal ? refusedFor(out.refusal, error) : error;
    });
    if (out.refusal && result['isError'] === true) throw refusedFor(out.refusal, result);
    return result;
  };
  const repetition = { ...patienceOf(call, context.clock), lost };
  return (method, params) =>
    method.startsWith('tasks/') ? repeatRequest(once, method, params, repetition) : once(method, params);
}

interface RequestOptions {
  /** A task reports progress with the token that it was started with. */
  readonly progressToken?: string | undefined;
  /** The loss after which the task is followed again. */
  readonly lost?: ProtocolError | undefined;
}

export function patienceOf({ cancellation }: Call, clock: Clock): Repetition {
  return { cancellation, clock, patienceMs: PATIENCE_MS };
}

/** How long the connection to the server of a task may fail. It may start again meanwhile. */
const PATIENCE_MS = 30_000;

/** Cancels a task after its client has stopped waiting. A task that another process goes on with is not cancelled. */
function cancelsOf(call: Call, session: UpstreamSession, context: ForwardContext) {
  return async (params: JsonObject) => {
    if (call.cancellation.reason === TASK_LEFT) return undefined;
    const method = 'tasks/cancel';
    const ofTask = { method, progressToken: undefined, isDetached: true };
    return session.caller.call(new ForwardedCall(call, params, session.owner, context, ofTask));
  };
}
