import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Check } from '../../../../model.js';
import { paramsOf } from '../../../../wire/transcript.js';
import { needRefusal } from '../../answers.js';
import { needAcknowledged } from './extension.js';
import { anotherTask, extensionRuns, WITH_TASKS } from './extension-run.js';

const about = { suite: 'protocol', level: 'MUST', era: 'modern', lane: 'own' } as const;
const NO_TASK = 'isthmus-check-no-such-task';

/** Tasks of the modern extension: questions, subscriptions, and whose they are. */
export const taskExtensionInput: readonly Check[] = [
  {
    ...about,
    id: 'tasks/extension-update',
    title: 'Acknowledges tasks/update with an empty result',
    rules: ['TASK-M-044', 'TASK-019'],
    hint: 'Answer tasks/update with resultType "complete" and nothing else.',
    async run(context) {
      const updates = (await extensionRuns(context)).flatMap((run) => run.updates);
      if (updates.length === 0) return context.skip('no task asked for input');
      for (const reply of updates) needAcknowledged(context, reply, 'tasks/update');
      return `${updates.length} updates were acknowledged`;
    },
  },
  {
    ...about,
    id: 'tasks/extension-stray-answers',
    title: 'Ignores answers that it did not ask for',
    level: 'SHOULD',
    rules: ['TASK-M-045'],
    hint: 'Ignore the keys of inputResponses that are not outstanding, and acknowledge the update.',
    async run(context) {
      const stray = (await extensionRuns(context)).flatMap(({ strayUpdate }) => strayUpdate ?? [])[0];
      return stray
        ? needAcknowledged(context, stray, 'tasks/update with an unknown key')
        : context.skip('no task asked for input');
    },
  },
  {
    ...about,
    id: 'tasks/extension-keys',
    title: 'Never uses a key of inputRequests again',
    rules: ['TASK-M-040'],
    hint: 'Count the questions of a task, and use the number in the key.',
    async run(context) {
      const asking = (await extensionRuns(context)).filter(({ answered }) => answered.length > 0);
      if (asking.length === 0) return context.skip('no task asked for input');
      const bad = asking.find(({ reused }) => reused.length > 0);
      return bad
        ? context.fail(`the task of ${bad.tool} used the key ${bad.reused[0]} again`, 'a new key')
        : `${asking.reduce((sum, { answered }) => sum + answered.length, 0)} keys were used once`;
    },
  },
  {
    ...about,
    id: 'tasks/extension-subscribed',
    title: 'Leaves unknown tasks out of the acknowledgement of a subscription',
    level: 'SHOULD',
    rules: ['TASK-M-063'],
    hint: 'Acknowledge only the taskIds that you report on.',
    async run(context) {
      const conversation = await context.openConversation();
      const { taskId } = await anotherTask(context, conversation);
      const pending = conversation.start(
        'subscriptions/listen',
        { notifications: { taskIds: [taskId, NO_TASK] } },
        WITH_TASKS,
      );
      context.atEnd(() => pending.cancel());
      const heard = await pending.waitFor(({ method }) => method?.endsWith('acknowledged') === true);
      if (!heard) return context.skip('the subscription was not acknowledged');
      const { notifications, _meta: meta } = paramsOf(heard);
      const taskIds = isJsonObject(notifications) ? notifications['taskIds'] : undefined;
      if (!Array.isArray(taskIds)) return context.skip('the server does not report on tasks');
      if (taskIds.includes(NO_TASK)) context.fail('an unknown task was acknowledged', 'only known tasks');
      const named = isJsonObject(meta) ? String(meta[META.subscriptionId]) : '';
      return `subscription ${named} acknowledged ${taskIds.length} of 2 tasks`;
    },
  },
  {
    ...about,
    id: 'tasks/extension-name-header',
    title: 'Refuses an Mcp-Name that is not the id of the task',
    over: ['http'],
    rules: ['TASK-M-071'],
    hint: 'Compare Mcp-Name with params.taskId, and answer with 400 and -32020.',
    async run(context) {
      const conversation = await context.openConversation();
      const { taskId } = await anotherTask(context, conversation);
      const headers = { 'mcp-name': NO_TASK };
      const reply = await conversation.request('tasks/get', { taskId }, { ...WITH_TASKS, headers });
      needRefusal(context, reply, [-32020], 'tasks/get with another Mcp-Name');
      return reply.http?.status === 400
        ? 'HTTP 400 with error -32020'
        : context.fail(`error -32020 came with HTTP ${reply.http?.status}`, 'HTTP 400');
    },
  },
  {
    ...about,
    id: 'tasks/extension-users-apart',
    title: 'Keeps the tasks of the extension of one user from another',
    over: ['http'],
    rules: ['TASK-M-081'],
    hint: 'Keep the user with the task, and treat a task of another user as unknown.',
    async run(context) {
      const other = context.tokens.of('other');
      if (other === undefined)
        return context.skip('no token of another user was given (--token other=…, --token-key)');
      const conversation = await context.openConversation();
      const { taskId } = await anotherTask(context, conversation);
      const headers = { authorization: `Bearer ${other}` };
      for (const method of ['tasks/get', 'tasks/cancel']) {
        const reply = await conversation.request(method, { taskId }, { ...WITH_TASKS, headers });
        if (reply.kind === 'result') context.fail(`${method} of another user was served`, 'a refusal');
      }
      return 'another user was refused';
    },
  },
];
