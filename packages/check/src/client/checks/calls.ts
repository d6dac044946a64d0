import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { SCHEMA_PATH } from '../scenarios/calls.js';
import type { HeardMessage, Said, View } from '../view.js';
import { absent, type ClientCheck, every, fail, givesUp, outcome, pass, skip, works } from './check.js';

/** How the client takes results. A broken result must not look like a success. */
export const RESULTS: readonly ClientCheck[] = [
  {
    id: 'rounds/unknown-result-type',
    suite: 'rounds',
    title: 'Treats a result of an unknown type as an error',
    level: 'MUST',
    rules: ['RTYPE-003', 'RTYPE-005'],
    hint: 'The core protocol has only complete and input_required. Fail the call for any other resultType.',
    on: ['result-unknown-type'],
    judge: (view) => (called(view) ? givesUp(view) : skip(NOT_CALLED)),
  },
  {
    id: 'rounds/missing-result-type',
    suite: 'rounds',
    title: 'Treats a result without a type, as legacy servers send it, as complete',
    level: 'MUST',
    rules: ['RTYPE-004'],
    hint: 'An absent resultType means complete.',
    on: ['legacy-2025-06-18', 'legacy-2025-11-25', 'legacy-asks'],
    judge: works,
  },
  {
    id: 'rounds/not-on-lists',
    suite: 'rounds',
    title: 'Treats input_required as an error where it is not allowed',
    level: 'SHOULD',
    rules: [],
    reason: 'MRTR-003 allows it only for tools/call, prompts/get and resources/read, not for lists.',
    hint: 'Fail other requests whose result is input_required.',
    on: ['list-input-required'],
    judge: (view, facts) => (facts.modern ? givesUp(view) : skip('the client speaks the legacy era only')),
  },
  {
    id: 'robustness/call-error',
    suite: 'robustness',
    title: 'Reports an error of the server as an error',
    level: 'MUST',
    rules: ['JRPC-009'],
    hint: 'A response with `error` fails the request.',
    on: ['call-error'],
    judge: (view) => (called(view) ? givesUp(view) : skip(NOT_CALLED)),
  },
  {
    id: 'robustness/call-nonsense',
    suite: 'robustness',
    title: 'Treats a result that is not an object as an error, and does not hang',
    level: 'SHOULD',
    rules: ['JRPC-007'],
    hint: 'Check the shape of a response. If it is wrong, fail the request with that id.',
    on: ['call-nonsense'],
    judge: (view) => (called(view) ? givesUp(view) : skip(NOT_CALLED)),
  },
  {
    id: 'robustness/output-schema',
    suite: 'robustness',
    title: 'Validates structured content against the output schema of the tool',
    level: 'SHOULD',
    rules: ['TOOL-013'],
    hint: 'Validate structuredContent against outputSchema of the last tools/list.',
    on: ['output-mismatch'],
    judge: (view) => (called(view) ? givesUp(view) : skip(NOT_CALLED)),
  },
  {
    id: 'robustness/schema-refs',
    suite: 'robustness',
    title: 'Does not fetch addresses that a schema refers to',
    level: 'MUST',
    rules: ['JSCH-006', 'JSCH-007'],
    hint: 'Resolve $ref only within the schema.',
    on: ['schema-ref'],
    judge(view) {
      const listed = view
        .named('tools/list')
        .some((each) => each.era === 'modern' && view.answerTo(each)?.message['result']);
      if (!listed) return skip('the client did not list the tools in the modern era');
      const at = view.asides.find(({ path }) => path.startsWith(SCHEMA_PATH));
      return at
        ? fail(`The client requested ${at.path}`, 'No request for it', {
            index: view.transcript.entries.indexOf(at),
          })
        : pass('The client did not request it');
    },
  },
];

const NOT_CALLED = 'the client did not call the tool';

function called(view: View): boolean {
  return view.named('tools/call').length > 0;
}

/** How the client cancels a request. */
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
    hint: 'In the legacy era a closed connection is not a cancellation. Send the notification.',
    on: ['cancel-legacy'],
    over: ['http'],
    judge: notified,
  },
  {
    id: 'cancel/modern-http',
    suite: 'cancel',
    title: 'Over modern HTTP, cancels a request by closing its response',
    level: 'MUST',
    rules: ['HTTP-024', 'CANC-001'],
    hint: 'Abort the POST of the request. The server sees the closed connection.',
    on: ['cancel-modern'],
    over: ['http'],
    judge(view) {
      const slow = slowCall(view);
      if (!slow) return skip(NOT_CANCELLED);
      const hungUp = view.transcript.entries.findIndex(
        (entry) => entry.kind === 'hung-up' && entry.exchange === slow.entry.exchange,
      );
      if (hungUp < 0) return absent(view, 'The response was left open', CLOSED, slow);
      const next = view.named('tools/call').find(({ index }) => index > slow.index);
      const answered = next && view.answerTo(next);
      return answered && hungUp > answered.index
        ? fail('The response was left open until the end', CLOSED, slow)
        : pass('The client closed the response');
    },
  },
  {
    id: 'cancel/modern-http-silent',
    suite: 'cancel',
    title: 'Over modern HTTP, sends no notifications/cancelled',
    level: 'SHOULD',
    rules: ['CANC-005'],
    hint: 'Close the response; do not send a notification.',
    on: ['cancel-modern'],
    over: ['http'],
    judge(view) {
      if (!slowCall(view)) return skip(NOT_CANCELLED);
      const said = view.named('notifications/cancelled')[0];
      return said
        ? fail('The client sent notifications/cancelled', 'No notification', said)
        : pass('It sent none');
    },
  },
  {
    id: 'cancel/own-requests',
    suite: 'cancel',
    title: 'Cancels only its own requests that are in flight',
    level: 'MUST',
    rules: ['CANC-001', 'CANC-016'],
    hint: 'requestId is the id of a request that you sent and that is not answered yet, with the same JSON type.',
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
          // The client may keep waiting after an answer that it could not read.
          if (!answer || !isProper(answer)) return undefined;
          // The answer and the cancellation may have crossed.
          const long = entry.at - (view.transcript.entries[answer.index]?.at ?? 0) > CROSSING_MS;
          return long ? `${request.method} was already answered` : undefined;
        },
        expected: 'The id of a request in flight',
        seen: (count) => `${count} cancellations did`,
      }),
  },
  {
    id: 'cancel/late-answer',
    suite: 'cancel',
    title: 'Ignores an answer that comes after the cancellation',
    level: 'SHOULD',
    rules: ['CANC-009', 'CANC-010'],
    hint: 'Ignore answers to requests that you cancelled.',
    on: ['cancel-late'],
    judge(view) {
      const slow = slowCall(view);
      if (!slow || !view.answerTo(slow)) return skip(NOT_CANCELLED);
      return view.succeeded
        ? pass('It continued with the next call')
        : fail(`The client ${outcome(view)}`, 'The client continues, and exits with 0', slow);
    },
  },
];

const NOT_CANCELLED =
  'the client cancelled no call (it does not do the step "cancel", or speaks the other era)';
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
    : absent(
        view,
        'The client did not send notifications/cancelled',
        'notifications/cancelled with the id of the call',
        slow,
      );
}
