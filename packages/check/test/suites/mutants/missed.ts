/** Faults that show only with calls in flight, two sessions at once, ids of every kind, or pieces of characters. */
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { changing } from '../../support/suites/altered.js';
import { small } from '../../support/suites/http-bases.js';
import type { AnyMutant, Middle } from '../../support/suites/mutant.js';
import { SOON } from './faults.js';
import { methodOf, paramsIn } from './http-faults.js';

const toNumber = (id: unknown) => (typeof id === 'string' && /^\d+$/.test(id) ? Number(id) : id);

export const missedMutants: readonly AnyMutant[] = [
  {
    check: 'ids/every-method',
    fault: 'makes numbers of ids in prompts/list only',
    seen: /prompts\/list with the id "\d+" was answered under \d+/,
    options: { eras: ['legacy'] },
    middle: changing((answer, { method }) =>
      method === 'prompts/list' ? { ...answer, id: toNumber(answer['id']) } : undefined,
    ),
  },
  {
    check: 'ids/every-method',
    fault: 'makes numbers of ids in its errors',
    seen: /isthmus-check\/unknown with the id "\d+" was answered under \d+/,
    options: { eras: ['modern'] },
    middle: changing((answer) =>
      answer['error'] === undefined ? undefined : { ...answer, id: toNumber(answer['id']) },
    ),
  },
  {
    base: small,
    check: 'ids/every-method',
    fault: 'makes numbers of ids in tools/call at a URL',
    seen: /tools\/call with the id "\d+" was answered under \d+/,
    options: { eras: ['modern'] },
    proxy: () => ({
      message: (message, request) =>
        methodOf(request) === 'tools/call' && message['id'] !== undefined
          ? { ...message, id: toNumber(message['id']) }
          : message,
    }),
  },
  {
    check: 'tools/calls-survived',
    fault: 'crashes on a call',
    seen: /tools\/call of echo with .* ended the server/,
    options: { callTools: true, visit: ['echo'] },
    program: ['small-server.js', 'dies-of-echo'],
  },
  {
    check: 'ids/newlines',
    fault: 'writes line breaks as they are',
    options: { ...SOON, eras: ['legacy'] },
    middle: unescaping,
  },
  {
    base: small,
    check: 'http-streams/events-are-messages',
    fault: 'breaks the lines of its events',
    seen: /is not JSON/,
    proxy: () => ({
      event: (event) => (event.includes('notifications/progress') ? event.replace(',', ',\n') : event),
    }),
  },
  {
    check: 'stream/no-byte-order-mark',
    fault: 'begins with a byte order mark',
    seen: /ef bb bf/,
    middle: () => ({ opened: (io) => io.raw(Buffer.from([0xef, 0xbb, 0xbf])) }),
  },
  {
    check: 'chunks/characters-in-pieces',
    fault: 'decodes each chunk by itself',
    options: SOON,
    middle: () => ({ incomingBytes: (bytes) => Buffer.from(bytes.toString('utf8')) }),
  },
  {
    check: 'chunks/characters-under-load',
    fault: 'decodes each chunk by itself',
    seen: /U\+FFFD/,
    options: { patience: { ...SOON.patience, answerMs: 3000 } },
    program: ['small-server.js', 'decodes-chunks'],
  },
  {
    base: small,
    check: 'http-body/characters-in-pieces',
    fault: 'decodes each chunk by itself',
    options: { eras: ['modern'] },
    tcp: () => ({ incoming: (bytes) => Buffer.from(bytes.toString('utf8').replaceAll('\ufffd', '?')) }),
  },
  {
    check: 'end-of-input/answers-calls',
    fault: 'drops what is under way when the input ends',
    options: SOON,
    middle: () => {
      let hasEnded = false;
      return {
        inputEnd() {
          hasEnded = true;
          return true;
        },
        outgoing: (message) => (hasEnded ? undefined : message),
      };
    },
  },
  {
    base: small,
    check: 'http-session/same-ids-at-once',
    fault: 'knows calls by their ids alone, and tells a session of the calls of another',
    seen: /received a message of the other/,
    options: { eras: ['legacy'] },
    proxy: () => {
      const tokens = new Map<unknown, unknown>();
      return {
        request(request) {
          const meta = paramsIn(request)['_meta'];
          const token = isJsonObject(meta) ? meta['progressToken'] : undefined;
          if (methodOf(request) === 'tools/call') tokens.set(request.json?.['id'], token);
          return undefined;
        },
        message(message, request) {
          if (message['method'] !== 'notifications/progress') return message;
          const progressToken = tokens.get(request.json?.['id']);
          return { ...message, params: { ...(message['params'] as object), progressToken } };
        },
      };
    },
  },
];

/** A message whose text has line breaks in it goes out with line breaks in it. */
function unescaping(): Middle {
  return {
    outgoing(message, io) {
      const text = JSON.stringify(message);
      if (!text.includes('\\n')) return message;
      io.raw(`${text.replaceAll('\\n', '\n')}\n`);
      return undefined;
    },
  };
}
