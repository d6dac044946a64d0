/** Runs one task of 2025-11-25 from start to end, once for all checks. */

import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CheckConversation, Reply } from '../../../../conversation/conversation.js';
import type { CheckContext } from '../../../../run/check-context.js';
import { type CallableTool, type Facts, hasCapability } from '../../../../survey/facts.js';
import { type Frame, paramsOf } from '../../../../wire/transcript.js';
import { inWords } from '../../answers.js';

interface TaskRun {
  readonly tool: string;
  /** The answer to `tools/call`, which creates it. */
  readonly created: Reply;
  readonly taskId: string;
  /** `tasks/get` at once. */
  readonly early: Reply;
  readonly result: Reply;
  /** `tasks/get`, twice after the result. */
  readonly late: readonly Reply[];
  /** `tasks/cancel` after the end. */
  readonly cancelled: Reply;
  readonly lateProgress: readonly Frame[];
  readonly progress: number;
}

export const TASKS_REVISION = '2025-11-25';

/** A second task, which is cancelled at once. */
interface CancelledTask {
  readonly taskId: string;
  readonly cancelled: Reply;
  readonly after: Reply;
}

export function taskRunOf(context: CheckContext): Promise<TaskRun> {
  return once(taskRuns, context, runTask);
}

export function cancelledTask(context: CheckContext): Promise<CancelledTask> {
  return once(cancellations, context, cancelOne);
}

/** A callable tool that supports tasks. Skips if there is none. */
export function needTaskTool(context: CheckContext): CallableTool {
  needTasks(context);
  if (!hasCapability(context.facts.capabilities, 'tasks.requests.tools.call'))
    context.skip('the server does not announce tasks.requests.tools.call');
  return context.needTool(({ tool }) => takesTasks(tool), 'that may be called as a task');
}

export function needTasks(context: CheckContext): void {
  if (context.revision !== TASKS_REVISION) context.skip(`revision ${context.revision} knows no tasks`);
}

export function takesTasks(tool: JsonObject): boolean {
  const execution = isJsonObject(tool['execution']) ? tool['execution'] : {};
  return execution['taskSupport'] === 'optional' || execution['taskSupport'] === 'required';
}

export function taskIn(reply: Reply): JsonObject {
  if (reply.kind !== 'result') return {};
  return isJsonObject(reply.result['task']) ? reply.result['task'] : reply.result;
}

const TOKEN = 'isthmus-task';
const taskRuns = new WeakMap<Facts, Promise<TaskRun>>();
const cancellations = new WeakMap<Facts, Promise<CancelledTask>>();

async function runTask(context: CheckContext): Promise<TaskRun> {
  const { name } = needTaskTool(context);
  const conversation = await context.openConversation();
  const { created, taskId } = await create(context, conversation);
  const early = await conversation.request('tasks/get', { taskId });
  const result = await conversation.request('tasks/result', { taskId }, { ms: context.patience.checkMs / 2 });
  const first = await conversation.request('tasks/get', { taskId });
  const from = conversation.transcript.frames.length;
  await context.pause(context.patience.quietMs);
  const isProgress = (frame: Frame) =>
    frame.method === 'notifications/progress' && paramsOf(frame)['progressToken'] === TOKEN;
  return {
    tool: name,
    created,
    taskId,
    early,
    result,
    late: [first, await conversation.request('tasks/get', { taskId })],
    lateProgress: conversation.transcript.frames.slice(from).filter(isProgress),
    progress: conversation.transcript.frames.filter(isProgress).length,
    cancelled: await conversation.request('tasks/cancel', { taskId }),
  };
}

async function cancelOne(context: CheckContext): Promise<CancelledTask> {
  needTaskTool(context);
  const conversation = await context.openConversation();
  const { taskId } = await create(context, conversation);
  const cancelled = await conversation.request('tasks/cancel', { taskId });
  return { taskId, cancelled, after: await conversation.request('tasks/get', { taskId }) };
}

async function create(
  context: CheckContext,
  conversation: CheckConversation,
): Promise<{ created: Reply; taskId: string }> {
  const { name, args } = needTaskTool(context);
  const params = { name, arguments: args, task: { ttl: 60_000 } };
  const created = await conversation.request('tools/call', params, { progressToken: TOKEN });
  const { taskId } = taskIn(created);
  if (typeof taskId === 'string') return { created, taskId };
  return context.fail(
    `${name}, called with task, was answered with ${inWords(created)}`,
    'a result with a task that has a taskId',
  );
}

function once<T>(
  memory: WeakMap<Facts, Promise<T>>,
  context: CheckContext,
  tell: (context: CheckContext) => Promise<T>,
): Promise<T> {
  const told = memory.get(context.facts) ?? tell(context);
  memory.set(context.facts, told);
  return told;
}
