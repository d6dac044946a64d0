import type { Check } from '../../../model.js';
import { causeInFrame } from '../../../run/failure-cause.js';
import { complaintText, judgeMessage } from '../../../shapes/index.js';
import { type Frame, isAnswer, membersOf, type WireTranscript } from '../../../wire/transcript.js';
import { answersIn, evidence, harmless, inWords, knownRevision, saidByServer, several } from '../answers.js';
import { listsOf, needLists } from '../features/lists.js';

/** JSON-RPC messages. */
export const messageChecks: readonly Check[] = [
  {
    id: 'messages/envelope',
    suite: 'protocol',
    title: 'Sends only valid JSON-RPC 2.0 messages',
    level: 'MUST',
    rules: ['JRPC-001', 'JRPC-002', 'JRPC-007', 'JRPC-008', 'JRPC-019'],
    lane: 'after',
    hint: 'Each message has jsonrpc "2.0" and either a method, a result object or an error, and nothing else.',
    run(context) {
      const revision = knownRevision(context);
      const isHttp = context.target.transport === 'http';
      const frames = context.transcripts
        .flatMap((transcript) => transcript.frames)
        .filter((frame) => frame.from === 'server' && frame.json !== undefined && (!isHttp || claims(frame)));
      for (const frame of frames) {
        const complaints = judgeMessage(frame.json, revision).filter(
          // JSON-RPC uses null if an id could not be read.
          ({ path, got }) => frame.kind !== 'error' || path !== 'id' || got !== 'null',
        );
        if (complaints.length === 0) continue;
        context.fail(
          `a message is invalid: ${several(complaints.map(complaintText))}`,
          'a JSON-RPC 2.0 message',
          evidence(frame),
        );
      }
      return `${frames.length} messages are valid`;
    },
  },
  {
    id: 'messages/one-answer',
    suite: 'protocol',
    title: 'Answers each request exactly once, and answers nothing else',
    level: 'MUST',
    rules: ['JRPC-006', 'JRPC-009'],
    lane: 'after',
    hint: 'Send exactly one response to each request, with the id of that request.',
    run(context) {
      for (const { frame, request } of answersIn(context.transcripts)) {
        // An error for unreadable input has no id.
        if (request || (frame.kind === 'error' && frame.id === undefined)) continue;
        const id = JSON.stringify(membersOf(frame)['id']) ?? 'no id';
        context.fail(
          `an answer came under ${id}, but no request has that id`,
          'answers to requests',
          evidence(frame),
        );
      }
      for (const transcript of context.transcripts) {
        const twice = answeredTwice(transcript);
        if (twice)
          context.fail(
            `the request with the id ${JSON.stringify(twice.id)} was answered twice`,
            'one answer',
            evidence(twice),
          );
      }
      const asked = context.transcripts.flatMap((transcript) => requestsOf(transcript)).length;
      return `none of ${asked} requests was answered twice, and nothing else was answered`;
    },
  },
  {
    id: 'messages/notifications-unanswered',
    suite: 'protocol',
    title: 'Does not answer notifications, known or not',
    level: 'MUST',
    rules: ['JRPC-012'],
    hint: 'A message without an id is a notification. Process it or ignore it, but never answer it, not even with an error.',
    async run(context) {
      const conversation = await context.conversation();
      const from = conversation.transcript.frames.length;
      await conversation.notify('notifications/isthmus_check_unknown', { from: 'isthmus check' });
      await conversation.notify('notifications/cancelled', {
        requestId: 'isthmus-nobody',
        reason: 'nothing to cancel',
      });
      await conversation.request(harmless(context));
      await context.pause(context.patience.quietMs);
      const asked = requestsOf(conversation.transcript).map(({ id }) => id);
      const stray = conversation.transcript.frames
        .slice(from)
        .find(
          (frame) =>
            isServerAnswer(frame) &&
            !asked.includes(frame.id) &&
            !isIdless(frame, conversation.peer === undefined),
        );
      if (stray)
        context.fail(`a notification was answered: ${stray.text.slice(0, 200)}`, 'no answer', {
          ...evidence(stray),
          ...causeInFrame(stray),
        });
      return 'two notifications, one of them unknown, had no answer';
    },
  },
  {
    id: 'messages/over-sockets',
    suite: 'protocol',
    title: 'Uses the same messages on a custom transport as on stdio',
    level: 'MUST',
    rules: ['STDIO-016', 'STDIO-017', 'STDIO-019'],
    over: ['socket'],
    lane: 'own',
    hint: 'Send the same lines as on stdio: the handshake in legacy revisions, and _meta in every modern request.',
    async run(context) {
      const conversation = await context.openConversation();
      const method = listsOf(context)[0]?.method ?? harmless(context);
      const result = context.needResult(await conversation.request(method), `${method} over a socket`);
      if (conversation.era === 'modern' && typeof result['resultType'] !== 'string')
        context.fail(`the result of ${method} has no resultType`, 'the result of a modern server');
      return `${conversation.era === 'modern' ? 'server/discover' : 'the handshake'} and ${method} went over a socket`;
    },
  },
  {
    id: 'messages/no-requests',
    suite: 'protocol',
    title: 'Never sends a request',
    level: 'MUST',
    rules: ['JRPC-013', 'JRPC-015', 'STDIO-010'],
    era: 'modern',
    lane: 'after',
    hint: 'Ask the client in an input_required result. Do not send a request.',
    run(context) {
      const [request] = saidByServer(context, ({ kind }) => kind === 'request');
      if (request) {
        context.fail(
          `the server sent a request: ${request.method}`,
          'responses and notifications only',
          evidence(request),
        );
      }
      return 'no message of the server was a request';
    },
  },
];

