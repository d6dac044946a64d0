import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Said, View } from '../view.js';
import { type ClientCheck, every, fail, pass, skip } from './check.js';

/** What holds for every message, with any server. */
export const MESSAGES: readonly ClientCheck[] = [
  {
    id: 'messages/only-messages',
    suite: 'messages',
    title: 'Sends only JSON-RPC messages, one for each line or POST',
    level: 'MUST',
    rules: ['STDIO-001', 'STDIO-002', 'STDIO-005', 'HTTP-006'],
    hint: 'Write one message as JSON and a newline. Do not write logs or prompts to the pipe.',
    on: 'all',
    judge(view) {
      const [bad] = view.unreadable;
      if (bad) {
        const index = view.transcript.entries.indexOf(bad);
        return fail(`${JSON.stringify(bad.text.slice(0, 100))} is not a message`, 'One JSON-RPC message', {
          index,
        });
      }
      return view.said.length === 0 ? skip('the client sent nothing') : pass(`${view.said.length} messages`);
    },
  },
  {
    id: 'messages/utf-8',
    suite: 'messages',
    title: 'Sends UTF-8',
    level: 'MUST',
    rules: ['JRPC-016'],
    hint: 'Encode messages as UTF-8.',
    on: 'all',
    judge: (view) =>
      every(view.said, {
        none: 'the client sent nothing',
        problem: ({ entry }) => (entry.broken ? 'A message is not UTF-8' : undefined),
        expected: 'UTF-8',
        seen: (count) => `${count} messages are UTF-8`,
      }),
  },
  {
    id: 'messages/jsonrpc',
    suite: 'messages',
    title: 'Has jsonrpc "2.0" in every message',
    level: 'MUST',
    rules: ['JRPC-001'],
    hint: 'Add "jsonrpc": "2.0" to requests, notifications and answers.',
    on: 'all',
    judge: (view) =>
      every(view.said, {
        none: 'the client sent nothing',
        problem: ({ message }) =>
          message['jsonrpc'] === '2.0' ? undefined : `jsonrpc is ${JSON.stringify(message['jsonrpc'])}`,
        expected: '"jsonrpc": "2.0"',
        seen: (count) => `${count} messages do`,
      }),
  },
  {
    id: 'messages/no-batches',
    suite: 'messages',
    title: 'Sends no batches, except to servers of 2025-03-26 and earlier',
    level: 'MUST',
    rules: ['JRPC-019', 'HTTP-009', 'LHTTP-002', 'INIT-007'],
    hint: 'Send each message by itself.',
    on: 'all',
    judge(view) {
      if (/2024-11-05|2025-03-26/.test(view.scenario.name) || view.scenario.name === 'batch-answer') {
        return skip('this server accepts batches');
      }
      return every(view.said, {
        none: 'the client sent nothing',
        problem: ({ batched, method }) => (batched ? `${method} came in a batch` : undefined),
        expected: 'A single message',
        seen: (count) => `${count} messages came by themselves`,
      });
    },
  },
  {
    id: 'messages/no-answers-in-modern',
    suite: 'messages',
    title: 'Sends no answers in the modern era',
    level: 'MUST',
    rules: ['JRPC-014', 'STDIO-009', 'HTTP-010'],
    hint: 'A modern server asks for input in its results. Do not answer a request from it.',
    on: 'all',
    judge(view) {
      const modern = view.said.filter(({ era }) => era === 'modern');
      return every(modern, {
        none: 'the client sent nothing in the modern era',
        problem: ({ kind }) => (kind === 'response' ? 'The client sent an answer' : undefined),
        expected: 'Requests and notifications only',
        seen: (count) => `${count} messages were not answers`,
      });
    },
  },
  {
    id: 'messages/answers-no-notification',
    suite: 'messages',
    title: 'Never answers a notification',
    level: 'MUST',
    rules: ['JRPC-012'],
    hint: 'Do not answer a message without an id, not even with an error.',
    on: 'all',
    judge(view) {
      const told = view.heard.filter(({ message }) => message['method'] !== undefined && !('id' in message));
      if (told.length === 0) return skip('this server sent no notification');
      const asked = view.heard.filter(({ message }) => message['method'] !== undefined && 'id' in message);
      const stray = view.said.find(
        ({ kind, id }) => kind === 'response' && !asked.some(({ message }) => message['id'] === id),
      );
      return stray
        ? fail('The client answered a message that is not a request', 'No answer', stray)
        : pass(`${told.length} notifications were not answered`);
    },
  },
];

