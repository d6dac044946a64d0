import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Reply } from '../../../../conversation/conversation.js';
import type { Check } from '../../../../model.js';
import type { CheckContext } from '../../../../run/check-context.js';
import { complaintText, judgeResult } from '../../../../shapes/index.js';
import { hasCapability } from '../../../../survey/facts.js';
import { inWords, needRefusal, several } from '../../answers.js';
import { EXTENSION, extensionRuns, needExtension, WITH_TASKS } from './extension-run.js';

const about = { suite: 'protocol', level: 'MUST', era: 'modern', lane: 'own' } as const;
const NO_TASK = 'isthmus-check-no-such-task';

/** Tasks of the modern extension: what they need, and what is refused. */
export const taskExtensionRefusals: readonly Check[] = [
  {
    ...about,
    id: 'tasks/extension-needed',
    title: 'Serves tasks only to requests that declare the extension',
    lane: 'shared',
    rules: ['TASK-017'],
    hint: `Answer tasks/get with -32021, and name extensions["${EXTENSION}"] in requiredCapabilities.`,
    async run(context) {
      needExtension(context);
      const conversation = await context.conversation();
      const reply = await conversation.request('tasks/get', { taskId: NO_TASK });
      return needExtensionError(context, reply, 'tasks/get without the extension');
    },
  },
  {
    ...about,
    id: 'tasks/extension-needed-everywhere',
    title: 'Requires the extension for tasks/update, tasks/cancel and taskIds of a subscription',
    lane: 'shared',
    rules: ['TASK-M-007'],
    hint: 'Check the extension before you look up the task.',
    async run(context) {
      needExtension(context);
      const conversation = await context.conversation();
      const requests = [
        ['tasks/update', { taskId: NO_TASK, inputResponses: {} }],
        ['tasks/cancel', { taskId: NO_TASK }],
        ['subscriptions/listen', { notifications: { taskIds: [NO_TASK] } }],
      ] as const;
      for (const [method, params] of requests) {
        const pending = conversation.start(method, params);
        // A subscription that is accepted is not answered.
        const accepted = pending.waitFor(({ method: said }) => said?.endsWith('acknowledged') === true);
        const first = await Promise.race([pending.reply, accepted.then((frame) => frame && 'accepted')]);
        if (first === 'accepted' || first === undefined) {
          await pending.cancel();
          context.fail(`${method} without the extension was accepted`, 'error -32021');
        }
        needExtensionError(context, first as Reply, `${method} without the extension`);
      }
      return 'all three were refused with -32021';
    },
  },
  {
    ...about,
    id: 'tasks/extension-ready',
    title: 'Knows a task as soon as it has returned it, and returns its complete state',
    rules: ['TASK-018', 'TASK-019'],
    hint: 'Store the task before you answer. The result of tasks/get has resultType "complete" and the members that the status requires.',
    async run(context) {
      const runs = await extensionRuns(context);
      for (const { tool, states } of runs) {
        const result = context.needResult(states[0]!, `tasks/get of a new task of ${tool}`);
        const complaints = judgeResult('tasks/get', result, '2026-07-28');
        if (complaints.length > 0)
          context.fail(`tasks/get: ${several(complaints.map(complaintText))}`, 'the state of a task');
      }
      return `${runs.length} tasks were known at once`;
    },
  },
  {
    ...about,
    id: 'tasks/extension-unknown',
    title: 'Refuses tasks/get of an unknown task of the extension with -32602',
    lane: 'shared',
    rules: ['TASK-M-080'],
    hint: 'Answer tasks/get of an unknown task with -32602.',
    async run(context) {
      needExtension(context);
      const conversation = await context.conversation();
      const reply = await conversation.request('tasks/get', { taskId: NO_TASK }, WITH_TASKS);
      return needRefusal(context, reply, [-32602], 'tasks/get of an unknown task');
    },
  },
  {
    ...about,
    id: 'tasks/extension-unknown-others',
    title: 'Refuses tasks/update and tasks/cancel of an unknown task with -32602',
    level: 'SHOULD',
    lane: 'shared',
    rules: ['TASK-M-080'],
    hint: 'Look up the task first, and answer -32602 if there is none.',
    async run(context) {
      needExtension(context);
      const conversation = await context.conversation();
      for (const [method, params] of [
        ['tasks/update', { taskId: NO_TASK, inputResponses: {} }],
        ['tasks/cancel', { taskId: NO_TASK }],
      ] as const)
        needRefusal(
          context,
          await conversation.request(method, params, WITH_TASKS),
          [-32602],
          `${method} of an unknown task`,
        );
      return 'both were refused with -32602';
    },
  },
  {
    ...about,
    id: 'tasks/extension-no-legacy-result',
    title: 'Has no tasks/result in the modern era',
    lane: 'shared',
    rules: ['TASK-M-011'],
    hint: 'Answer tasks/result with -32601. The result is in tasks/get.',
    async run(context) {
      needExtension(context);
      const conversation = await context.conversation();
      const reply = await conversation.request('tasks/result', { taskId: NO_TASK }, WITH_TASKS);
      return needRefusal(context, reply, [-32601], 'tasks/result');
    },
  },
  {
    ...about,
    id: 'tasks/extension-ignores-task',
    title: 'Ignores params.task of 2025-11-25 in the modern era',
    lane: 'shared',
    rules: ['TASK-M-012'],
    hint: 'Treat params.task as any other unknown member.',
    async run(context) {
      const served = context.facts.walkthrough.find(
        ({ method, reply }) =>
          method === 'tools/call' && reply.kind === 'result' && reply.result['resultType'] === 'complete',
      );
      if (!served) return context.skip('no called tool returned a result');
      const conversation = await context.conversation();
      const reply = await conversation.request('tools/call', { ...served.params, task: { ttl: 60_000 } });
      const result = context.needResult(reply, 'a call with params.task');
      return result['resultType'] === 'complete' && Array.isArray(result['content'])
        ? 'a call with params.task returned its plain result'
        : context.fail(`a call with params.task was answered with ${inWords(reply)}`, 'its plain result');
    },
  },
  {
    ...about,
    id: 'tasks/extension-no-legacy-capability',
    title: 'Does not announce the capability tasks of 2025-11-25 in the modern era',
    lane: 'shared',
    rules: ['TASK-M-013'],
    hint: `Announce extensions["${EXTENSION}"] instead.`,
    run(context) {
      const isAnnounced = hasCapability(context.facts.capabilities, 'tasks');
      return isAnnounced
        ? context.fail('server/discover announces tasks', 'no tasks')
        : 'it is not announced';
    },
  },
  {
    ...about,
    id: 'tasks/extension-off-in-legacy',
    title: 'Does not use the extension in a legacy session',
    era: 'legacy',
    rules: ['TASK-M-009'],
    hint: 'Look at params.task in a session of 2025-11-25, and not at the extension.',
    async run(context) {
      const { capabilities } = context.factsOf('modern') ?? {};
      if (!capabilities || !hasCapability(capabilities, 'extensions'))
        return context.skip('the server does not announce the extension in the modern era');
      const conversation = await context.openConversation({ capabilities: WITH_TASKS.capabilities });
      for (const { name, args } of context.facts.callable.slice(0, 5)) {
        const reply = await conversation.request('tools/call', { name, arguments: args });
        const isTask =
          reply.kind === 'result' && (reply.result['resultType'] === 'task' || 'task' in reply.result);
        if (isTask) context.fail(`${name} was answered with a task in a legacy session`, 'its result');
      }
      return 'plain calls had plain results';
    },
  },
];

/** Fails unless the answer is -32021 and names the extension. */
function needExtensionError(context: CheckContext, reply: Reply, what: string): string {
  const data = reply.kind === 'error' && isJsonObject(reply.error.data) ? reply.error.data : {};
  const needed = isJsonObject(data['requiredCapabilities']) ? data['requiredCapabilities'] : {};
  const extensions = isJsonObject(needed['extensions']) ? needed['extensions'] : {};
  const seen = `${what} was answered with ${inWords(reply)}`;
  if (reply.kind !== 'error' || reply.error.code !== -32021) context.fail(seen, 'error -32021');
  if (extensions[EXTENSION] === undefined)
    context.fail(`${seen}, and its data do not name it`, `requiredCapabilities.extensions["${EXTENSION}"]`);
  return seen;
}
