/** Effects of a cancellation. */
import type { CheckConversation } from '../../../conversation/conversation.js';
import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import { evidence } from '../answers.js';
import { describe } from '../questions/asking.js';
import {
  cancelled,
  needNotification,
  needSlowTool,
  SHORT_MS,
  SLOW_MS,
  startSlow,
  TRIES_MS,
} from './cancelled-call.js';

export const cancellationChecks: readonly Check[] = [
  {
    id: 'cancellation/no-answer-after',
    suite: 'protocol',
    title: 'Does not answer a request that was cancelled',
    level: 'SHOULD',
    rules: ['CANC-007', 'STDIO-015'],
    lane: 'own',
    hint: 'Pass an abort signal to the work, stop when it fires, and drop the result.',
    async run(context) {
      const conversation = await openForCancelling(context);
      for (const ms of TRIES_MS) {
        const { answer, watched } = await cancelled(context, conversation, ms);
        // An answer that was already on its way is not a fault. Then a longer call is cancelled.
        if (answer?.when === 'before' || (answer?.when === 'crossing' && ms !== TRIES_MS.at(-1))) continue;
        if (answer)
          context.fail(
            `the cancelled request was answered, ${Math.round(answer.frame.atMs - answer.cancelledAtMs)} ms after it was cancelled`,
            'no answer',
            evidence(answer.frame),
          );
        return `within ${Math.round(watched)} ms the cancelled request was not answered`;
      }
      return context.undecided(
        `a call of ${needSlowTool(context).name} was always answered before it could be cancelled`,
      );
    },
  },
  {
    id: 'cancellation/no-progress-after',
    suite: 'protocol',
    title: 'Reports no progress for a cancelled request',
    level: 'SHOULD',
    rules: ['CANC-007', 'STDIO-014', 'PROG-007'],
    reason:
      'The page on stdio forbids any further message. The page on cancellation (CANC-007) and this check only recommend it.',
    lane: 'own',
    hint: 'Send nothing for a request after you have read its cancellation, even if the work still runs.',
    async run(context) {
      const conversation = await openForCancelling(context);
      let prompted = 0;
      let lastWatched: number | undefined;
      let tooShort = 0;
      for (let tries = 0; tries < TRIES_MS.length; tries += 1) {
        const { answer, late, prompt, watched } = await cancelled(context, conversation, TRIES_MS[tooShort]!);
        if (answer?.when === 'before') tooShort += 1;
        if (late[0])
          context.fail(
            `progress of the cancelled request came ${late.length} times`,
            'silence',
            evidence(late[0]),
          );
        if (answer?.when !== 'before') lastWatched = watched;
        if (lastWatched !== undefined && !prompt) break;
        if (!prompt) continue;
        prompted += 1;
        // A single one may have been on its way already, but not every time.
        if (prompted === TRIES_MS.length)
          context.fail(
            'each time a request was cancelled, it reported more progress',
            'silence',
            evidence(prompt),
          );
      }
      if (lastWatched !== undefined)
        return `within ${Math.round(lastWatched)} ms no progress of the cancelled request came`;
      return context.undecided(
        `a call of ${needSlowTool(context).name} was always answered before it could be cancelled`,
      );
    },
  },
  {
    id: 'cancellation/others-go-on',
    suite: 'protocol',
    title: 'Continues other requests when one is cancelled',
    level: 'MUST',
    rules: ['CANC-010'],
    lane: 'own',
    hint: 'Cancel only the request that requestId names.',
    async run(context) {
      needSlowTool(context);
      const conversation = await context.openConversation();
      const first = startSlow(context, conversation, SLOW_MS, { progressToken: 9101 });
      const second = startSlow(context, conversation, SHORT_MS, { progressToken: 9102 });
      await first.cancel('cancelled by isthmus-check');
      const reply = await second.reply;
      if (reply.kind !== 'result')
        context.fail(`one of two requests was cancelled, and the other had ${describe(reply)}`, 'its result');
      return 'one of two requests was cancelled, and the other had its result';
    },
  },
  {
    id: 'cancellation/keeps-types-apart',
    suite: 'protocol',
    title: 'Distinguishes the id "8801" from the id 8801',
    level: 'SHOULD',
    rules: ['CANC-008', 'CANC-011'],
    reason: 'Ids are equal only if their types are equal (JRPC-006).',
    lane: 'own',
    hint: 'Compare requestId with the ids of requests as JSON values.',
    async run(context) {
      const conversation = await openForCancelling(context);
      const pending = startSlow(context, conversation, SHORT_MS, { id: 8801, progressToken: 9201 });
      await conversation.notify('notifications/cancelled', { requestId: '8801' });
      const reply = await pending.reply;
      if (reply.kind !== 'result')
        context.fail(
          `request 8801 was running, "8801" was cancelled, and 8801 had ${describe(reply)}`,
          'its result',
        );
      return 'cancelling "8801" did not affect 8801';
    },
  },
];

function openForCancelling(context: CheckContext): Promise<CheckConversation> {
  needNotification(context);
  needSlowTool(context);
  return context.openConversation();
}