/** Ids and progress tokens. */
export const IDS: readonly ClientCheck[] = [
  {
    id: 'messages/ids',
    suite: 'messages',
    title: 'Gives every request a string or an integer as id',
    level: 'MUST',
    rules: ['JRPC-002', 'JRPC-003'],
    hint: 'Count up from 0 or 1. Never use null, a fraction or an object.',
    on: 'all',
    judge: (view) =>
      every(view.requests, {
        none: 'the client sent no request',
        problem: ({ id, method }) =>
          typeof id === 'string' || Number.isInteger(id)
            ? undefined
            : `${method} has the id ${JSON.stringify(id)}`,
        expected: 'A string or an integer',
        seen: (count) => `${count} requests do`,
      }),
  },
  {
    id: 'messages/ids-in-flight',
    suite: 'messages',
    title: 'Never has two requests with the same id in flight',
    level: 'MUST',
    rules: ['JRPC-004'],
    hint: 'Use one counter for all requests of a connection, including parallel ones.',
    on: 'all',
    judge(view) {
      const modern = view.requests.filter(({ era }) => era === 'modern');
      return every(modern, {
        none: 'the client sent no request in the modern era',
        problem: (request) =>
          modern.some((earlier) => isOpenAt(view, earlier, request))
            ? `${request.method} has the id ${JSON.stringify(request.id)} of a request that is still unanswered`
            : undefined,
        expected: 'An id that no unanswered request has',
        seen: (count) => `${count} requests had other ids`,
      });
    },
  },
  {
    id: 'messages/ids-of-a-session',
    suite: 'messages',
    title: 'Never uses an id twice in a legacy session',
    level: 'MUST',
    rules: ['JRPC-005'],
    hint: 'Do not reset the counter while the session lasts.',
    on: 'all',
    judge(view) {
      const asked = view.requests.filter(({ era }) => era === 'legacy');
      return every(asked, {
        none: 'the client sent no request in the legacy era',
        problem: (request) =>
          asked.some(
            (earlier) =>
              earlier.index < request.index &&
              isSameSession(view, earlier, request) &&
              earlier.id === request.id,
          )
            ? `${request.method} has the id ${JSON.stringify(request.id)}, which was used before`
            : undefined,
        expected: 'A new id for every request of a session',
        seen: (count) => `${count} requests had different ids`,
      });
    },
  },
  {
    id: 'messages/progress-tokens',
    suite: 'messages',
    title: 'Uses strings or integers as progress tokens, a different one for each request in flight',
    level: 'MUST',
    rules: ['PROG-001', 'PROG-002'],
    hint: 'Use the id of the request as the token.',
    on: 'all',
    judge(view) {
      const wanting = view.requests.filter((each) => tokenOf(each) !== undefined);
      return every(wanting, {
        none: 'the client requested no progress',
        problem(request) {
          const token = tokenOf(request);
          if (typeof token !== 'string' && !Number.isInteger(token))
            return `The token is ${JSON.stringify(token)}`;
          const shared = wanting.some(
            (other) =>
              other !== request &&
              tokenOf(other) === token &&
              other.index < request.index &&
              isUnansweredAt(view, other, request),
          );
          return shared
            ? `The token ${JSON.stringify(token)} belongs to another request in flight`
            : undefined;
        },
        expected: 'A string or an integer that no other request in flight has',
        seen: (count) => `${count} tokens do`,
      });
    },
  },
];

function tokenOf({ params }: Said): unknown {
  return isJsonObject(params['_meta']) ? params['_meta']['progressToken'] : undefined;
}

function isOpenAt(view: View, earlier: Said, request: Said): boolean {
  return earlier.index < request.index && earlier.id === request.id && isUnansweredAt(view, earlier, request);
}

function isUnansweredAt(view: View, earlier: Said, request: Said): boolean {
  if (earlier.entry.life !== request.entry.life) return false;
  const answer = view.answerTo(earlier);
  if (answer) return answer.index > request.index;
  // A request that HTTP refused or cut, or that was cancelled, is over.
  const { exchange } = earlier.entry;
  return !view.transcript.entries.some(
    (entry, index) =>
      index < request.index &&
      ((exchange !== undefined &&
        'exchange' in entry &&
        entry.exchange === exchange &&
        (entry.kind === 'hung-up' || (entry.kind === 'status' && entry.status !== 200))) ||
        (entry.kind === 'in' && entry.life === earlier.entry.life && isCancelOf(entry.text, earlier.id))),
  );
}

function isCancelOf(text: string, id: unknown): boolean {
  return text.includes('notifications/cancelled') && text.includes(`"requestId":${JSON.stringify(id)}`);
}

/** Over HTTP, `initialize` begins a new session, and belongs to it. */
function isSameSession(view: View, one: Said, other: Said): boolean {
  if (one.entry.life !== other.entry.life) return false;
  if (view.transcript.over === 'stdio') return true;
  const openings = view.named('initialize').filter(({ index }) => index > one.index && index <= other.index);
  return openings.length === 0;
}
