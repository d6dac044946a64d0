import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Reply } from '../../../../conversation/conversation.js';
import type { Check } from '../../../../model.js';
import type { CheckContext } from '../../../../run/check-context.js';
import { complaintText, judgeResult } from '../../../../shapes/index.js';
import { reportsError } from '../../../../survey/facts.js';
import { inWords, several } from '../../answers.js';
import { anotherTask, endOf, extensionRuns, WITH_TASKS } from './extension-run.js';
import { needUnguessable } from './guessable.js';

const REVISION = '2026-07-28';
const about = { suite: 'protocol', level: 'MUST', era: 'modern', lane: 'own' } as const;

/** Tasks of the modern extension: their life. */
export const taskExtensionChecks: readonly Check[] = [
  {
    ...about,
    id: 'tasks/extension-created',
    title: 'Answers with a flat task, without a result or questions in it',
    rules: ['TASK-M-020'],
    hint: 'Answer with resultType "task" and the members of the task, and nothing of its result.',
    async run(context) {
      const runs = await extensionRuns(context);
      for (const { tool, created } of runs) {
        if (created.kind !== 'result') continue;
        const complaints = judgeResult('tools/call', created.result, REVISION).map(complaintText);
        const foreign = ['task', 'result', 'error', 'inputRequests', 'requestState'].filter(
          (member) => member in created.result,
        );
        if (complaints.length > 0) context.fail(`${tool}: ${several(complaints)}`, 'a task');
        if (foreign.length > 0)
          context.fail(`the task of ${tool} has ${foreign.join(', ')}`, 'only the task');
      }
      return `${runs.length} tools made tasks`;
    },
  },
  {
    ...about,
    id: 'tasks/extension-unguessable',
    title: 'Gives tasks of the extension ids that cannot be guessed',
    rules: ['TASK-M-024'],
    hint: 'Use a random UUID.',
    async run(context) {
      const runs = await extensionRuns(context);
      const conversation = await context.openConversation();
      const other = runs[1]?.taskId ?? (await anotherTask(context, conversation)).taskId;
      return needUnguessable(context, runs[0]!.taskId, other);
    },
  },
  {
    ...about,
    id: 'tasks/extension-states',
    title: 'Returns what the status of a task requires, and nothing else',
    rules: ['TASK-M-031', 'TASK-019'],
    hint: 'Add result to a completed task, error to a failed one, inputRequests to one that needs input, and nothing to the others.',
    async run(context) {
      const runs = await extensionRuns(context);
      for (const { tool, states } of runs) {
        for (const state of states) {
          const result = context.needResult(state, `tasks/get of a task of ${tool}`);
          const complaints = judgeResult('tasks/get', result, REVISION).map(complaintText);
          if (complaints.length > 0) context.fail(`tasks/get: ${several(complaints)}`, 'the state of a task');
          const status = String(result['status']);
          const extra = PAYLOADS.filter((member) => member in result && member !== PAYLOAD_OF[status]);
          if (extra.length > 0)
            context.fail(`a task that is ${status} has ${extra.join(', ')}`, 'no such member');
        }
      }
      return `${runs.reduce((sum, { states }) => sum + states.length, 0)} states were right`;
    },
  },
  {
    ...about,
    id: 'tasks/extension-result',
    title: 'Returns the result of the call in the completed task',
    rules: ['TASK-M-033'],
    hint: 'Put the whole result of tools/call, with resultType "complete", into result of tasks/get.',
    async run(context) {
      const completed = (await extensionRuns(context)).filter((run) => endOf(run)['status'] === 'completed');
      if (completed.length === 0) return context.skip('no task was completed');
      for (const run of completed) {
        const { result } = endOf(run);
        const complaints = judgeResult('tools/call', isJsonObject(result) ? result : {}, REVISION);
        if (complaints.length > 0)
          context.fail(
            `the result of ${run.tool}: ${several(complaints.map(complaintText))}`,
            'a result of tools/call',
          );
      }
      return `${completed.length} results were results of tools/call`;
    },
  },
  {
    ...about,
    id: 'tasks/extension-error-is-result',
    title: 'Completes a task whose tool reports an error',
    rules: ['TASK-M-030'],
    hint: 'The status failed is for JSON-RPC errors. A result with isError: true completes the task.',
    async run(context) {
      const runs = await extensionRuns(context);
      const reports = runs.filter(({ tool }) => reportsError(context.facts, tool));
      if (reports.length === 0) return context.skip('no tool that runs as a task reports an error');
      const failed = reports.find((run) => endOf(run)['status'] === 'failed');
      return failed
        ? context.fail(
            `${failed.tool} reports an error, and its task is failed`,
            'completed, with that result',
          )
        : `the task of ${reports[0]!.tool} was completed with the error in its result`;
    },
  },
  {
    ...about,
    id: 'tasks/extension-final',
    title: 'Does not change the status of a task of the extension that has ended',
    level: 'SHOULD',
    rules: ['TASK-M-034'],
    hint: 'The states completed, failed and cancelled are final.',
    async run(context) {
      const ended = (await extensionRuns(context)).filter(({ hasEnded }) => hasEnded);
      if (ended.length === 0) return context.skip('no task ended in time');
      for (const run of ended) {
        const after = run.late?.kind === 'result' ? run.late.result['status'] : undefined;
        const before = endOf(run)['status'];
        // A task may be deleted after its end.
        if (after !== undefined && after !== before)
          context.fail(
            `the task of ${run.tool} was ${String(before)}, then ${String(after)}`,
            String(before),
          );
      }
      return `${ended.length} tasks kept their status`;
    },
  },
  {
    ...about,
    id: 'tasks/extension-cancel',
    title: 'Acknowledges tasks/cancel with an empty result',
    rules: ['TASK-M-051', 'TASK-019'],
    hint: 'Answer tasks/cancel with resultType "complete" and nothing else, also if the task goes on or has ended.',
    async run(context) {
      const conversation = await context.openConversation();
      const { taskId, tool } = await anotherTask(context, conversation);
      needAcknowledged(
        context,
        await conversation.request('tasks/cancel', { taskId }, WITH_TASKS),
        'tasks/cancel',
      );
      const state = await conversation.request('tasks/get', { taskId }, WITH_TASKS);
      return `tasks/cancel of a task of ${tool} was acknowledged; then tasks/get was answered with ${inWords(state)}`;
    },
  },
  {
    ...about,
    id: 'tasks/extension-cancel-ended',
    title: 'Acknowledges tasks/cancel of a task that has ended',
    level: 'SHOULD',
    rules: [],
    reason:
      'Cancelling is cooperative, and a client cannot know that the task has just ended. Error -32602 is for unknown tasks.',
    hint: 'Answer tasks/cancel of an ended task as that of a running one.',
    async run(context) {
      const ended = (await extensionRuns(context)).find(({ cancelledLate }) => cancelledLate !== undefined);
      if (!ended?.cancelledLate) return context.skip('no task ended in time');
      return needAcknowledged(context, ended.cancelledLate, 'tasks/cancel of an ended task');
    },
  },
  {
    ...about,
    id: 'tasks/extension-no-progress',
    title: 'Sends no progress of a call that became a task',
    rules: ['TASK-M-062'],
    hint: 'Drop the progress token when you answer with a task. Use statusMessage instead.',
    async run(context) {
      const runs = await extensionRuns(context);
      const loud = runs.find(({ chatter }) => chatter.length > 0);
      return loud
        ? context.fail(
            `${loud.chatter.length} progress notifications came for the task of ${loud.tool}`,
            'none',
          )
        : `${runs.length} tasks were silent`;
    },
  },
];

const PAYLOADS = ['result', 'error', 'inputRequests'];
const PAYLOAD_OF: Readonly<Record<string, string>> = {
  completed: 'result',
  failed: 'error',
  input_required: 'inputRequests',
};

/** An empty result with `resultType: "complete"`. */
export function needAcknowledged(context: CheckContext, reply: Reply, what: string): string {
  const result = context.needResult(reply, what);
  const extra = Object.keys(result).filter((member) => !['resultType', '_meta'].includes(member));
  if (result['resultType'] !== 'complete')
    context.fail(`${what} has resultType ${JSON.stringify(result['resultType'])}`, '"complete"');
  if (extra.some((member) => TASK_MEMBERS.has(member)))
    context.fail(`${what} was answered with ${inWords(reply)}`, 'an empty result');
  return `${what} was acknowledged`;
}

const TASK_MEMBERS: ReadonlySet<string> = new Set([
  ...['taskId', 'status', 'task', 'result', 'error', 'inputRequests', 'createdAt', 'ttlMs'],
]);
