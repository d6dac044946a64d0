import type { ClientTranscript } from '../../../src/client/model.js';
import {
  adding,
  type Breaking,
  type Json,
  like,
  looksFine,
  never,
  paramsOf,
  saying,
  withHeader,
} from '../../support/client/break.js';
import type { Mutant } from '../../support/client/mutant.js';

const on = (check: string, fault: string, breaking: Breaking, more: Partial<Mutant> = {}): Mutant => ({
  check: `tasks/${check}`,
  fault,
  breaking,
  ...more,
});

/** Polls as fast as it can. */
const impatient: Breaking = (transcript) => {
  let first: number | undefined;
  return {
    ...transcript,
    entries: transcript.entries.map((entry) => {
      if (entry.kind !== 'in' || !entry.text.includes('"tasks/get"')) return entry;
      first ??= entry.at;
      return { ...entry, at: first };
    }),
  };
};

/** Polls twice before it asks for the result, a while apart. */
const polling = adding(
  'tasks/result',
  (said) =>
    [0, 300].map((ms) => ({
      ...like(said, { jsonrpc: '2.0', id: `poll-${ms}`, method: 'tasks/get', params: { taskId: 'x' } }),
      at: said.at + ms,
    })),
  'before',
);

/** The call of the tool `slow`. */
const slowCall = ({ entries }: ClientTranscript) =>
  entries.find((entry) => entry.kind === 'in' && entry.text.includes('"slow"'));

const cancelsTheCall: Breaking = (transcript) => {
  const call = slowCall(transcript);
  if (call?.kind !== 'in') return transcript;
  const { id } = JSON.parse(call.text) as { id: unknown };
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } };
  return { ...transcript, entries: [...transcript.entries, like(call, cancel)] };
};

/** Clients that run tools as tasks, with one fault each. */
export const TASKS: readonly Mutant[] = [
  on('followed', 'takes a task for a result', never('tasks/get')),
  on('poll-interval', 'polls as fast as it can', impatient),
  on(
    'answers-once',
    'answers a question at every poll',
    adding('tasks/update', (said) => [like(said, said.text)]),
    { over: 'stdio' },
  ),
  on('misplaced', 'takes a task for a list', looksFine),
  on('cancelled', 'cancels the call that had become a task', cancelsTheCall, { over: 'stdio' }),
  on('name-header', 'sends another Mcp-Name', withHeader('mcp-name', 'tasks')),
  on(
    'legacy-allowed',
    'runs every tool as a task',
    paramsOf('tools/call', (params) => ({ ...params, task: {} })),
  ),
  on(
    'legacy-required',
    'runs no tool as a task',
    paramsOf('tools/call', ({ task: _, ...params }) => params),
  ),
  on('legacy-followed', 'waits for a notification', never('tasks/result')),
  on('legacy-poll-interval', 'polls a legacy task as fast as it can', impatient, {
    first: polling,
    over: 'stdio',
  }),
  on('legacy-input', 'waits for the question elsewhere', never('tasks/result')),
  on(
    'legacy-related',
    'answers without the name of the task',
    saying((message) => {
      const { _meta, ...result } = (message['result'] ?? {}) as Json;
      return message['method'] === undefined ? { ...message, result } : undefined;
    }),
  ),
  on('legacy-cancelled', 'cancels the call that had become a legacy task', cancelsTheCall, { over: 'stdio' }),
];
