import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Check } from '../../../../model.js';
import type { CheckContext } from '../../../../run/check-context.js';
import { RELATED_TASK } from '../../../../shapes/meta.js';
import { type CallableTool, hasCapability, reportsError } from '../../../../survey/facts.js';
import { answerPolitely } from '../../../../survey/walkthrough.js';
import { type Frame, paramsOf } from '../../../../wire/transcript.js';
import { inWords, needRefusal } from '../../answers.js';
import { task } from './legacy.js';
import { needTasks, needTaskTool, takesTasks, taskIn, taskRunOf } from './legacy-run.js';

/** Tasks of 2025-11-25: which tools, which methods, whose tasks. */
export const legacyTaskRules: readonly Check[] = [
  {
    ...task('tasks/forbidden', 'Refuses task for a tool that does not support tasks with -32601', [
      'TASK-L-007',
    ]),
    level: 'SHOULD',
    lane: 'shared',
    hint: 'Answer -32601 when a call has task and the tool does not allow it.',
    async run(context) {
      needTaskCapability(context);
      const { name, args } = context.needTool(({ tool }) => !takesTasks(tool), 'that does not support tasks');
      const conversation = await context.conversation();
      const reply = await conversation.request('tools/call', { name, arguments: args, task: {} });
      return needRefusal(context, reply, [-32601], `${name}, called with task,`);
    },
  },
  {
    ...task('tasks/required', 'Refuses a plain call of a tool that runs only as a task with -32601', [
      'TASK-L-010',
    ]),
    lane: 'shared',
    hint: 'Answer -32601 when a call has no task and taskSupport of the tool is "required".',
    async run(context) {
      needTaskCapability(context);
      const { name, args } = context.needTool(
        ({ tool }) => supportOf(tool) === 'required',
        'that runs only as a task',
      );
      const conversation = await context.conversation();
      const reply = await conversation.request('tools/call', { name, arguments: args });
      return needRefusal(context, reply, [-32601], `${name}, called without task,`);
    },
  },
  {
    ...task('tasks/undeclared-methods', 'Serves tasks/list and tasks/cancel only if they are declared', [
      'TASK-L-004',
    ]),
    level: 'SHOULD',
    lane: 'shared',
    hint: 'Declare tasks.list and tasks.cancel, or answer these methods with -32601.',
    async run(context) {
      needTaskCapability(context);
      const conversation = await context.conversation();
      const undeclared = ['list', 'cancel'].filter(
        (each) => !hasCapability(context.facts.capabilities, `tasks.${each}`),
      );
      if (undeclared.length === 0) return context.skip('the server declares both');
      for (const each of undeclared) {
        const params = each === 'list' ? {} : { taskId: 'isthmus-check-no-such-task' };
        needRefusal(context, await conversation.request(`tasks/${each}`, params), [-32601], `tasks/${each}`);
      }
      return `${undeclared.join(' and ')} are refused`;
    },
  },
  {
    ...task('tasks/get-not-streamed', 'Answers tasks/get with JSON, not with a stream', ['TASK-L-038']),
    level: 'SHOULD',
    over: ['http'],
    hint: 'Answer tasks/get with application/json.',
    async run(context) {
      const { early } = await taskRunOf(context);
      return early.http?.isStream
        ? context.fail('tasks/get was answered with an event stream', 'application/json')
        : 'it was answered with JSON';
    },
  },
  {
    ...task('tasks/related-ignored', 'Goes by taskId, whatever related-task says', ['TASK-L-051']),
    hint: 'Use params.taskId of tasks/get, tasks/result and tasks/cancel only.',
    async run(context) {
      const { conversation, taskId } = await newTask(context);
      const meta = { [RELATED_TASK]: { taskId: 'isthmus-check-no-such-task' } };
      const reply = await conversation.request('tasks/get', { taskId }, { meta });
      const result = context.needResult(reply, 'tasks/get with another related-task');
      return result['taskId'] === taskId
        ? 'the task of taskId was returned'
        : context.fail(`tasks/get returned the task ${String(result['taskId'])}`, taskId);
    },
  },
  {
    ...task(
      'tasks/related-left-out',
      'Leaves related-task out of the results of tasks/get and tasks/cancel',
      ['TASK-L-052'],
    ),
    level: 'SHOULD',
    hint: 'Add related-task only to messages that do not name their task otherwise.',
    async run(context) {
      const { early, late } = await taskRunOf(context);
      const bad = [early, ...late].find(
        (reply) =>
          reply.kind === 'result' &&
          isJsonObject(reply.result['_meta']) &&
          reply.result['_meta'][RELATED_TASK] !== undefined,
      );
      return bad
        ? context.fail('the result of tasks/get has related-task', 'no related-task')
        : 'it has none';
    },
  },
  {
    ...task('tasks/listed', 'Lists the tasks that can be read', ['TASK-L-072']),
    hint: 'Return every task of the requestor in tasks/list, on some page.',
    async run(context) {
      context.needCapability('tasks.list');
      const { conversation, taskId } = await newTask(context);
      const found = new Set<unknown>();
      let cursor: unknown;
      for (let pages = 0; pages < MOST_PAGES; pages += 1) {
        const reply = await conversation.request('tasks/list', cursor === undefined ? {} : { cursor });
        const { tasks, nextCursor } = context.needResult(reply, 'tasks/list');
        for (const each of Array.isArray(tasks) ? tasks : [])
          found.add(isJsonObject(each) ? each['taskId'] : undefined);
        cursor = nextCursor;
        if (typeof cursor !== 'string' || found.has(taskId)) break;
      }
      return found.has(taskId)
        ? 'the new task is listed'
        : context.fail('the new task is not in tasks/list', taskId);
    },
  },
  {
    ...task('tasks/list-cursor', 'Refuses a cursor of tasks/list that it did not make with -32602', [
      'TASK-012',
    ]),
    lane: 'shared',
    hint: 'Check cursors, and answer -32602.',
    async run(context) {
      needTasks(context);
      context.needCapability('tasks.list');
      const conversation = await context.conversation();
      const reply = await conversation.request('tasks/list', { cursor: 'isthmus-check-no-such-cursor' });
      return needRefusal(context, reply, [-32602], 'tasks/list with an unknown cursor');
    },
  },
  {
    ...task('tasks/no-list-for-strangers', 'Declares tasks.list only if it can tell users apart', [
      'TASK-L-092',
    ]),
    level: 'SHOULD',
    lane: 'shared',
    over: ['http'],
    hint: 'Without authentication, everybody would see the tasks of everybody. Do not declare tasks.list then.',
    run(context) {
      needTaskCapability(context);
      const { target } = context;
      const hasUsers = target.transport === 'http' && Object.keys(target.headers).length > 0;
      if (hasUsers) return context.skip('credentials were given, so the server can tell users apart');
      return hasCapability(context.facts.capabilities, 'tasks.list')
        ? context.fail('tasks.list is declared, and no credentials are needed', 'no tasks.list')
        : 'tasks.list is not declared';
    },
  },
  {
    ...task('tasks/error-is-failed', 'Fails a task whose tool reports an error', ['TASK-L-035']),
    level: 'SHOULD',
    hint: 'In 2025-11-25 a result with isError: true makes the task failed.',
    async run(context) {
      const reporting = context.facts.callable.find(
        ({ name, tool }) => supportOf(tool) === 'optional' && reportsError(context.facts, name),
      );
      if (!reporting) return context.skip('no tool that runs as a task reports an error');
      const { conversation, taskId } = await newTask(context, reporting);
      await conversation.request('tasks/result', { taskId }, { ms: context.patience.checkMs / 2 });
      const { status } = taskIn(await conversation.request('tasks/get', { taskId }));
      return status === 'failed'
        ? `the task of ${reporting.name} is failed`
        : context.fail(`${reporting.name} reports an error, and its task is ${String(status)}`, 'failed');
    },
  },
  {
    ...task('tasks/questions-related', 'Names the task in its questions', ['TASK-010']),
    hint: `Add _meta["${RELATED_TASK}"] to the requests of a task.`,
    async run(context) {
      needTaskCapability(context);
      const asking = context.facts.callable.filter(
        ({ tool, name }) => takesTasks(tool) && asks(context, name),
      );
      if (asking.length === 0) return context.skip('no tool that runs as a task asks something');
      // The task may ask before the answer to the call has been read.
      const related: unknown[] = [];
      const { conversation, taskId } = await newTask(context, asking[0], (request) => {
        const meta = paramsOf(request)['_meta'];
        const named = isJsonObject(meta) ? meta[RELATED_TASK] : undefined;
        related.push(isJsonObject(named) ? named['taskId'] : undefined);
      });
      const ms = context.patience.checkMs / 2;
      const result = await conversation.request('tasks/result', { taskId }, { ms });
      if (related.length === 0) return context.skip(`the task asked nothing: ${inWords(result)}`);
      return related.every((named) => named === taskId)
        ? `${related.length} questions named the task`
        : context.fail('a question of the task does not name it', `_meta["${RELATED_TASK}"]`);
    },
  },
  {
    ...task('tasks/users-apart', 'Keeps the tasks of one user from another', ['TASK-015']),
    over: ['http'],
    hint: 'Keep the user with the task, and treat a task of another user as unknown.',
    async run(context) {
      const other = context.tokens.of('other');
      if (other === undefined)
        return context.skip('no token of another user was given (--token other=…, --token-key)');
      const { conversation, taskId } = await newTask(context);
      const headers = { authorization: `Bearer ${other}` };
      for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
        const reply = await conversation.request(method, { taskId }, { headers });
        if (reply.kind === 'result') context.fail(`${method} of another user was served`, 'a refusal');
      }
      return 'another user was refused';
    },
  },
];

