import type { View } from '../view.js';
import { absent, type ClientCheck, fail, outcome, pass, skip, works } from './check.js';

const HINTS: Readonly<Record<string, string>> = {
  split: 'Collect bytes up to the newline, then decode; a character may be cut in two.',
  packed: 'Look for the next newline until none is left.',
  huge: 'Allow lines of several megabytes, and join their pieces once.',
  'wrong-id-type': '1 and "1" are two ids: do not use them as keys of an object.',
  'stderr-flood': 'Read stderr of the server always, if only to throw it away: a full pipe stops it.',
  'batch-answer': 'After a handshake with 2025-03-26 an array is as many messages.',
  'sse-odd': 'Use a parser of event streams: lines that begin with a colon are comments.',
};

/** Whether odd things that happen throw the client off. */
export const ROBUSTNESS: readonly ClientCheck[] = [
  stands(
    'noise',
    'Skips lines that are no messages',
    'SHOULD',
    [],
    'Banners on stdout are a common mistake of servers, and nobody is served by a client that stops at them.',
  ),
  stands(
    'crlf',
    'Reads lines that end in CR LF',
    'SHOULD',
    [],
    'Servers on Windows write them; to JSON a CR is mere white space.',
  ),
  stands('split', 'Puts an answer together that comes in pieces', 'MUST', ['STDIO-001', 'JRPC-016']),
  stands('packed', 'Reads several messages out of one piece', 'MUST', ['STDIO-001']),
  stands(
    'huge',
    'Reads an answer of 4 MiB',
    'SHOULD',
    [],
    'An image or a file in a result easily has that much.',
  ),
  stands('unknown-notifications', 'Ignores notifications that it does not know', 'MUST', ['JRPC-012']),
  stands(
    'unknown-id',
    'Ignores answers that nobody asked for',
    'SHOULD',
    [],
    'They come after cancellations and restarts, and say nothing about what is in flight.',
  ),
  stands(
    'duplicate',
    'Ignores a second answer to the same request',
    'SHOULD',
    [],
    'The first answer counts; the request is over.',
  ),
  stands(
    'wrong-id-type',
    'Tells ids of different types apart',
    'SHOULD',
    ['JRPC-006'],
    'The id of an answer is that of the request, with its type; 1 and "1" may be two requests.',
  ),
  stands('out-of-order', 'Matches answers by their ids, in whatever order they come', 'MUST', ['JRPC-006']),
  stands('stderr-flood', 'Drains stderr, and takes it for no failure', 'SHOULD', ['STDIO-007', 'STDIO-008']),
  stands('batch-answer', 'Reads arrays from a server of 2025-03-26', 'MUST', ['JRPC-017']),
  stands('sse-answer', 'Reads an answer that comes as an event stream', 'MUST', ['HTTP-014']),
  stands('sse-odd', 'Reads event streams with comments, unknown fields and pieces', 'MUST', [
    'HTTP-014',
    'HTTP-021',
  ]),
  stands(
    'sse-two-lines',
    'Joins the lines of an event',
    'SHOULD',
    [],
    'The format of event streams has it so (WHATWG).',
  ),
  ends('crash', 'Does not hang when the server dies of a call', 'SHOULD', ['LIFE-005', 'LIFE-006']),
  ends('stream-cut', 'Does not hang when the answer breaks off', 'MUST', ['HTTP-023']),
  ends('stream-ended', 'Does not hang when the event stream ends without the answer', 'MUST', ['HTTP-023']),
  {
    id: 'robustness/ends',
    suite: 'robustness',
    title: 'Ends by itself, whatever the server does',
    level: 'SHOULD',
    rules: [],
    reason: 'A program that waits without a limit looks dead to its user.',
    hint: 'Give every request and every connection a limit.',
    on: 'all',
    judge(view) {
      if (['stubborn', 'slow-exit'].includes(view.scenario.name)) return skip('shutdown/ends says it');
      if (view.ended) return pass(`It ended after ${view.transcript.end.ms} ms`);
      return absent(view, `The client ${outcome(view)}`, 'An end', view.said.at(-1));
    },
  },
  {
    id: 'robustness/restarts',
    suite: 'robustness',
    title: 'Starts a server that has died again when it is needed',
    level: 'SHOULD',
    rules: ['LIFE-005'],
    hint: 'Fail what was in flight, and start the process again for the next request.',
    on: ['crash-and-go-on'],
    judge(view, facts) {
      const died = view.named('tools/call').find(({ params }) => params['name'] === 'slow');
      return died ? works(view, facts) : skip('the client does not do the step "cancel"');
    },
  },
  {
    id: 'robustness/listens-again',
    suite: 'robustness',
    title: 'Listens again when a server was started again',
    level: 'MUST',
    rules: ['LIFE-007', 'SUB-015'],
    hint: 'Subscriptions die with the process: send subscriptions/listen to the new one.',
    on: ['crash-and-go-on'],
    judge(view) {
      const [listen] = view.named('subscriptions/listen');
      if (!listen) return skip('the client did not listen for changes');
      const next = view.requests.find(
        ({ entry, index }) => index > listen.index && entry.life !== listen.entry.life,
      );
      if (!next) return skip('the client did not start the server again');
      const again = view.named('subscriptions/listen').some(({ entry }) => entry.life === next.entry.life);
      return again
        ? pass('It listened again')
        : absent(view, 'The client did not listen again', 'subscriptions/listen to the new process', next);
    },
  },
  {
    id: 'robustness/retry-new-id',
    suite: 'robustness',
    title: 'Repeats a lost request with a new id',
    level: 'MUST',
    rules: ['HTTP-023', 'LIFE-006'],
    hint: 'A request that is made again is a new one.',
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
    hint: HINTS[scenario] ?? 'Read what you know, and leave the rest alone.',
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
    hint: 'Fail what is in flight as soon as its answer cannot come any more.',
    on: [scenario],
    judge(view: View) {
      const [call] = view.named('tools/call');
      if (!call) return skip('the client did not get to call the tool');
      // A legacy stream may be taken up again; how long a client tries is up to it.
      if (level === 'MUST' && call.era === 'legacy') return skip('the client called in the legacy era');
      if (!view.ended)
        return absent(view, `The client ${outcome(view)}`, 'It fails the call and ends', view.said.at(-1));
      return view.succeeded
        ? fail('The client exited with 0, though its call was never answered', 'An error', view.said.at(-1))
        : pass(`It ${outcome(view)}`);
    },
  };
}
