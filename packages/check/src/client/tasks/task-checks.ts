import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { type ClientCheck, every, fail, pass, skip, works } from '../checks/check.js';
import type { Said, View } from '../view.js';
import { POLL_MS, QUESTION, RELATED, TASKS } from './task-servers.js';

const MODERN = ['tasks-modern', 'tasks-modern-asks'];
const LEGACY = ['tasks-legacy', 'tasks-legacy-asks'];
const NO_TASKS = 'the client does not declare the extension for tasks';

/** What a client does with tasks. */
export const TASK_CHECKS: readonly ClientCheck[] = [
  {
    id: 'tasks/followed',
    suite: 'tasks',
    title: 'Follows a task to its end, if it declares the extension',
    level: 'MUST',
    rules: ['TASK-M-004', 'TASK-M-036'],
    hint: 'When tools/call is answered with resultType "task", poll tasks/get until the task has ended.',
    on: ['tasks-modern'],
    judge(view, facts) {
      if (!declares(view)) return skip(NO_TASKS);
      const last = gets(view).at(-1);
      const state = last && view.answerTo(last)?.message['result'];
      const ended = isJsonObject(state) && state['status'] === 'completed';
      return ended || !view.ended
        ? works(view, facts)
        : fail('The client did not wait for the end of its task', 'tasks/get until it is completed', last);
    },
  },
  {
    id: 'tasks/poll-interval',
    suite: 'tasks',
    title: 'Keeps to pollIntervalMs',
    level: 'SHOULD',
    rules: ['TASK-M-035'],
    hint: 'Wait for pollIntervalMs of the last state before the next tasks/get.',
    on: ['tasks-modern'],
    judge: keepsInterval,
  },
  {
    id: 'tasks/answers-once',
    suite: 'tasks',
    title: 'Answers each question of a task once',
    level: 'SHOULD',
    rules: ['TASK-M-043'],
    hint: 'Remember the keys that you have answered. Polls repeat them until the server has used the answer.',
    on: ['tasks-modern-asks'],
    judge(view, facts) {
      if (!declares(view)) return skip(NO_TASKS);
      const answers = view.named('tasks/update').filter(({ params }) => {
        const { inputResponses } = params;
        return isJsonObject(inputResponses) && QUESTION in inputResponses;
      });
      const asked = view.heard.some(({ message }) => JSON.stringify(message).includes(`"${QUESTION}"`));
      if (!asked) return skip('the server asked nothing, since the client declares no elicitation');
      return answers.length > 1
        ? fail(`The client answered ${answers.length} times`, 'One answer', answers[1])
        : works(view, facts);
    },
  },
  {
    id: 'tasks/misplaced',
    suite: 'tasks',
    title: 'Treats a task in answer to another method as an invalid response',
    level: 'MUST',
    rules: ['TASK-M-005'],
    hint: 'Accept resultType "task" only in answer to tools/call.',
    on: ['tasks-misplaced'],
    judge(view, facts) {
      if (!facts.modern) return skip('the client does not speak the modern era');
      const [list] = view.named('tools/list');
      if (!list) return skip('the client did not list the tools');
      const polled = gets(view)[0];
      if (polled) return fail('The client polls the task', 'An error', polled);
      return view.succeeded
        ? fail('The client exited with 0', 'An error', list)
        : pass('It reported an error');
    },
  },
  {
    id: 'tasks/cancelled',
    suite: 'tasks',
    title: 'Cancels a task with tasks/cancel, not with notifications/cancelled',
    level: 'MUST',
    rules: ['TASK-020'],
    hint: 'Once tools/call was answered with a task, send tasks/cancel.',
    on: ['tasks-modern-endless'],
    judge: (view) => (declares(view) ? cancelsByTask(view) : skip(NO_TASKS)),
  },
  {
    id: 'tasks/name-header',
    suite: 'tasks',
    title: 'Repeats the id of the task in Mcp-Name',
    level: 'MUST',
    rules: ['TASK-M-070'],
    hint: 'Mcp-Name of tasks/get, tasks/update and tasks/cancel is params.taskId.',
    on: MODERN,
    over: ['http'],
    judge: (view) =>
      every(
        view.requests.filter(({ method }) => /^tasks\/(get|update|cancel)$/.test(method)),
        {
          none: 'the client sent no request for a task',
          problem: ({ head, params, method }) =>
            head?.headers['mcp-name'] === params['taskId']
              ? undefined
              : `Mcp-Name of ${method} is ${JSON.stringify(head?.headers['mcp-name'])}`,
          expected: 'The id of the task',
          seen: (count) => `${count} requests did`,
        },
      ),
  },
  {
    id: 'tasks/legacy-allowed',
    suite: 'tasks',
    title: 'Calls no tool as a task that does not support tasks',
    level: 'MUST',
    rules: ['TASK-002'],
    hint: 'Send params.task only if execution.taskSupport of the tool is "optional" or "required".',
    on: ['tasks-legacy'],
    judge: (view) =>
      every(
        view.named('tools/call').filter(({ params }) => params['name'] === 'echo'),
        {
          none: 'the client did not call the tool',
          problem: ({ params }) => ('task' in params ? 'The call of echo has a task' : undefined),
          expected: 'No params.task',
          seen: () => 'The call had no task',
        },
      ),
  },
  {
    id: 'tasks/legacy-required',
    suite: 'tasks',
    title: 'Calls a tool as a task that runs only as a task',
    level: 'SHOULD',
    rules: ['TASK-003'],
    hint: 'Send params.task if execution.taskSupport of the tool is "required", or do not offer the tool.',
    on: ['tasks-legacy'],
    judge: (view) =>
      every(
        view.named('tools/call').filter(({ params }) => params['name'] === 'job'),
        {
          none: 'the client did not call the tool',
          problem: ({ params }) => ('task' in params ? undefined : 'The call of job has no task'),
          expected: 'params.task',
          seen: () => 'The call had a task',
        },
      ),
  },
  {
    id: 'tasks/legacy-followed',
    suite: 'tasks',
    title: 'Gets the result of a legacy task, without status notifications',
    level: 'SHOULD',
    rules: ['TASK-014', 'TASK-L-036'],
    hint: 'Poll tasks/get until the task has ended, and read the result with tasks/result.',
    on: ['tasks-legacy'],
    judge(view, facts) {
      if (!augmented(view)) return skip('the client ran no tool as a task');
      const result = view.named('tasks/result').find((each) => view.answerTo(each)?.message['result']);
      return result || !view.ended
        ? works(view, facts)
        : fail('The client did not read the result of its task', 'tasks/result', augmented(view));
    },
  },
  {
    id: 'tasks/legacy-poll-interval',
    suite: 'tasks',
    title: 'Keeps to pollInterval of a legacy task',
    level: 'SHOULD',
    rules: ['TASK-L-027'],
    hint: 'Wait for pollInterval of the last state before the next tasks/get.',
    on: LEGACY,
    judge: keepsInterval,
  },
  {
    id: 'tasks/legacy-input',
    suite: 'tasks',
    title: 'Calls tasks/result when a legacy task needs input',
    level: 'SHOULD',
    rules: ['TASK-011'],
    hint: 'Call tasks/result when the status is input_required, so that the server can send its request.',
    on: ['tasks-legacy-asks'],
    judge(view) {
      if (!augmented(view)) return skip('the client ran no tool as a task');
      const [result] = view.named('tasks/result');
      return result
        ? pass('It called tasks/result')
        : fail('The client did not call tasks/result', 'tasks/result', view.said.at(-1));
    },
  },
  {
    id: 'tasks/legacy-related',
    suite: 'tasks',
    title: 'Names the task in its answer to a question of the task',
    level: 'MUST',
    rules: ['TASK-L-050', 'TASK-010'],
    hint: `Copy _meta["${RELATED}"] of the request into the result.`,
    on: ['tasks-legacy-asks'],
    judge: (view) =>
      every(
        view.said.filter(({ kind, id }) => kind === 'response' && String(id).startsWith('ask-')),
        {
          none: 'the client answered no question of a task',
          problem: ({ message, id }) => {
            const { result } = message;
            const meta = isJsonObject(result) && isJsonObject(result['_meta']) ? result['_meta'] : {};
            const related = meta[RELATED];
            const named = isJsonObject(related) ? related['taskId'] : undefined;
            return named === String(id).slice('ask-'.length)
              ? undefined
              : `_meta["${RELATED}"] is ${JSON.stringify(related) ?? 'absent'}`;
          },
          expected: 'The id of the task',
          seen: (count) => `${count} answers did`,
        },
      ),
  },
  {
    id: 'tasks/legacy-cancelled',
    suite: 'tasks',
    title: 'Cancels a legacy task with tasks/cancel, not with notifications/cancelled',
    level: 'MUST',
    rules: ['TASK-013'],
    hint: 'Once tools/call was answered with a task, send tasks/cancel.',
    on: ['tasks-legacy-endless'],
    judge: (view) => (augmented(view) ? cancelsByTask(view) : skip('the client ran no tool as a task')),
  },
];

