import type { View } from '../view.js';
import { absent, type ClientCheck, fail, outcome, pass, skip, works } from './check.js';

const HINTS: Readonly<Record<string, string>> = {
  split: 'Collect bytes up to the newline, then decode. A chunk may end inside a character.',
  packed: 'Read all lines of a chunk, not only the first.',
  huge: 'Allow lines of several megabytes, and join their chunks once.',
  'wrong-id-type': '1 and "1" are different ids. Do not use ids as keys of an object.',
  'stderr-flood': 'Always read stderr of the server, even if you discard it. A full pipe blocks the server.',
  'batch-answer': 'After a handshake with 2025-03-26 an array is a batch of messages.',
  'sse-odd': 'Use an event stream parser. Lines that begin with a colon are comments.',
};

/** How the client copes with unusual and broken servers. */
export const ROBUSTNESS: readonly ClientCheck[] = [
  stands(
    'noise',
    'Skips lines that are not messages',
    'SHOULD',
    [],
    'Banners on stdout are a common mistake of servers. A client that stops at them cannot use those servers.',
  ),
  stands(
    'crlf',
    'Reads lines that end in CR LF',
    'SHOULD',
    [],
    'Servers on Windows write them. In JSON a CR is white space.',
  ),
  stands('split', 'Joins an answer that arrives in chunks', 'MUST', ['STDIO-001', 'JRPC-016']),
  stands('packed', 'Reads several messages in one chunk', 'MUST', ['STDIO-001']),
  stands(
    'huge',
    'Reads an answer of 4 MiB',
    'SHOULD',
    [],
    'An image or a file in a result can be that large.',
  ),
  stands('unknown-notifications', 'Ignores notifications that it does not know', 'MUST', ['JRPC-012']),
  stands(
    'unknown-id',
    'Ignores answers with an unknown id',
    'SHOULD',
    [],
    'They come after cancellations and restarts, and have no effect on requests in flight.',
  ),
  stands(
    'duplicate',
    'Ignores a second answer to the same request',
    'SHOULD',
    [],
    'The first answer ends the request.',
  ),
  stands(
    'wrong-id-type',
    'Distinguishes ids of different types',
    'SHOULD',
    ['JRPC-006'],
    'An answer has the id of its request, with the same type. 1 and "1" may be two requests.',
  ),
  stands('out-of-order', 'Matches answers by id, in any order', 'MUST', ['JRPC-006']),
  stands('stderr-flood', 'Reads stderr, and does not treat it as a failure', 'SHOULD', [
    'STDIO-007',
    'STDIO-008',
  ]),
  stands('batch-answer', 'Reads batches from a server of 2025-03-26', 'MUST', ['JRPC-017']),
  stands('sse-answer', 'Reads an answer that comes as an event stream', 'MUST', ['HTTP-014']),
  stands('sse-odd', 'Reads event streams with comments, unknown fields and small chunks', 'MUST', [
    'HTTP-014',
    'HTTP-021',
  ]),
  stands(
    'sse-two-lines',
    'Joins the data lines of an event',
    'SHOULD',
    [],
    'The event stream format requires it (WHATWG).',
  ),
  ends('crash', 'Does not hang when the server exits during a call', 'SHOULD', ['LIFE-005', 'LIFE-006']),
  ends('stream-cut', 'Does not hang when the connection of a response is cut', 'MUST', ['HTTP-023']),
  ends('stream-ended', 'Does not hang when the event stream ends without the answer', 'MUST', ['HTTP-023']),
  {
    id: 'robustness/ends',
    suite: 'robustness',
    title: 'Ends by itself with every server',
    level: 'SHOULD',
    rules: [],
    reason: 'A program that waits without a limit looks frozen to its user.',
    hint: 'Give every request and every connection a time limit.',
    on: 'all',
    judge(view) {
      if (['stubborn', 'slow-exit'].includes(view.scenario.name))
        return skip('shutdown/ends judges this server');
      if (view.ended) return pass(`It ended after ${view.transcript.end.ms} ms`);
      return absent(view, `The client ${outcome(view)}`, 'The client ends by itself', view.said.at(-1));
    },
  },
  {
    id: 'robustness/restarts',
    suite: 'robustness',
    title: 'Restarts a server that has exited when it is needed again',
    level: 'SHOULD',
    rules: ['LIFE-005'],
    hint: 'Fail the requests in flight, and restart the process for the next request.',
    on: ['crash-and-go-on'],
    judge(view, facts) {
      const died = view.named('tools/call').find(({ params }) => params['name'] === 'slow');
      return died ? works(view, facts) : skip('the client does not do the step "cancel"');
    },
  },
  {
    id: 'robustness/listens-again',
    suite: 'robustness',
    title: 'Subscribes again after a restart of the server',
    level: 'MUST',
    rules: ['LIFE-007', 'SUB-015'],
    hint: 'Subscriptions end with the process. Send subscriptions/listen to the new one.',
    on: ['crash-and-go-on'],
    judge(view) {
      const [listen] = view.named('subscriptions/listen');
      if (!listen) return skip('the client did not listen for changes');
      const next = view.requests.find(
        ({ entry, index }) => index > listen.index && entry.life !== listen.entry.life,
      );
      if (!next) return skip('the client did not restart the server');
      const again = view.named('subscriptions/listen').some(({ entry }) => entry.life === next.entry.life);
      return again
        ? pass('It subscribed again')
        : absent(view, 'The client did not subscribe again', 'subscriptions/listen to the new process', next);
    },
  },
  {
    id: 'robustness/retry-new-id',
    suite: 'robustness',
    title: 'Repeats a lost request with a new id',
    level: 'MUST',
    rules: ['HTTP-023', 'LIFE-006'],
    hint: 'A repeated request is a new request.',
    on: ['stream-cut', 'stream-ended', 'crash'],
    judge(view) {
      const calls = view.named('tools/call').filter(({ era }) => era === 'modern');
      if (calls.length < 2) return skip('the client did not repeat the call');
      const again = calls.find((each, at) =>
        calls
          .slice(0, at)
          .some((earlier) => earlier.id === each.id && earlier.entry.life === each.entry.life),
      );
      return again
        ? fail(`The id ${JSON.stringify(again.id)} was used again`, 'A new id', again)
        : pass(`${calls.length - 1} repetitions had new ids`);
    },
  },
];

