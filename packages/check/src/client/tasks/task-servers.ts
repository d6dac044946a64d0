import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Scenario, Script } from '../model.js';
import {
  cacheable,
  capabilitiesOf,
  complete,
  createSession,
  ECHO,
  echoOf,
  type Handler,
  legacy,
  modern,
  SERVER_INFO,
  SLOW,
  textResult,
} from '../scenarios/base-servers.js';
import type { ScriptTurn } from '../scripted/script.js';

export const TASKS = 'io.modelcontextprotocol/tasks';
export const RELATED = 'io.modelcontextprotocol/related-task';
/** How often clients are asked to poll. */
export const POLL_MS = 200;
/** The only question of a task. */
export const QUESTION = 'question-1';
/** A tool of 2025-11-25 that runs only as a task. */
export const JOB: JsonObject = { ...ECHO, name: 'job', execution: { taskSupport: 'required' } };
/** Its task does not end by itself. */
const ENDLESS: JsonObject = { ...SLOW, execution: { taskSupport: 'required' } };

const BOTH = ['stdio', 'http'] as const;
const FORM = {
  mode: 'form',
  message: 'Really?',
  requestedSchema: { type: 'object', properties: { ok: { type: 'boolean', default: true } } },
};

/** Servers that run tools as tasks. */
export const TASK_SCENARIOS: readonly Scenario[] = [
  {
    name: 'tasks-modern',
    title: 'A modern server that answers a call with a task, for clients that declare the extension',
    over: BOTH,
    serves: ['modern'],
    apart: true,
    open: () => modernTasks(),
  },
  {
    name: 'tasks-modern-asks',
    title: 'A modern server whose task asks a question before it ends',
    over: BOTH,
    serves: ['modern'],
    apart: true,
    open: () => modernTasks({ asks: true }),
  },
  {
    name: 'tasks-modern-endless',
    title: 'A modern server whose task does not end by itself',
    over: BOTH,
    serves: ['modern'],
    apart: true,
    steps: [{ do: 'list' }, { do: 'cancel', name: 'slow', afterMs: 500 }, { do: 'call', name: 'echo' }],
    open: () => modernTasks({ tools: [ECHO, SLOW] }),
  },
  {
    name: 'tasks-misplaced',
    title: 'A modern server that answers the list of tools with a task',
    over: BOTH,
    serves: [],
    apart: true,
    open: () =>
      modernTasks({
        on: { 'tools/list': (turn) => turn.reply({ resultType: 'task', ...stateOf('a-task', 'working') }) },
      }),
  },
  {
    name: 'tasks-legacy',
    title: 'A server of 2025-11-25 with a tool that runs only as a task',
    over: BOTH,
    serves: ['legacy'],
    apart: true,
    steps: [{ do: 'list' }, { do: 'call', name: 'job' }, { do: 'call', name: 'echo' }],
    open: () => legacyTasks(),
  },
  {
    name: 'tasks-legacy-asks',
    title: 'A server of 2025-11-25 whose task asks a question before it ends',
    over: BOTH,
    serves: ['legacy'],
    apart: true,
    steps: [{ do: 'list' }, { do: 'call', name: 'job' }],
    open: () => legacyTasks({ asks: true }),
  },
  {
    name: 'tasks-legacy-endless',
    title: 'A server of 2025-11-25 whose task does not end by itself',
    over: BOTH,
    serves: ['legacy'],
    apart: true,
    steps: [{ do: 'list' }, { do: 'cancel', name: 'slow', afterMs: 500 }, { do: 'call', name: 'echo' }],
    open: () => legacyTasks({ tools: [ENDLESS, ECHO] }),
  },
];

interface TaskBehaviour {
  readonly asks?: boolean;
  readonly tools?: readonly JsonObject[];
  readonly on?: Readonly<Record<string, Handler>>;
}

function modernTasks({ asks = false, tools = [ECHO], on = {} }: TaskBehaviour = {}): Script {
  const tasks = new Map<unknown, { name: unknown; result: JsonObject; polls: number; answered: boolean }>();
  return modern({
    tools,
    on: {
      'server/discover': (turn) =>
        turn.reply(
          cacheable({
            supportedVersions: ['2026-07-28'],
            capabilities: { tools: {}, extensions: { [TASKS]: {} } },
          }),
        ),
      'tools/call'(turn) {
        if (!declaresTasks(turn)) return false;
        const taskId = randomUUID();
        const result = { resultType: 'complete', ...echoOf(turn) };
        tasks.set(taskId, {
          name: turn.params['name'],
          result,
          polls: 0,
          answered: !asks || !canAnswer(turn),
        });
        turn.reply({ resultType: 'task', ...stateOf(taskId, 'working') });
      },
      'tasks/get'(turn) {
        const { taskId } = turn.params;
        const task = tasks.get(taskId);
        if (!task) return turn.fail(-32602, 'There is no such task');
        task.polls += 1;
        const state = (status: string, more: JsonObject = {}) =>
          turn.reply(complete({ ...stateOf(taskId, status), ...more }));
        if (task.name === 'slow' || task.polls <= WORKING) return state('working');
        if (!task.answered)
          return state('input_required', {
            inputRequests: { [QUESTION]: { method: 'elicitation/create', params: FORM } },
          });
        return state('completed', { result: task.result });
      },
      'tasks/update'(turn) {
        const task = tasks.get(turn.params['taskId']);
        const { inputResponses } = turn.params;
        const isAnswer = isJsonObject(inputResponses) && QUESTION in inputResponses;
        turn.reply(complete({}));
        // The answer takes effect a moment later, and the question is repeated until then.
        if (task && isAnswer) setTimeout(() => Object.assign(task, { answered: true }), 2 * POLL_MS).unref();
      },
      'tasks/cancel': (turn) => turn.reply(complete({})),
      ...on,
    },
  });
}