/** The call of `slow` has become a task, so its request is over. */
function cancelsByTask(view: View) {
  const call = view.named('tools/call').find(({ params }) => params['name'] === 'slow');
  const answer = call && view.answerTo(call);
  if (!call || !answer) return skip('the client does not do the step "cancel"');
  const wrong = view
    .named('notifications/cancelled')
    .find(({ index, params }) => index > answer.index && params['requestId'] === call.id);
  return wrong
    ? fail('The client sent notifications/cancelled for a call that had become a task', 'tasks/cancel', wrong)
    : pass(view.named('tasks/cancel').length > 0 ? 'It sent tasks/cancel' : 'It sent no cancellation');
}

function gets(view: View): readonly Said[] {
  return view.named('tasks/get');
}

/** Whether a call of the client declares the extension. */
function declares(view: View): boolean {
  return view
    .named('tools/call')
    .some(({ era, message }) => era === 'modern' && JSON.stringify(message).includes(`"${TASKS}"`));
}

function augmented(view: View): Said | undefined {
  return view.named('tools/call').find(({ params }) => 'task' in params);
}

/** Times of a busy machine vary, so a small part of the interval is enough to be different from none. */
function keepsInterval(view: View) {
  const polls = gets(view);
  if (polls.length < 2) return skip('the client did not poll twice');
  for (const [at, poll] of polls.entries()) {
    const before = polls[at - 1];
    const waited = before ? poll.entry.at - before.entry.at : POLL_MS;
    if (waited < POLL_MS * LEAST)
      return fail(`tasks/get came ${waited} ms after the last one`, `About ${POLL_MS} ms`, poll);
  }
  return pass(`${polls.length} polls kept to it`);
}

const LEAST = 0.5;
