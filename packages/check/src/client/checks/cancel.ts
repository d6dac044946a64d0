import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { HeardMessage, Said, View } from '../read/view.js';
import { absent, type ClientCheck, every, fail, outcome, pass, skip } from './check.js';

/** What the client does when it gives a request up. */
export const CANCEL: readonly ClientCheck[] = [
  {
    id: 'cancel/modern-stdio',
    suite: 'cancel',
    title: 'Over stdio, cancels a modern request with notifications/cancelled',
    level: 'MUST',
    rules: ['CANC-006', 'STDIO-013'],
    hint: 'Send notifications/cancelled with the id of the request as requestId.',
    on: ['cancel-modern'],
    over: ['stdio'],
    judge: notified,
  },
  {
    id: 'cancel/legacy-stdio',
    suite: 'cancel',
    title: 'Over stdio, cancels a legacy request with notifications/cancelled',
    level: 'SHOULD',
    rules: ['CANC-016', 'INIT-015'],
    hint: 'Send notifications/cancelled with the id of the request as requestId.',
    on: ['cancel-legacy'],
    over: ['stdio'],
    judge: notified,
  },
  {
    id: 'cancel/legacy-http',
    suite: 'cancel',
    title: 'Over legacy HTTP, POSTs notifications/cancelled',
    level: 'SHOULD',
    rules: ['LHTTP-010'],
    hint: 'There a lost connection is no cancellation: say it.',
    on: ['cancel-legacy'],
    over: ['http'],
    judge: notified,
  },
  {
    id: 'cancel/modern-http',
    suite: 'cancel',
    title: 'Over modern HTTP, cancels by closing the answer',
    level: 'MUST',
    rules: ['HTTP-024', 'CANC-001'],
    hint: 'Abort the POST of the request: the server sees that nobody reads the answer.',
    on: ['cancel-modern'],
    over: ['http'],
    judge(view) {
      const slow = slowCall(view);
      if (!slow) return skip(NOT_CANCELLED);
      const hungUp = view.transcript.entries.findIndex(
        (entry) => entry.kind === 'hung-up' && entry.exchange === slow.entry.exchange,
      );
      if (hungUp < 0) return absent(view, 'The answer was left open', CLOSED, slow);
      const next = view.named('tools/call').find(({ index }) => index > slow.index);
      const answered = next && view.answerTo(next);
      return answered && hungUp > answered.index
        ? fail('The answer was left open until the end', CLOSED, slow)
        : pass('The client closed the answer');
    },
  },
  {
    id: 'cancel/modern-http-silent',
    suite: 'cancel',
    title: 'Over modern HTTP, sends no notifications/cancelled',
    level: 'SHOULD',
    rules: ['CANC-005'],
    hint: 'Closing the answer says it all.',
    on: ['cancel-modern'],
    over: ['http'],
    judge(view) {
      if (!slowCall(view)) return skip(NOT_CANCELLED);
      const said = view.named('notifications/cancelled')[0];
      return said ? fail('The client sent notifications/cancelled', 'Nothing', said) : pass('It sent none');
    },
  },
  {
    id: 'cancel/own-requests',
    suite: 'cancel',
    title: 'Cancels only requests of its own that are in flight',
    level: 'MUST',
    rules: ['CANC-001', 'CANC-016'],
    hint: 'requestId is the id of a request you sent and that is not answered yet, with its JSON type.',
    on: 'all',
    judge: (view) =>
      every(view.named('notifications/cancelled'), {
        none: 'the client cancelled nothing',
        problem({ params, index, entry }) {
          const { requestId } = params;
          const request = view.requests.findLast(
            (each) => each.id === requestId && each.index < index && each.entry.life === entry.life,
          );
          if (!request) return `requestId is ${JSON.stringify(requestId)}, and there was no such request`;
          const answer = view.answerTo(request);
          // What it could not read, or what makes no sense, it may go on waiting for.
          if (!answer || !isProper(answer)) return undefined;
          // It may have crossed the answer on the way.
          const long = entry.at - (view.transcript.entries[answer.index]?.at ?? 0) > CROSSING_MS;
          return long ? `${request.method} had been answered` : undefined;
        },
        expected: 'The id of a request in flight',
        seen: (count) => `${count} did`,
      }),
  },
  {
    id: 'cancel/late-answer',
    suite: 'cancel',
    title: 'Ignores an answer that comes after the cancellation',
    level: 'SHOULD',
    rules: ['CANC-009', 'CANC-010'],
    hint: 'Drop answers whose request is no longer waited for.',
    on: ['cancel-late'],
    judge(view) {
      const slow = slowCall(view);
      if (!slow || !view.answerTo(slow)) return skip(NOT_CANCELLED);
      return view.succeeded
        ? pass('It went on with the next call')
        : fail(`The client ${outcome(view)}`, 'It goes on, and exits with 0', slow);
    },
  },
];

const NOT_CANCELLED =
  'the client gave up no call (it does not do the step "cancel", or speaks the other era)';
const CROSSING_MS = 1000;
const CLOSED = 'The connection of the request is closed at once';

function slowCall(view: View): Said | undefined {
  return view.named('tools/call').find(({ params }) => params['name'] === 'slow');
}

function isProper({ message, batched }: HeardMessage): boolean {
  if (batched) return false;
  return isJsonObject(message['result']) || isJsonObject(message['error']);
}

function notified(view: View) {
  const slow = slowCall(view);
  if (!slow) return skip(NOT_CANCELLED);
  const told = view.named('notifications/cancelled').find(({ params }) => params['requestId'] === slow.id);
  return told
    ? pass('notifications/cancelled named the request')
    : absent(view, 'The server was not told', 'notifications/cancelled with the id of the call', slow);
}
