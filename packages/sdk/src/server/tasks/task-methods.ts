import { takesTasks, tasksRequired } from '../../era/extensions.js';
import { answerProblem } from '../../era/input-rounds.js';
import { ProtocolError } from '../../errors.js';
import type { Call } from '../../exchange/call.js';
import { ErrorCode } from '../../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../../wire/json-rpc.js';
import type { InputResponse } from '../../wire/model.js';
import { changeTask } from './change-task.js';
import { toDetailedTask, toLegacyTask, withRelatedTask } from './project-task.js';
import { answered, channelOfCall } from './run/task-channels.js';
import { isFinished, type TaskAnswer, type TaskPosition, type TaskRecord } from './store.js';
import { hasLegacyTasks } from './task-request.js';
import type { TaskRunner } from './task-runner.js';

/** The requests about tasks, in both eras. */
export const TASK_METHODS: ReadonlyMap<string, (runner: TaskRunner, call: Call) => Promise<JsonObject>> =
  new Map([
    ['tasks/get', getTask],
    ['tasks/result', awaitResult],
    ['tasks/list', listTasks],
    ['tasks/update', updateTask],
    ['tasks/cancel', cancelTask],
  ]);

async function getTask(runner: TaskRunner, call: Call): Promise<JsonObject> {
  const record = await findTask(runner, call);
  const now = runner.settings.clock.now();
  if (call.peer.era === 'modern') return toDetailedTask(record, now);
  // The client may have opened a stream for questions meanwhile.
  runner.channels.offer(record);
  return { ...toLegacyTask(record, now) };
}

/** TASK-L-040, TASK-L-041: waits for the end, and answers as the plain request would have. */
async function awaitResult(runner: TaskRunner, call: Call): Promise<JsonObject> {
  requireLegacy(call);
  let record = await findTask(runner, call);
  const { id } = record;
  const close = runner.channels.open(id, channelOfCall(call));
  try {
    while (!isFinished(record)) {
      runner.channels.offer(record);
      record = await nextState(runner, call, record);
    }
  } finally {
    close();
  }
  const { outcome } = record;
  // TASK-L-043
  if (!outcome) throw new ProtocolError(ErrorCode.InternalError, 'The task was cancelled');
  if ('result' in outcome) return withRelatedTask(outcome.result, id);
  const { code, message, data } = outcome.error;
  throw new ProtocolError(code, message, data);
}

/** The next state of the task. Looks now and then by itself, since the process that runs the task may end. */
async function nextState(runner: TaskRunner, call: Call, known: TaskRecord): Promise<TaskRecord> {
  const { store, clock, leaseMs } = runner.settings;
  const { cancellation } = call;
  let wake = () => {};
  const unwatch = store.watch(known.id, () => wake());
  const onAbort = () => wake();
  cancellation.addEventListener('abort', onAbort);
  try {
    for (;;) {
      const changed = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (cancellation.aborted) throw cancellation.reason;
      const record = await findTask(runner, call);
      if (record.revision !== known.revision) return record;
      const callOff = clock.after(leaseMs, wake, { background: true });
      await changed;
      callOff();
    }
  } finally {
    unwatch();
    cancellation.removeEventListener('abort', onAbort);
  }
}

/** TASK-L-091, TASK-L-092: only with a principal, whose tasks they are. */
async function listTasks(runner: TaskRunner, call: Call): Promise<JsonObject> {
  requireLegacy(call);
  const { principal } = call.peer;
  if (principal === undefined) throw notFound(call);
  const after = readCursor(call.params['cursor']);
  const { store, clock } = runner.settings;
  const page = await store.list(principal, after, PAGE);
  const records = await Promise.all(page.records.map((record) => runner.revived(record)));
  const now = clock.now();
  const last = page.records.at(-1);
  return {
    tasks: records.flatMap((record) => (record ? [toLegacyTask(record, now)] : [])),
    ...(page.hasMore && last && { nextCursor: writeCursor(last) }),
  };
}

