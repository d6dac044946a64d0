import { changing } from '../../support/suites/altered.js';
import type { AnyMutant } from '../../support/suites/mutant.js';

const MODERN = { eras: ['modern'] } as const;
const LEGACY = { eras: ['legacy'] } as const;

export const messageMutants: readonly AnyMutant[] = [
  {
    check: 'messages/envelope',
    fault: 'leaves out jsonrpc in its lists',
    seen: /jsonrpc: expected "2.0", got nothing/,
    options: LEGACY,
    middle: changing(({ jsonrpc, ...rest }, { method }) => (method === 'tools/list' ? rest : undefined)),
  },
  {
    check: 'messages/envelope',
    fault: 'sends a result and an error at once',
    seen: /error: expected nothing/,
    options: MODERN,
    middle: changing((answer, { method }) =>
      method === 'tools/list' ? { ...answer, error: { code: 0, message: 'none' } } : undefined,
    ),
  },
  {
    check: 'messages/envelope',
    fault: 'answers with an invalid JSON-RPC message over HTTP',
    seen: /jsonrpc: expected "2.0", got "1.0"/,
    options: MODERN,
    proxy: () => ({
      message: (message, { json }) =>
        json?.['method'] === 'tools/list' ? { ...message, jsonrpc: '1.0' } : message,
    }),
  },
  {
    check: 'messages/one-answer',
    fault: 'answers twice',
    seen: /answered twice/,
    options: LEGACY,
    middle: changing((answer, { method }) => (method === 'prompts/list' ? [answer, answer] : undefined)),
  },
  {
    check: 'messages/one-answer',
    fault: 'sends an answer without a request',
    seen: /under "surprise"/,
    options: MODERN,
    middle: changing((answer, { method }) =>
      method === 'prompts/list' ? [answer, { ...answer, id: 'surprise' }] : undefined,
    ),
  },
  {
    check: 'messages/notifications-unanswered',
    fault: 'answers notifications that it does not know',
    seen: /-32601/,
    options: LEGACY,
    middle: () => ({
      incoming(message, io) {
        if (message['method'] === 'notifications/isthmus_check_unknown')
          io.reply({ jsonrpc: '2.0', id: null, error: { code: -32601, message: 'no such method' } });
        return message;
      },
    }),
  },
  {
    check: 'messages/over-sockets',
    fault: 'forgets the modern rules on a socket',
    seen: /no resultType/,
    options: MODERN,
    middle: changing((answer, { method }) =>
      method === 'tools/list' ? { ...answer, result: { tools: [] } } : undefined,
    ),
  },
  {
    check: 'messages/no-requests',
    fault: 'asks the client for its roots',
    seen: /roots\/list/,
    options: MODERN,
    middle: changing((answer, { method }) =>
      method === 'tools/list' ? [{ jsonrpc: '2.0', id: 77, method: 'roots/list' }, answer] : undefined,
    ),
  },
];

/** An id that comes back as something else. */
const echoing = (change: (id: unknown) => unknown) =>
  changing((answer) => ({ ...answer, id: change(answer['id']) }));

export const idMutants: readonly AnyMutant[] = [
  {
    check: 'ids/zero',
    fault: 'treats the id 0 as missing',
    seen: /under null/,
    options: MODERN,
    middle: echoing((id) => id || null),
  },
  {
    check: 'ids/large-integer',
    fault: 'counts in 32 bits',
    seen: /was not answered/,
    options: LEGACY,
    middle: echoing((id) => (typeof id === 'number' ? id | 0 : id)),
  },
  {
    check: 'ids/string',
    fault: 'answers under a number when asked under a string',
    seen: /was not answered/,
    options: LEGACY,
    middle: echoing((id) => (typeof id === 'string' ? 1 : id)),
  },
  {
    check: 'ids/empty-string',
    fault: 'treats an empty id as missing',
    seen: /under no id/,
    options: MODERN,
    middle: echoing((id) => (id === '' ? undefined : id)),
  },
  {
    check: 'ids/digits',
    fault: 'converts a string of digits to a number',
    seen: /under 4711/,
    options: LEGACY,
    middle: echoing((id) => (typeof id === 'string' && /^\d+$/.test(id) ? Number(id) : id)),
  },
  {
    check: 'ids/unicode',
    fault: 'writes ASCII',
    seen: /was not answered/,
    options: LEGACY,
    middle: echoing((id) => (typeof id === 'string' ? id.replace(/[^ -~]/g, '?') : id)),
  },
  {
    check: 'ids/types-apart',
    fault: 'answers 4712 for "4712"',
    seen: /"4712" was not answered/,
    options: LEGACY,
    middle: echoing((id) => (id === '4712' ? 4712 : id)),
  },
  {
    check: 'ids/types-apart',
    fault: 'answers 4712 for "4712" at a URL',
    seen: /"4712" was answered as 4712/,
    options: MODERN,
    proxy: () => ({ message: (message) => (message['id'] === '4712' ? { ...message, id: 4712 } : message) }),
  },
];
