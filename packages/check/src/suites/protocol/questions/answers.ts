/** How a server handles answers: valid, missing, surplus and malformed ones. */

import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Reply } from '../../../conversation/conversation.js';
import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import type { WalkthroughStop } from '../../../survey/facts.js';
import {
  answerAtEnd,
  answersTo,
  askAndAnswer,
  askingStops,
  describe,
  isSuccess,
  MOST_ROUNDS,
  nameOf,
  openRound,
  type QuestionRound,
  questionsAt,
  retry,
  roundIn,
  variety,
} from './asking.js';

const common = { suite: 'protocol', era: 'modern' } as const;

export const roundsAnswersChecks: readonly Check[] = [
  {
    ...common,
    id: 'rounds/answers-lead-to-a-result',
    title: 'Completes a request that is repeated with the answers',
    level: 'SHOULD',
    rules: ['MRTR-002', 'MRTR-015'],
    reason: 'A server that asks a question should use the answer.',
    hint: 'Read inputResponses by the keys of inputRequests, and complete the request when all answers are present.',
    async run(context) {
      const stops = variety(askingStops(context), MOST_STOPS);
      const conversation = await context.conversation();
      for (const stop of stops) {
        const reply = await askAndAnswer(conversation, stop);
        if (roundIn(reply))
          context.fail(
            `${nameOf(stop)} still asks after ${MOST_ROUNDS} rounds with all answers`,
            'a complete result',
          );
        if (reply.kind !== 'result')
          context.fail(`${nameOf(stop)} with all answers had ${describe(reply)}`, 'a complete result');
      }
      return `${names(stops)}: completed with the answers`;
    },
  },
  {
    ...common,
    id: 'rounds/asks-again-for-what-is-missing',
    title: 'Asks again when answers are missing',
    level: 'SHOULD',
    rules: ['MRTR-027'],
    hint: 'If a required answer is missing in inputResponses, answer with a new input_required that asks for it.',
    async run(context) {
      const stops = variety(
        askingStops(context).filter((stop) => questionsAt(stop).length > 0),
        MOST_STOPS,
      );
      const conversation = await context.conversation();
      for (const stop of stops) {
        const reply = await retry(conversation, stop, await openRound(context, conversation, stop), {});
        answerAtEnd(context, conversation, stop, reply);
        if (reply.kind !== 'result')
          context.fail(`${nameOf(stop)} without answers had ${describe(reply)}`, 'a new round');
      }
      return `${names(stops)}: asked again`;
    },
  },
  {
    ...common,
    id: 'rounds/asks-for-the-rest',
    title: 'Asks for the missing answers when only one of several came',
    level: 'SHOULD',
    rules: ['MRTR-027'],
    hint: 'Ask for the missing answers. You may keep the others or ask for them again.',
    async run(context) {
      const several = askingStops(context).filter((stop) => questionsAt(stop).length > 1);
      const stop = several[0] ?? context.skip('nothing that may be called asks several questions at once');
      const conversation = await context.conversation();
      const round = await openRound(context, conversation, stop);
      const one = Object.fromEntries(Object.entries(answersTo(round)).slice(0, 1));
      const reply = await retry(conversation, stop, round, one);
      answerAtEnd(context, conversation, stop, reply);
      if (reply.kind !== 'result')
        context.fail(
          `${nameOf(stop)} asked ${round.questions.size} questions, got one answer and had ${describe(reply)}`,
          'a new round that asks for the rest',
        );
      return `${nameOf(stop)}: one answer of ${round.questions.size} had ${describe(reply)}`;
    },
  },
  {
    ...common,
    id: 'rounds/ignores-surplus-answers',
    title: 'Ignores answers to questions that it did not ask',
    level: 'SHOULD',
    rules: ['MRTR-026'],
    hint: 'Read only those keys of inputResponses that are in inputRequests.',
    async run(context) {
      const stops = variety(askingStops(context), MOST_STOPS);
      const conversation = await context.conversation();
      for (const stop of stops) {
        const round = await openRound(context, conversation, stop);
        const plain = await retry(conversation, stop, round, answersTo(round));
        const again = await openRound(context, conversation, stop);
        const surplus = { 'isthmus-check-surplus': { action: 'accept', content: {} } };
        const reply = await retry(conversation, stop, again, { ...answersTo(again), ...surplus });
        if (plain.kind === 'result' && reply.kind !== 'result')
          context.fail(`${nameOf(stop)} with a surplus answer had ${describe(reply)}`, describe(plain));
      }
      return `${names(stops)}: a surplus answer was ignored`;
    },
  },
  {
    ...common,
    id: 'rounds/refuses-answers-of-no-shape',
    title: 'Refuses inputResponses that are not an object',
    level: 'SHOULD',
    rules: ['MRTR-025'],
    lane: 'abuse',
    hint: 'Check that inputResponses is an object before you read it, and answer with -32602 otherwise.',
    async run(context) {
      const stop = variety(askingStops(context), 1)[0]!;
      const conversation = await context.abuseConversation();
      for (const bad of [['yes'], 'yes', 7]) {
        const reply = await retry(conversation, stop, await openRound(context, conversation, stop), bad);
        if (reply.kind !== 'error')
          context.fail(
            `${nameOf(stop)} with inputResponses ${JSON.stringify(bad)} had ${describe(reply)}`,
            'a JSON-RPC error',
          );
      }
      return `${nameOf(stop)}: a list, a string and a number were refused`;
    },
  },
  {
    ...common,
    id: 'rounds/takes-no-wrong-answer-for-one',
    title: 'Does not accept malformed answers in inputResponses',
    level: 'SHOULD',
    rules: ['MRTR-025'],
    lane: 'abuse',
    hint: 'Validate each value of inputResponses as the result of its question. If it is invalid, answer with -32602 or ask again.',
    async run(context) {
      const stops = variety(askingStops(context), MOST_STOPS);
      const conversation = await context.abuseConversation();
      for (const stop of stops) {
        for (const bad of ['yes', 7, ['accept']] as const) {
          const round = await openRound(context, conversation, stop);
          const reply = await retry(conversation, stop, round, wrongly(round, bad));
          complain(context, stop, `the answer ${JSON.stringify(bad)}`, reply);
        }
      }
      return `${names(stops)}: a string, a number and a list were not accepted as answers`;
    },
  },
];

const MOST_STOPS = 6;

function names(stops: readonly WalkthroughStop[]): string {
  return stops.map(nameOf).join(', ');
}

function wrongly(round: QuestionRound, value: unknown): JsonObject {
  return Object.fromEntries([...round.questions.keys()].map((key) => [key, value]));
}

function complain(context: CheckContext, stop: WalkthroughStop, what: string, reply: Reply): void {
  if (isSuccess(reply) || reply.kind === 'silence')
    context.fail(
      `${nameOf(stop)} with ${what} had ${describe(reply)}`,
      'a JSON-RPC error, or the question again',
    );
}