/** The records of one page are read with their results. */
const PAGE = { tasks: 100, bytes: 1024 * 1024 };

function writeCursor({ createdAt, id }: TaskPosition): string {
  return Buffer.from(JSON.stringify([createdAt, id])).toString('base64url');
}

function readCursor(cursor: unknown): TaskPosition | undefined {
  if (cursor === undefined) return undefined;
  try {
    const [createdAt, id] = JSON.parse(Buffer.from(String(cursor), 'base64url').toString());
    const position = { createdAt, id };
    if (Number.isSafeInteger(createdAt) && typeof id === 'string' && writeCursor(position) === cursor)
      return position;
  } catch {
    // Refused below.
  }
  throw new ProtocolError(ErrorCode.InvalidParams, 'Unknown cursor for the list of tasks');
}

async function updateTask(runner: TaskRunner, call: Call): Promise<JsonObject> {
  if (call.peer.era !== 'modern') throw notFound(call);
  const { inputResponses } = call.params;
  const record = await findTask(runner, call);
  if (!isJsonObject(inputResponses) || !Object.values(inputResponses).every(isJsonObject)) {
    throw new ProtocolError(ErrorCode.InvalidParams, 'inputResponses must be an object of objects');
  }
  const answers: Record<string, TaskAnswer> = {};
  for (const [key, request] of Object.entries(record.questions)) {
    if (!Object.hasOwn(inputResponses, key)) continue;
    const problem = answerProblem(request, inputResponses[key]);
    if (problem !== undefined) {
      throw new ProtocolError(ErrorCode.InvalidParams, `The answer to ${key} (${request.method}) ${problem}`);
    }
    answers[key] = { response: inputResponses[key] as InputResponse };
  }
  // TASK-M-044: a poll that follows the answer sees its effect.
  await changeTask(runner.settings, record.id, (known) => answered(known, answers));
  return {};
}

async function cancelTask(runner: TaskRunner, call: Call): Promise<JsonObject> {
  const record = await findTask(runner, call);
  const { settings } = runner;
  if (call.peer.era === 'modern') {
    // TASK-M-051, TASK-M-052: acknowledged in every state. The end of the handler decides.
    await changeTask(settings, record.id, (known) =>
      known.cancelRequested ? undefined : { cancelRequested: true },
    );
    return {};
  }
  let isMine = false;
  const changed = await changeTask(settings, record.id, () => {
    isMine = true;
    return { status: 'cancelled', cancelRequested: true };
  });
  // TASK-L-081
  if (!changed || !isMine || changed.status !== 'cancelled') {
    throw new ProtocolError(ErrorCode.InvalidParams, `The task is already ${(changed ?? record).status}`);
  }
  return { ...toLegacyTask(changed, settings.clock.now()) };
}

/** The task that a request names, if the client may use it. Unknown, foreign and expired look alike (TASK-M-080). */
async function findTask(runner: TaskRunner, call: Call): Promise<TaskRecord> {
  const { peer, params } = call;
  // TASK-M-007: before the look-up.
  if (peer.era === 'modern' && !takesTasks(peer.capabilities)) throw tasksRequired();
  if (peer.era === 'legacy' && !hasLegacyTasks(peer)) throw notFound(call);
  const { taskId } = params;
  if (typeof taskId !== 'string') throw new ProtocolError(ErrorCode.InvalidParams, 'taskId must be a string');
  const record = await runner.visible(peer, taskId);
  if (!record) throw new ProtocolError(ErrorCode.InvalidParams, 'Unknown task');
  return record;
}

function requireLegacy(call: Call): void {
  if (call.peer.era !== 'legacy') throw notFound(call);
}

function notFound({ method }: Call): ProtocolError {
  return new ProtocolError(ErrorCode.MethodNotFound, `Method not found: ${method}`);
}
