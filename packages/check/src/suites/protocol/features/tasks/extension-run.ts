/** Runs tools as tasks of the modern extension, once for all checks. */
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CheckConversation, Reply } from '../../../../conversation/conversation.js';
import { EVERY_CAPABILITY } from '../../../../conversation/envelope.js';
import type { CheckContext } from '../../../../run/check-context.js';
import type { CallableTool, Facts } from '../../../../survey/facts.js';
import { answerPolitely } from '../../../../survey/walkthrough.js';
import type { Frame } from '../../../../wire/transcript.js';
import { takesTasks } from './legacy-run.js';

export const EXTENSION = 'io.modelcontextprotocol/tasks';
/** The capabilities of a request that takes tasks. */
export const WITH_TASKS = { capabilities: { ...EVERY_CAPABILITY, extensions: { [EXTENSION]: {} } } };

/** One task, from its creation to its end. */
export interface ExtensionTaskRun {
  readonly tool: string;
  readonly taskId: string;
  readonly created: Reply;
  /** Every `tasks/get`, in order. */
  readonly states: readonly Reply[];
  /** The keys of `inputRequests`, in the order in which they were answered. */
  readonly answered: readonly string[];
  /** Keys that came with another question after their answer. */
  readonly reused: readonly string[];
  readonly updates: readonly Reply[];
  /** `tasks/update` with a key that was never asked. */
  readonly strayUpdate: Reply | undefined;
  /** False if it did not end in time. */
  readonly hasEnded: boolean;
  /** `tasks/get` after the end, a moment later. */
  readonly late: Reply | undefined;
  /** `tasks/cancel` after the end. */
  readonly cancelledLate: Reply | undefined;
  /** Progress and log messages of the call after it became a task. */
  readonly chatter: readonly Frame[];
}

export function needExtension(context: CheckContext): void {
  const { extensions } = context.facts.capabilities;
  if (!isJsonObject(extensions) || extensions[EXTENSION] === undefined)
    context.skip(`the server does not announce ${EXTENSION}`);
}

/** The tasks that the callable tools make. Skips if none makes one. */
export async function extensionRuns(context: CheckContext): Promise<readonly ExtensionTaskRun[]> {
  needExtension(context);
  const told = RUNS.get(context.facts) ?? runAll(context);
  RUNS.set(context.facts, told);
  const runs = await told;
  return runs.length > 0 ? runs : context.skip('no called tool returned a task');
}

const RUNS = new WeakMap<Facts, Promise<readonly ExtensionTaskRun[]>>();

async function runAll(context: CheckContext): Promise<readonly ExtensionTaskRun[]> {
  const conversation = await context.openConversation();
  const until = context.clock.now() + context.patience.checkMs / 2;
  const runs: ExtensionTaskRun[] = [];
  for (const tool of likelyFirst(context).slice(0, MOST_TOOLS)) {
    if (context.clock.now() >= until) break;
    const run = await runOne(context, conversation, tool, until);
    if (run) runs.push(run);
  }
  return runs;
}

/** Nothing announces which tools make tasks. In the legacy era, the server may have said so. */
function likelyFirst(context: CheckContext): readonly CallableTool[] {
  const known = (context.factsOf('legacy')?.tools ?? []).filter(takesTasks).map(({ name }) => name);
  const isLikely = ({ name }: CallableTool) => known.includes(name);
  const { callable } = context.facts;
  return [...callable.filter(isLikely), ...callable.filter((tool) => !isLikely(tool))];
}

const MOST_TOOLS = 20;
const POLL_MS = 50;
const TOKEN = 'isthmus-extension-task';

/** Calls a tool, and returns its task. */
export async function createTask(
  conversation: CheckConversation,
  { name, args }: CallableTool,
): Promise<{ readonly created: Reply; readonly taskId: string } | undefined> {
  const created = await conversation.request(
    'tools/call',
    { name, arguments: args },
    { ...WITH_TASKS, progressToken: TOKEN },
  );
  const { resultType, taskId } = created.kind === 'result' ? created.result : {};
  return resultType === 'task' && typeof taskId === 'string' ? { created, taskId } : undefined;
}

