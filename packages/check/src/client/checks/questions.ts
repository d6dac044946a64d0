import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { LOGIN_PATH } from '../scenarios/asking.js';
import type { Said, View } from '../view.js';
import { absent, type ClientCheck, every, fail, type Opinion, pass, skip, works } from './check.js';
import { oddElicitation } from './rounds.js';

/** How the client answers requests of a legacy server. */
export const QUESTIONS: readonly ClientCheck[] = [
  {
    id: 'messages/ping',
    suite: 'messages',
    title: 'Answers ping with an empty result',
    level: 'MUST',
    rules: ['PING-001'],
    hint: 'Answer {} at any time.',
    on: ['legacy-asks'],
    judge: (view) =>
      answering(view, ['ping', 7], ({ message }) =>
        isJsonObject(message['result']) ? undefined : 'ping was not answered with a result',
      ),
  },
  {
    id: 'messages/answers',
    suite: 'messages',
    title: 'Answers with the id of the request and either a result or an error',
    level: 'MUST',
    rules: ['JRPC-006', 'JRPC-007', 'JRPC-008', 'JRPC-009'],
    hint: 'Repeat the id with its type: a string stays a string. An error has an integer code and a message.',
    on: ['legacy-asks'],
    judge(view) {
      const asked = view.heard.filter(({ message }) => message['method'] !== undefined && 'id' in message);
      const answers = view.said.filter(({ kind }) => kind === 'response');
      if (asked.length === 0) return skip(NOT_ASKED);
      const silent = asked.find(({ message }) => !answers.some(({ id }) => id === message['id']));
      if (silent) {
        return absent(
          view,
          `There was no answer to ${String(silent.message['method'])} (id ${JSON.stringify(silent.message['id'])})`,
          'An answer with that id',
          silent,
        );
      }
      return every(answers, {
        none: NOT_ASKED,
        problem: ({ message }) => oddResponse(message),
        expected: 'A result that is an object, or an error with code and message; not both',
        seen: (count) => `${count} answers are correct`,
      });
    },
  },
  {
    id: 'messages/honest-capabilities',
    suite: 'messages',
    title: 'Answers the requests whose capabilities it has declared',
    level: 'MUST',
    rules: ['INIT-012'],
    hint: 'Declare elicitation, sampling and roots only if you answer them.',
    on: ['legacy-asks'],
    judge: (view) =>
      answering(
        view,
        ['form', 'roots', 'sample'],
        ({ message, id }) =>
          isJsonObject(message['result'])
            ? undefined
            : `${String(id)} was declared and answered with ${JSON.stringify(message['error'])}`,
        'the client declares neither elicitation nor sampling nor roots',
      ),
  },
  {
    id: 'messages/elicitation-result',
    suite: 'messages',
    title: 'Answers a form with accept, decline or cancel',
    level: 'MUST',
    rules: ['ELIC-004', 'ELIC-008'],
    hint: 'Only accept has content. An elicitation without mode is a form.',
    on: ['legacy-asks'],
    judge: (view) =>
      answering(
        view,
        ['form'],
        ({ message }) =>
          isJsonObject(message['result'])
            ? oddElicitation('the form', message['result'])
            : 'There was no result',
        'the client does not declare elicitation',
      ),
  },
  {
    id: 'messages/undeclared-mode',
    suite: 'messages',
    title: 'Refuses an elicitation mode that it has not declared with -32602',
    level: 'MUST',
    rules: ['ELIC-026'],
    hint: 'A client that declares {} or form answers mode "url" with -32602.',
    on: ['legacy-asks'],
    judge: (view) =>
      answering(
        view,
        ['page'],
        refusedWith(-32602),
        'the client declares no elicitation, or also mode "url"',
      ),
  },
  {
    id: 'messages/undeclared-roots',
    suite: 'messages',
    title: 'Refuses roots/list with -32601 when it has declared no roots',
    level: 'SHOULD',
    rules: ['ROOT-008'],
    hint: 'Answer -32601 to methods that you do not implement.',
    on: ['legacy-asks'],
    judge: (view) => answering(view, ['roots-undeclared'], refusedWith(-32601), 'the client declares roots'),
  },
  {
    id: 'messages/undeclared-sampling-tools',
    suite: 'messages',
    title: 'Refuses sampling with tools when it has not declared sampling.tools',
    level: 'MUST',
    rules: ['SAMP-004'],
    hint: 'Answer a sampling request that has tools or toolChoice with an error unless you declare sampling.tools.',
    on: ['legacy-asks'],
    judge: (view) =>
      answering(
        view,
        ['sample-tools'],
        ({ message }) => (isJsonObject(message['error']) ? undefined : 'It was answered with a result'),
        'the client declares no sampling, or also sampling.tools',
      ),
  },
  {
    id: 'messages/roots-are-files',
    suite: 'messages',
    title: 'Names roots by file:// URIs',
    level: 'MUST',
    rules: ['ROOT-003'],
    hint: 'Each root has a uri that begins with file://.',
    on: ['legacy-asks'],
    judge: (view) =>
      answering(
        view,
        ['roots'],
        ({ message }) => {
          const roots = isJsonObject(message['result']) ? message['result']['roots'] : undefined;
          if (!Array.isArray(roots)) return 'There are no roots';
          const odd = roots.find((root) => !isJsonObject(root) || !/^file:\/\//.test(String(root['uri'])));
          return odd === undefined ? undefined : `A root is ${JSON.stringify(odd)}`;
        },
        'the client declares no roots',
      ),
  },
  {
    id: 'messages/unknown-elicitation',
    suite: 'messages',
    title: 'Ignores the completion of an unknown elicitation',
    level: 'MUST',
    rules: ['ELIC-028'],
    hint: 'notifications/elicitation/complete with an unknown id is not an error.',
    on: ['legacy-asks'],
    judge: works,
  },
  {
    id: 'messages/pages-not-fetched',
    suite: 'messages',
    title: 'Does not fetch the URL of an elicitation by itself',
    level: 'MUST',
    rules: ['ELIC-013', 'ELIC-014'],
    hint: 'Show the URL, and open it only after the user has agreed.',
    on: ['legacy-asks'],
    over: ['http'],
    judge(view) {
      const asked = view.heard.some(({ message }) => message['id'] === 'page');
      if (!asked) return skip('the client was not asked to open a URL');
      const at = view.asides.find(({ path }) => path.startsWith(LOGIN_PATH));
      return at
        ? fail(`The client sent ${at.method} ${at.path}`, 'No request for it', {
            index: view.transcript.entries.indexOf(at),
          })
        : pass('The client did not request it');
    },
  },
  {
    id: 'messages/no-tasks',
    suite: 'messages',
    title: 'Calls no tool as a task when the legacy server has no tasks',
    level: 'MUST',
    rules: ['TASK-002'],
    hint: 'Send params.task only when the server declares tasks.requests.tools.call and the tool allows it.',
    on: 'all',
    judge: (view) =>
      every(
        view.named('tools/call').filter(({ era }) => era === 'legacy'),
        {
          none: 'the client called no tool in the legacy era',
          problem: ({ params }) => ('task' in params ? 'tools/call has a task' : undefined),
          expected: 'No params.task',
          seen: (count) => `${count} calls had none`,
        },
      ),
  },
  {
    id: 'messages/unknown-request',
    suite: 'messages',
    title: 'Answers an unknown request with -32601',
    level: 'SHOULD',
    rules: [],
    reason: 'A server that gets no answer waits. JSON-RPC has a code for unknown methods.',
    hint: 'Answer -32601 to methods that you do not implement.',
    on: ['legacy-asks'],
    judge: (view) => answering(view, ['unknown'], refusedWith(-32601)),
  },
];

const NOT_ASKED =
  'the client got no request of the server (it speaks only the modern era, or did not call the tool)';

function answering(
  view: View,
  ids: readonly unknown[],
  problem: (answer: Said) => string | undefined,
  none = NOT_ASKED,
): Opinion {
  const asked = view.heard.filter(
    ({ message }) => message['method'] !== undefined && 'id' in message && ids.includes(message['id']),
  );
  if (asked.length === 0) return skip(view.named('tools/call').length === 0 ? NOT_ASKED : none);
  for (const { message, index } of asked) {
    const answer = view.said.find(({ kind, id }) => kind === 'response' && id === message['id']);
    if (!answer) return absent(view, `${String(message['method'])} was not answered`, 'An answer', { index });
    const wrong = problem(answer);
    if (wrong !== undefined) return fail(wrong, 'What the title says', answer);
  }
  return pass(`${asked.length} ${asked.length === 1 ? 'request was' : 'requests were'} answered so`);
}

function refusedWith(code: number) {
  return ({ message }: Said): string | undefined => {
    const { error } = message;
    if (isJsonObject(error) && error['code'] === code) return undefined;
    return isJsonObject(error)
      ? `It was refused with ${JSON.stringify(error['code'])} instead of ${code}`
      : `It was answered with a result instead of ${code}`;
  };
}

function oddResponse({ result, error }: JsonObject): string | undefined {
  if (result !== undefined && error !== undefined) return 'An answer has both a result and an error';
  if (result !== undefined) return isJsonObject(result) ? undefined : 'A result is not an object';
  if (!isJsonObject(error)) return 'An answer has neither a result nor an error';
  return Number.isInteger(error['code']) && typeof error['message'] === 'string'
    ? undefined
    : `An error is ${JSON.stringify(error)}`;
}
