import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Check } from '../../../../model.js';
import { complaintText, judgeResult } from '../../../../shapes/index.js';
import { RELATED_TASK } from '../../../../shapes/meta.js';
import { hasCapability } from '../../../../survey/facts.js';
import { inWords, needRefusal, several } from '../../answers.js';
import { needUnguessable } from './guessable.js';
import {
  cancelledTask,
  needTasks,
  needTaskTool,
  TASKS_REVISION,
  takesTasks,
  taskIn,
  taskRunOf,
} from './legacy-run.js';

/** Tasks of 2025-11-25: their life. */
export const legacyTaskChecks: readonly Check[] = [
  {
    ...task('tasks/declared', 'Announces tasks.requests.tools.call if a tool supports tasks', ['TASK-001']),
    lane: 'shared',
    hint: 'Announce tasks.requests.tools.call, or remove execution.taskSupport from the tools.',
    run(context) {
      needTasks(context);
      const wanting = context.facts.tools.filter(takesTasks).map(({ name }) => String(name));
      const isAnnounced = hasCapability(context.facts.capabilities, 'tasks.requests.tools.call');
      if (wanting.length === 0 && !isAnnounced) context.skip('no tool of the server supports tasks');
      if (wanting.length > 0 && !isAnnounced)
        context.fail(
          `${several(wanting)} may run as a task, but tasks.requests.tools.call is not announced`,
          'both or neither',
        );
      return `${wanting.length} tools may run as tasks, and that is announced`;
    },
  },
  {
    ...task('tasks/ignored', 'Ignores params.task if it does not run tools as tasks', ['TASK-004']),
    lane: 'shared',
    hint: 'Ignore params.task, and answer with the result.',
    async run(context) {
      needTasks(context);
      if (hasCapability(context.facts.capabilities, 'tasks.requests.tools.call'))
        context.skip('the server runs tools as tasks');
      const { name, args } = context.needTool();
      const conversation = await context.conversation();
      const reply = await conversation.request('tools/call', {
        name,
        arguments: args,
        task: { ttl: 60_000 },
      });
      const result = context.needResult(reply, `${name}, called with task,`);
      if (!Array.isArray(result['content']))
        context.fail(`${name}, called with task, was answered with ${inWords(reply)}`, 'its plain result');
      return `${name}, called with task, returned its plain result`;
    },
  },
  {
    ...task('tasks/created', 'Answers a call with params.task with a task whose status is working', [
      'TASK-005',
      'TASK-007',
    ]),
    hint: 'Answer at once with { task: { taskId, status: "working", createdAt, lastUpdatedAt, ttl } }.',
    async run(context) {
      const { tool, created } = await taskRunOf(context);
      const complaints =
        created.kind === 'result' ? judgeResult('tools/call', created.result, TASKS_REVISION) : [];
      if (complaints.length > 0) context.fail(`${tool}: ${several(complaints.map(complaintText))}`, 'a task');
      const { status } = taskIn(created);
      if (status !== 'working')
        context.fail(`a new task of ${tool} is ${JSON.stringify(status)}`, '"working"');
      return `${tool} returned a task with the status working`;
    },
  },
  {
    ...task('tasks/unguessable', 'Gives tasks ids that cannot be guessed', ['TASK-006']),
    hint: 'Use a random UUID.',
    async run(context) {
      const [one, other] = [(await taskRunOf(context)).taskId, (await cancelledTask(context)).taskId];
      return needUnguessable(context, one, other);
    },
  },
  {
    ...task('tasks/state', 'Answers tasks/get with the state of the task', ['TASK-007']),
    hint: 'Answer tasks/get with taskId, status, createdAt, lastUpdatedAt and ttl (a number or null).',
    async run(context) {
      const { early, late, taskId } = await taskRunOf(context);
      for (const reply of [early, ...late]) {
        const result = context.needResult(reply, `tasks/get ${taskId}`);
        const complaints = judgeResult('tasks/get', result, TASKS_REVISION);
        if (complaints.length > 0)
          context.fail(several(complaints.map(complaintText)), 'the state of a task');
      }
      return `it was ${String(taskIn(early)['status'])}, then ${String(taskIn(late[0]!)['status'])}`;
    },
  },
  {
    ...task('tasks/result', 'Answers tasks/result with the result of the task', ['TASK-008']),
    hint: 'Wait in tasks/result for the end of the task, and answer with the result of tools/call.',
    async run(context) {
      const { result, taskId, tool } = await taskRunOf(context);
      if (result.kind === 'silence')
        return context.skip(`the task of ${tool} did not end in time: ${result.why}`);
      if (result.kind === 'error') return `the task ended with ${inWords(result)}`;
      const complaints = judgeResult('tools/call', result.result, TASKS_REVISION);
      if (complaints.length > 0)
        context.fail(
          `tasks/result ${taskId}: ${several(complaints.map(complaintText))}`,
          `the result of ${tool}`,
        );
      return `tasks/result returned the result of ${tool}`;
    },
  },
  {
    ...task('tasks/related', 'Names the task in the result of tasks/result', ['TASK-010']),
    hint: `Add _meta["${RELATED_TASK}"] with the taskId to the result of tasks/result.`,
    async run(context) {
      const { result, taskId } = await taskRunOf(context);
      if (result.kind !== 'result') return context.skip(`the task has no result: ${inWords(result)}`);
      const meta = isJsonObject(result.result['_meta']) ? result.result['_meta'] : {};
      const related = meta[RELATED_TASK];
      if (!isJsonObject(related) || related['taskId'] !== taskId)
        context.fail(
          `_meta["${RELATED_TASK}"] is ${JSON.stringify(related) ?? 'absent'}`,
          `{"taskId":"${taskId}"}`,
        );
      return 'the result names its task';
    },
  },
  {
    ...task('tasks/final', 'Does not change the status of a task that has ended', ['TASK-009', 'TASK-012']),
    hint: 'The states completed, failed and cancelled are final. Answer tasks/cancel with -32602 in these states.',
    async run(context) {
      const { result, late, cancelled } = await taskRunOf(context);
      if (result.kind === 'silence') context.skip('the task did not end in time');
      const states = late.map((reply) => String(taskIn(reply)['status']));
      if (!states.every((state) => ENDED.includes(state)) || states[0] !== states[1])
        context.fail(
          `after tasks/result the task is ${states.join(', then ')}`,
          'one of completed, failed, cancelled',
        );
      return needRefusal(context, cancelled, [-32602], `tasks/cancel of a task that is ${states[0]}`);
    },
  },
  {
    ...task('tasks/cancelled', 'Has cancelled the task when it answers tasks/cancel', ['TASK-013']),
    hint: 'Answer tasks/cancel with the task and the status cancelled. The status does not change after that.',
    async run(context) {
      const { cancelled, after } = await cancelledTask(context);
      if (cancelled.kind === 'error' && cancelled.error.code === -32602)
        context.skip('the task was over before it could be cancelled');
      const result = context.needResult(cancelled, 'tasks/cancel');
      const states = [result['status'], taskIn(after)['status']].map(String);
      if (states.some((state) => state !== 'cancelled'))
        context.fail(
          `tasks/cancel returned ${states[0]}, and tasks/get then returned ${states[1]}`,
          'cancelled',
        );
      return 'tasks/cancel and tasks/get returned cancelled';
    },
  },
  {
    ...task('tasks/unknown', 'Refuses an unknown task with -32602', ['TASK-012']),
    lane: 'shared',
    hint: 'Look up the task first, and answer -32602 if there is none.',
    async run(context) {
      needTasks(context);
      context.needCapability('tasks');
      const conversation = await context.conversation();
      const taskId = 'isthmus-check-no-such-task';
      const methods = ['tasks/get', 'tasks/result'];
      if (hasCapability(context.facts.capabilities, 'tasks.cancel')) methods.push('tasks/cancel');
      for (const method of methods)
        needRefusal(
          context,
          await conversation.request(method, { taskId }),
          [-32602],
          `${method} of an unknown task`,
        );
      return `an unknown task was refused by ${methods.join(', ')}`;
    },
  },
  {
    ...task('tasks/progress-ends', 'Reports no progress of a task that has ended', ['PROG-011']),
    hint: 'Drop the progress token when the task has ended.',
    async run(context) {
      needTaskTool(context);
      const { progress, lateProgress, result } = await taskRunOf(context);
      if (progress === 0) context.skip('the task reported no progress');
      if (result.kind === 'silence') context.skip('the task did not end in time');
      if (lateProgress.length > 0)
        context.fail(`${lateProgress.length} progress notifications came after the end of the task`, 'none');
      return `${progress} progress notifications came, and none after the end`;
    },
  },
];

const ENDED = ['completed', 'failed', 'cancelled'];

export function task(id: string, title: string, rules: readonly string[]): Omit<Check, 'hint' | 'run'> {
  return { id, suite: 'protocol', title, level: 'MUST', rules, era: 'legacy', lane: 'own' };
}
