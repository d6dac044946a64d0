import { type ClientCheck, every, fail, pass, skip } from './check.js';

/** What is right for every message, whatever the server. */
export const MESSAGES: readonly ClientCheck[] = [
  {
    id: 'messages/only-messages',
    suite: 'messages',
    title: 'Sends nothing but JSON-RPC messages, one in a line or a POST',
    level: 'MUST',
    rules: ['STDIO-001', 'STDIO-002', 'STDIO-005', 'HTTP-006'],
    hint: 'Write JSON.stringify of one message and a newline; keep logs and prompts away from the pipe.',
    on: 'all',
    judge(view) {
      const [bad] = view.unreadable;
      if (bad) {
        const index = view.transcript.entries.indexOf(bad);
        return fail(`${JSON.stringify(bad.text.slice(0, 100))} is no message`, 'One JSON-RPC message', {
          index,
        });
      }
      return view.said.length === 0 ? skip('the client said nothing') : pass(`${view.said.length} messages`);
    },
  },
  {
    id: 'messages/utf-8',
    suite: 'messages',
    title: 'Sends UTF-8',
    level: 'MUST',
    rules: ['JRPC-016'],
    hint: 'Encode the text of a message as UTF-8 before it leaves.',
    on: 'all',
    judge: (view) =>
      every(view.said, {
        none: 'the client said nothing',
        problem: ({ entry }) => (entry.broken ? 'A message is no UTF-8' : undefined),
        expected: 'Bytes that are UTF-8',
        seen: (count) => `${count} messages are UTF-8`,
      }),
  },
  {
    id: 'messages/jsonrpc',
    suite: 'messages',
    title: 'Says jsonrpc "2.0" in every message',
    level: 'MUST',
    rules: ['JRPC-001'],
    hint: 'Add "jsonrpc": "2.0" to requests, notifications and answers alike.',
    on: 'all',
    judge: (view) =>
      every(view.said, {
        none: 'the client said nothing',
        problem: ({ message }) =>
          message['jsonrpc'] === '2.0' ? undefined : `jsonrpc is ${JSON.stringify(message['jsonrpc'])}`,
        expected: '"jsonrpc": "2.0"',
        seen: (count) => `${count} messages do`,
      }),
  },
  {
    id: 'messages/no-batches',
    suite: 'messages',
    title: 'Sends no arrays, except to servers of 2025-03-26 and earlier',
    level: 'MUST',
    rules: ['JRPC-019', 'HTTP-009', 'LHTTP-002', 'INIT-007'],
    hint: 'Send one message after the other.',
    on: 'all',
    judge(view) {
      if (/2024-11-05|2025-03-26/.test(view.scenario.name) || view.scenario.name === 'batch-answer') {
        return skip('this server takes arrays');
      }
      return every(view.said, {
        none: 'the client said nothing',
        problem: ({ batched, method }) => (batched ? `${method} came in an array` : undefined),
        expected: 'A single message',
        seen: (count) => `${count} messages came alone`,
      });
    },
  },
  {
    id: 'messages/no-answers-in-modern',
    suite: 'messages',
    title: 'Sends no answers in the modern era',
    level: 'MUST',
    rules: ['JRPC-014', 'STDIO-009', 'HTTP-010'],
    hint: 'A modern server asks in its results; what looks like a request from it needs no answer.',
    on: 'all',
    judge(view) {
      const modern = view.said.filter(({ era }) => era === 'modern');
      return every(modern, {
        none: 'the client said nothing in the modern era',
        problem: ({ kind }) => (kind === 'response' ? 'The client sent an answer' : undefined),
        expected: 'Requests and notifications only',
        seen: (count) => `${count} messages were no answers`,
      });
    },
  },
  {
    id: 'messages/answers-no-notification',
    suite: 'messages',
    title: 'Never answers a notification',
    level: 'MUST',
    rules: ['JRPC-012'],
    hint: 'What has no id gets no answer, not even an error.',
    on: 'all',
    judge(view) {
      const told = view.heard.filter(({ message }) => message['method'] !== undefined && !('id' in message));
      if (told.length === 0) return skip('this server sent no notification');
      const asked = view.heard.filter(({ message }) => message['method'] !== undefined && 'id' in message);
      const stray = view.said.find(
        ({ kind, id }) => kind === 'response' && !asked.some(({ message }) => message['id'] === id),
      );
      return stray
        ? fail('The client answered what was no request', 'No answer', stray)
        : pass(`${told.length} notifications were not answered`);
    },
  },
];
