import type { AnyMutant, Middle } from '../../support/suites/mutant.js';
import { answersItself, dies, errorFor, isJson, paramsIn, SOON } from './faults.js';

/** Not even a greeting is waited for. */
const HASTE = { patience: { ...SOON.patience, helloMs: 1000 } };

/** Floods, stalls, the end of input, and made-up input. */
export const loadMutants: readonly AnyMutant[] = [
  {
    check: 'flood/thousand',
    fault: 'loses one of a thousand',
    seen: /1 of 1000/,
    options: SOON,
    middle: () => ({ outgoing: (message) => (message['id'] === 'flood-500' ? undefined : message) }),
  },
  {
    check: 'flood/thousand',
    fault: 'answers one of a thousand twice',
    seen: /twice/,
    middle: () => ({ outgoing: (message) => (message['id'] === 'flood-7' ? [message, message] : message) }),
  },
  {
    check: 'flood/mixed',
    fault: 'answers one of many stray answers',
    seen: /stray-3/,
    middle: answersItself(
      ({ id }) => id === 'stray-3',
      (message) => errorFor(message, -32600),
    ),
  },
  {
    check: 'flood/same-id',
    fault: 'is wedged by an id that is there already',
    seen: /was not answered/,
    options: SOON,
    middle: () => {
      let last: unknown;
      let wedged = false;
      return {
        incoming(message) {
          wedged ||= typeof message['id'] === 'string' && message['id'] === last;
          last = message['id'];
          return wedged ? undefined : message;
        },
      };
    },
  },
  {
    check: 'stall/slow-reader',
    fault: 'drops an answer that is not read at once',
    seen: /1 of \d+ answers/,
    options: SOON,
    middle: () => ({ outgoing: (message) => (message['id'] === 'stall-7' ? undefined : message) }),
  },
  {
    check: 'stall/bounded-memory',
    fault: 'keeps every answer that is not read',
    seen: /grew by \d{3,} MiB/,
    options: { patience: { ...SOON.patience, answerMs: 10_000, checkMs: 20_000 } },
    program: ['small-server.js', 'hoards'],
  },
  {
    check: 'stall/others-go-on',
    fault: 'waits for the end of a line before it serves other connections',
    options: HASTE,
    middle: waitsForAll(),
  },
  {
    check: 'end-of-input/answers-first',
    fault: 'forgets what is under way when input ends',
    seen: /1 of 20/,
    options: SOON,
    middle: () => ({ outgoing: (message) => (message['id'] === 'last-19' ? undefined : message) }),
  },
  {
    check: 'end-of-input/half-line',
    fault: 'complains on the stream of half a line',
    seen: /Unexpected end/,
    middle: () => ({
      inputEnd(io) {
        io.raw('SyntaxError: Unexpected end of JSON input\n');
        return true;
      },
    }),
  },
  {
    check: 'end-of-input/no-newline',
    fault: 'crashes at a line without an end',
    seen: /code 1/,
    program: ['small-server.js', 'crashes-at-rest'],
  },
  {
    check: 'end-of-input/connection-ends',
    fault: 'never closes its side',
    options: SOON,
    middle: () => ({ inputEnd: () => false }),
  },
  {
    check: 'end-of-input/next-connection',
    fault: 'serves no requests after a client has disconnected in the middle of a line',
    options: HASTE,
    middle: waitsForAll(),
  },
  {
    ...dies(
      'fuzz/bytes',
      'a line that is not JSON and longer than 20',
      (line) => !isJson(line) && line.length > 20,
    ),
    seen: /seed 1/,
  },
  {
    ...dies('fuzz/messages', 'an error that is a string', (line) => /"error":"/.test(line)),
    options: { fuzzRuns: 300 },
  },
  {
    check: 'fuzz/requests',
    fault: 'does not answer requests with a cursor',
    seen: /answered 0 times/,
    options: SOON,
    middle: () => ({ incoming: (message) => ('cursor' in paramsIn(message) ? undefined : message) }),
  },
  {
    check: 'stream/only-messages',
    fault: 'prints a line for each list',
    seen: /debug: listing/,
    middle: () => ({
      incoming(message, io) {
        if (message['method'] === 'tools/list') io.raw('debug: listing tools\n');
        return message;
      },
    }),
  },
  {
    check: 'stream/only-messages-under-stress',
    fault: 'prints what the parser throws',
    seen: /SyntaxError/,
    middle: () => ({
      incomingLine(line, io) {
        if (!isJson(line)) io.raw('SyntaxError: Unexpected token\n');
        return line;
      },
    }),
  },
];

/** Half a line on one connection, and nobody is heard any more. */
function waitsForAll(): () => Middle {
  let hangs = false;
  return () => ({
    incomingBytes(bytes) {
      if (hangs) return undefined;
      hangs = bytes.toString().endsWith('"meth');
      return bytes;
    },
  });
}