/** Over HTTP a refusal may have any body. Only a body that claims to be a message is judged. */
function claims(frame: Frame): boolean {
  return frame.kind !== 'other' && (frame.kind !== 'error' || membersOf(frame)['jsonrpc'] !== undefined);
}

function isServerAnswer(frame: Frame): boolean {
  return frame.from === 'server' && isAnswer(frame);
}

/** Over HTTP, the body of a refused notification may be an error without an id. */
function isIdless(frame: Frame, isHttp: boolean): boolean {
  return isHttp && frame.kind === 'error' && membersOf(frame)['id'] == null;
}

function requestsOf({ frames }: WireTranscript): Frame[] {
  return frames.filter((frame) => frame.from === 'check' && frame.kind === 'request');
}

/** An id may be reused after its answer, so there may be as many answers as requests. */
function answeredTwice(transcript: WireTranscript): Frame | undefined {
  const open = new Map<unknown, number>();
  for (const request of requestsOf(transcript)) open.set(request.id, (open.get(request.id) ?? 0) + 1);
  return transcript.frames.filter(isServerAnswer).find((frame) => {
    const left = (open.get(frame.id) ?? 0) - 1;
    open.set(frame.id, left);
    return frame.id !== undefined && left < 0;
  });
}

/** Requests are independent of each other. */
export const stateChecks: readonly Check[] = [
  {
    id: 'state/side-by-side',
    suite: 'protocol',
    title: 'Serves several requests at once, each with its own answer',
    level: 'SHOULD',
    rules: ['STATE-002'],
    era: 'modern',
    hint: 'Keep the state of a request with the request. Answers may come in any order.',
    async run(context) {
      const conversation = await context.conversation();
      const lists = needLists(context);
      const asked = [...lists, ...lists, ...lists].map(({ method, member }) => ({
        member,
        method,
        reply: conversation.request(method),
      }));
      for (const { method, member, reply } of asked) {
        const result = context.needResult(
          await reply,
          `${method}, together with ${asked.length - 1} others,`,
        );
        if (!Array.isArray(result[member]))
          context.fail(
            `${method}, together with others, was answered with ${inWords(await reply)}`,
            `a list of ${member}`,
          );
      }
      return `${asked.length} simultaneous requests were answered`;
    },
  },
  {
    id: 'state/after-errors',
    suite: 'protocol',
    title: 'Serves requests after errors as before',
    level: 'SHOULD',
    rules: [],
    reason: 'A client that made a mistake tries again on the same connection.',
    hint: 'An error must end only its own request.',
    async run(context) {
      const conversation = await context.conversation();
      await Promise.all(
        ['isthmus_check/one', 'isthmus_check/two', 'isthmus_check/three'].map((method) =>
          conversation.request(method),
        ),
      );
      const method = harmless(context);
      context.needResult(await conversation.request(method), `${method} after three errors`);
      return `${method} was served after three errors`;
    },
  },
];

/** Legacy `ping`. */
export const pingChecks: readonly Check[] = [
  {
    id: 'ping/answered',
    suite: 'protocol',
    title: 'Answers ping with an empty result',
    level: 'MUST',
    rules: ['PING-001'],
    era: 'legacy',
    hint: 'Answer ping at once with `{}`, whatever else is running.',
    async run(context) {
      const conversation = await context.conversation();
      const result = context.needResult(await conversation.request('ping'), 'ping');
      const members = Object.keys(result).filter((key) => key !== '_meta');
      if (members.length > 0) context.fail(`the result has ${members.join(', ')}`, 'an empty result');
      return 'ping was answered with an empty result';
    },
  },
];