/** So many polls find the task at work. */
const WORKING = 2;

function stateOf(taskId: unknown, status: string): JsonObject {
  const at = new Date().toISOString();
  return { taskId, status, createdAt: at, lastUpdatedAt: at, ttlMs: 60_000, pollIntervalMs: POLL_MS };
}

function declaresTasks(turn: ScriptTurn): boolean {
  const { extensions } = capabilitiesOf(turn);
  return isJsonObject(extensions) && extensions[TASKS] !== undefined;
}

function canAnswer(turn: ScriptTurn): boolean {
  return capabilitiesOf(turn)['elicitation'] !== undefined;
}

interface ScriptedTask {
  readonly isEndless: boolean;
  readonly waiting: ScriptTurn[];
  polls: number;
  answered: boolean;
  isCancelled: boolean;
}

function legacyTasks({ asks = false, tools = [JOB, ECHO] }: TaskBehaviour = {}): Script {
  const session = createSession();
  const tasks = new Map<unknown, ScriptedTask>();
  const statusOf = ({ isCancelled, isEndless, polls, answered }: ScriptedTask) => {
    if (isCancelled) return 'cancelled';
    if (isEndless || polls <= WORKING) return 'working';
    return answered ? 'completed' : 'input_required';
  };
  const stateOfTask = (taskId: unknown, task: ScriptedTask) => {
    const { ttlMs: ttl, pollIntervalMs: pollInterval, ...state } = stateOf(taskId, statusOf(task));
    return { ...state, ttl, pollInterval };
  };
  const related = (taskId: unknown) => ({ _meta: { [RELATED]: { taskId } } });
  const finish = (turn: ScriptTurn, taskId: unknown) =>
    turn.reply({ ...textResult('done'), ...related(taskId) });
  return legacy({
    session,
    tools,
    on: {
      initialize(turn) {
        session.id = randomUUID();
        session.capabilities = (turn.params['capabilities'] ?? {}) as JsonObject;
        const capabilities = { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } };
        turn.reply(
          { protocolVersion: '2025-11-25', capabilities, serverInfo: SERVER_INFO },
          { 'mcp-session-id': session.id },
        );
      },
      'tools/call'(turn) {
        const { name } = turn.params;
        if (!tools.some((tool) => tool['name'] === name && tool['execution'] !== undefined)) return false;
        if (turn.params['task'] === undefined) return turn.fail(-32601, 'This tool runs as a task');
        const taskId = randomUUID();
        const answered = !asks || session.capabilities['elicitation'] === undefined;
        const isEndless = name === ENDLESS['name'];
        const task = { isEndless, polls: 0, answered, isCancelled: false, waiting: [] };
        tasks.set(taskId, task);
        turn.reply({ task: stateOfTask(taskId, task) });
      },
      'tasks/get'(turn) {
        const { taskId } = turn.params;
        const task = tasks.get(taskId);
        if (!task) return turn.fail(-32602, 'There is no such task');
        task.polls += 1;
        turn.reply(stateOfTask(taskId, task));
      },
      'tasks/result'(turn) {
        const { taskId } = turn.params;
        const task = tasks.get(taskId);
        if (!task) return turn.fail(-32602, 'There is no such task');
        task.polls = WORKING + 1;
        if (task.isCancelled) return turn.fail(-32603, 'The task was cancelled');
        if (task.answered && !task.isEndless) return finish(turn, taskId);
        task.waiting.push(turn);
        if (task.isEndless) return;
        turn.say({
          jsonrpc: '2.0',
          id: `${ASKED}${String(taskId)}`,
          method: 'elicitation/create',
          params: { ...FORM, ...related(taskId) },
        });
      },
      'tasks/cancel'(turn) {
        const { taskId } = turn.params;
        const task = tasks.get(taskId);
        if (!task?.isEndless || task.isCancelled) return turn.fail(-32602, 'The task has ended');
        task.isCancelled = true;
        turn.reply(stateOfTask(taskId, task));
        for (const waiting of task.waiting.splice(0)) waiting.fail(-32603, 'The task was cancelled');
      },
      // The answer to the question.
      ''(turn) {
        if (!String(turn.id).startsWith(ASKED)) return false;
        turn.accept();
        const taskId = String(turn.id).slice(ASKED.length);
        const task = tasks.get(taskId);
        if (!task) return;
        task.answered = true;
        for (const waiting of task.waiting.splice(0)) finish(waiting, taskId);
      },
    },
  });
}

const ASKED = 'ask-';