/** A new task of a tool that has made one before. */
export async function anotherTask(
  context: CheckContext,
  conversation: CheckConversation,
): Promise<{ readonly tool: string; readonly taskId: string }> {
  const runs = await extensionRuns(context);
  // The one that takes the longest is the most likely to be running still.
  const slowest = [...runs].sort((one, other) => other.states.length - one.states.length)[0]!;
  const tool = context.facts.callable.find(({ name }) => name === slowest.tool)!;
  const task = await createTask(conversation, tool);
  return task
    ? { tool: tool.name, taskId: task.taskId }
    : context.skip(`${tool.name} made a task once, and not again`);
}

async function runOne(
  context: CheckContext,
  conversation: CheckConversation,
  tool: CallableTool,
  until: number,
): Promise<ExtensionTaskRun | undefined> {
  const task = await createTask(conversation, tool);
  if (!task) return undefined;
  const { taskId } = task;
  const { frames } = conversation.transcript;
  const from = task.created.frame ? frames.indexOf(task.created.frame) : frames.length;
  const states: Reply[] = [];
  const updates: Reply[] = [];
  const answered: string[] = [];
  const reused: string[] = [];
  let strayUpdate: Reply | undefined;
  /** The questions of the last state, as text. */
  let outstanding = new Map<string, string>();
  const get = async () => {
    const state = await conversation.request('tasks/get', { taskId }, WITH_TASKS);
    states.push(state);
    return state.kind === 'result' ? state.result : {};
  };
  const update = (inputResponses: JsonObject) =>
    conversation.request('tasks/update', { taskId, inputResponses }, WITH_TASKS);
  let state = await get();
  while (!ENDED.includes(String(state['status'])) && states.at(-1)?.kind === 'result') {
    if (context.clock.now() >= until) break;
    const asked = isJsonObject(state['inputRequests']) ? state['inputRequests'] : {};
    const keys = Object.keys(asked);
    // An answered question may be there for a while. Another one under its key may not.
    const again = keys.filter(
      (key) => answered.includes(key) && outstanding.get(key) !== JSON.stringify(asked[key]),
    );
    reused.push(...again);
    outstanding = new Map(keys.map((key) => [key, JSON.stringify(asked[key])]));
    const fresh = keys.filter((key) => !answered.includes(key) || again.includes(key));
    if (fresh.length > 0) {
      strayUpdate ??= await update({ 'isthmus-check-no-such-key': { action: 'decline' } });
      updates.push(await update(Object.fromEntries(fresh.map((key) => [key, answerTo(asked[key])]))));
      answered.push(...fresh);
    } else await context.pause(POLL_MS);
    state = await get();
  }
  const hasEnded = ENDED.includes(String(state['status']));
  const chatter = frames.slice(from).filter((frame) => frame.from === 'server' && isChatter(frame));
  if (hasEnded) await context.pause(POLL_MS);
  return {
    tool: tool.name,
    ...task,
    states,
    answered,
    reused,
    updates,
    strayUpdate,
    hasEnded,
    late: hasEnded ? await conversation.request('tasks/get', { taskId }, WITH_TASKS) : undefined,
    cancelledLate: hasEnded ? await conversation.request('tasks/cancel', { taskId }, WITH_TASKS) : undefined,
    chatter,
  };
}

export const ENDED: readonly string[] = ['completed', 'failed', 'cancelled'];

function answerTo(request: unknown): JsonObject {
  const method = isJsonObject(request) ? request['method'] : undefined;
  const answer = answerPolitely({ method: typeof method === 'string' ? method : '' });
  return 'result' in answer ? answer.result : { action: 'cancel' };
}

/** Progress names its token. On streams, a log message cannot be told from that of another call. */
function isChatter({ method, text }: Frame): boolean {
  return method === 'notifications/progress' && text.includes(TOKEN);
}

/** The last state of a task. */
export function endOf({ states }: ExtensionTaskRun): JsonObject {
  const last = states.at(-1);
  return last?.kind === 'result' ? last.result : {};
}