const MOST_PAGES = 50;

function needTaskCapability(context: CheckContext): void {
  needTasks(context);
  if (!hasCapability(context.facts.capabilities, 'tasks.requests.tools.call'))
    context.skip('the server does not announce tasks.requests.tools.call');
}

async function newTask(
  context: CheckContext,
  tool: CallableTool = needTaskTool(context),
  onQuestion: (request: Frame) => void = () => {},
) {
  const conversation = await context.openConversation();
  conversation.answerWith((request) => {
    onQuestion(request);
    return answerPolitely(request);
  });
  const params = { name: tool.name, arguments: tool.args, task: { ttl: 60_000 } };
  const created = await conversation.request('tools/call', params);
  const { taskId } = taskIn(created);
  if (typeof taskId === 'string') return { conversation, taskId };
  return context.skip(`${tool.name}, called with task, was answered with ${inWords(created)}`);
}

function supportOf({ execution }: JsonObject): unknown {
  return isJsonObject(execution) ? execution['taskSupport'] : undefined;
}

/** Whether it asked something during the survey. */
function asks({ facts }: CheckContext, tool: string): boolean {
  return facts.walkthrough.some(
    ({ method, params, questions }) =>
      method === 'tools/call' && params['name'] === tool && questions.length > 0,
  );
}
