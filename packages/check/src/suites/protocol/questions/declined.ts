/** Users who decline, cancel, never answer, or answer with invalid content. */

import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { aliveMethod, askAlive, type CheckConversation } from '../../../conversation/conversation.js';
import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import type { WalkthroughStop } from '../../../survey/facts.js';
import {
  answeringConversation,
  answerTo,
  askAndAnswer,
  askingStops,
  describe,
  isForm,
  isSuccess,
  nameOf,
  type Question,
  questionsAt,
  variety,
} from './asking.js';

export const roundsDeclinedChecks: readonly Check[] = [
  declined('decline', 'declines', 'modern'),
  declined('cancel', 'closes the form', 'modern'),
  declined('decline', 'declines', 'legacy'),
  declined('cancel', 'closes the form', 'legacy'),
  {
    id: 'rounds/bears-no-answer',
    suite: 'protocol',
    title: 'Continues to serve requests when questions are never answered',
    level: 'MUST',
    rules: ['MRTR-014', 'ELIC-024'],
    era: 'modern',
    lane: 'own',
    hint: 'Let an unanswered round expire, and hold no lock and no worker for it.',
    async run(context) {
      const stops = variety(askingStops(context), 6);
      const conversation = await context.openConversation();
      const first = stops[0]!;
      const ask = async (stop: WalkthroughStop, before: string) => {
        const reply = await conversation.request(stop.method, stop.params);
        if (reply.kind === 'silence')
          context.fail(`${before}, ${nameOf(stop)} had ${describe(reply)}`, 'an answer');
      };
      for (let count = 0; count < UNANSWERED; count++) await ask(first, `after ${count} unanswered rounds`);
      for (const stop of stops) {
        await conversation.request(stop.method, stop.params);
        await ask(first, `after an unanswered round of ${nameOf(stop)}`);
      }
      const reply = await askAlive(conversation);
      if (reply.kind !== 'result')
        context.fail(
          `after unanswered rounds, ${aliveMethod(conversation)} had ${describe(reply)}`,
          'a result',
        );
      return `${stops.map(nameOf).join(', ')}: unanswered rounds did not block later requests`;
    },
  },
  {
    id: 'questions/judges-the-form',
    suite: 'protocol',
    title: 'Does not accept a form whose fields have the wrong type',
    level: 'SHOULD',
    rules: ['ELIC-023'],
    lane: 'abuse',
    hint: 'Validate content with requestedSchema. If it does not match, ask again or answer with an error.',
    async run(context) {
      const forms = askingStops(context).filter((stop) => questionsAt(stop).some(hasFields));
      if (forms.length === 0) context.skip('nothing that may be called asks for a form with fields');
      const stops = forms.slice(0, MOST_FORMS);
      const conversation = await answeringConversation(context);
      for (const stop of stops) {
        const asked = new Set<unknown>();
        let isAskedAgain = false;
        const reply = await askAndAnswer(conversation, stop, (question) => {
          const { message } = question.params;
          if (!hasFields(question)) return answerTo(question);
          if (!asked.has(message)) {
            asked.add(message);
            return wrongForm(question);
          }
          isAskedAgain = true;
          return { action: 'cancel' };
        });
        if (isSuccess(reply) && !isAskedAgain)
          context.fail(
            `${nameOf(stop)} got a form with fields of the wrong type and had ${describe(reply)}`,
            'an error, or the question again',
          );
      }
      return `${stops.map(nameOf).join(', ')}: a form with fields of the wrong type was not accepted`;
    },
  },
];

const UNANSWERED = 10;
const MOST_FORMS = 8;

/** A MUST for modern servers (ELIC-024), and an opinion for legacy ones. */
function declined(action: 'decline' | 'cancel', words: string, era: 'modern' | 'legacy'): Check {
  const isModern = era === 'modern';
  return {
    id: `${isModern ? 'rounds' : 'questions'}/bears-${action}`,
    suite: 'protocol',
    title: `Completes the request or answers with an error when the user ${words}`,
    level: isModern ? 'MUST' : 'SHOULD',
    rules: isModern ? ['ELIC-024'] : [],
    ...(!isModern && { reason: 'A request must not hang when the user does not want to answer.' }),
    era,
    lane: 'abuse',
    hint: `Handle {"action":"${action}"}: complete the request without the answer, or report it in the result.`,
    async run(context) {
      const asking = askingStops(context).filter((stop) => questionsAt(stop).some(isElicitation));
      if (asking.length === 0) context.skip('nothing that may be called asks the user a question');
      const stops = variety(asking, 3);
      const conversation = await answeringConversation(context);
      for (const stop of stops) await judge(context, conversation, stop, action);
      return `${stops.map(nameOf).join(', ')}: ended when the user ${words}`;
    },
  };
}

async function judge(
  context: CheckContext,
  conversation: CheckConversation,
  stop: WalkthroughStop,
  action: string,
): Promise<void> {
  const reply = await askAndAnswer(conversation, stop, (question) =>
    isElicitation(question) ? { action } : answerTo(question),
  );
  if (reply.kind === 'silence' || (reply.kind === 'error' && reply.error.code === -32603))
    context.fail(
      `${nameOf(stop)} was answered with {"action":"${action}"} and had ${describe(reply)}`,
      'a result, or an error other than -32603',
    );
}

function isElicitation({ method }: Question): boolean {
  return method === 'elicitation/create';
}

function fieldsOf({ params }: Question): JsonObject {
  const schema = params['requestedSchema'];
  return isJsonObject(schema) && isJsonObject(schema['properties']) ? schema['properties'] : {};
}

function hasFields(question: Question): boolean {
  return isForm(question) && Object.keys(fieldsOf(question)).length > 0;
}

function wrongForm(question: Question): JsonObject {
  const content = Object.entries(fieldsOf(question)).map(([name, field]) => {
    const isText = isJsonObject(field) && field['type'] === 'string';
    return [name, isText ? 12345 : 'not what was asked for'] as const;
  });
  return { action: 'accept', content: Object.fromEntries(content) };
}