function stands(
  scenario: string,
  title: string,
  level: ClientCheck['level'],
  rules: readonly string[],
  reason?: string,
): ClientCheck {
  return {
    id: `robustness/${scenario}`,
    suite: 'robustness',
    title,
    level,
    rules,
    ...(reason !== undefined && { reason }),
    hint: HINTS[scenario] ?? 'Read what you know, and ignore the rest.',
    on: [scenario],
    judge: works,
  };
}

function ends(
  scenario: string,
  title: string,
  level: ClientCheck['level'],
  rules: readonly string[],
): ClientCheck {
  return {
    id: `robustness/${scenario}`,
    suite: 'robustness',
    title,
    level,
    rules,
    hint: 'Fail a request as soon as its answer can no longer arrive.',
    on: [scenario],
    judge(view: View) {
      const [call] = view.named('tools/call');
      if (!call) return skip('the client did not call the tool');
      // A legacy stream may be resumed. The client decides how long it tries.
      if (level === 'MUST' && call.era === 'legacy') return skip('the client called in the legacy era');
      if (!view.ended)
        return absent(
          view,
          `The client ${outcome(view)}`,
          'The client fails the call and ends',
          view.said.at(-1),
        );
      return view.succeeded
        ? fail('The client exited with 0, but its call was never answered', 'An error', view.said.at(-1))
        : pass(`It ${outcome(view)}`);
    },
  };
}
