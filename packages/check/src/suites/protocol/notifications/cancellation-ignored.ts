/** Cancellations that a server ignores or survives, and cancellations by the server. */
import { aliveMethod, askAlive, type CheckConversation } from '../../../conversation/conversation.js';
import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import { membersOf, paramsOf } from '../../../wire/transcript.js';
import { evidence } from '../answers.js';
import { describe } from '../questions/asking.js';
import { needNotification, needSlowTool, SHORT_MS, SLOW_MS, startSlow } from './cancelled-call.js';

export const cancellationIgnoredChecks: readonly Check[] = [
  ignored(
    'unknown',
    'a cancellation of an unknown request',
    'SHOULD',
    ['CANC-008', 'CANC-011'],
    [{ requestId: 987_654_321 }, { requestId: 'isthmus-check: unknown', reason: 'for no reason' }],
  ),
  ignored(
    'malformed',
    'a cancellation without a request id',
    'SHOULD',
    ['CANC-011'],
    [
      {},
      { requestId: null },
      { requestId: { id: 1 } },
      { requestId: [1] },
      { requestId: 1.5 },
      { requestId: true },
      { requestId: 'x', reason: 7 },
    ],
  ),
  {
    id: 'cancellation/finished-ignored',
    suite: 'protocol',
    title: 'Ignores the cancellation of a request that it has answered',
    level: 'MUST',
    rules: ['CANC-010'],
    lane: 'abuse',
    hint: 'Forget a request when it is answered, and ignore cancellations of unknown requests.',
    async run(context) {
      needNotification(context);
      const conversation = await conversationInUse(context);
      const reply = await askAlive(conversation);
      await expectIgnored(
        context,
        conversation,
        { requestId: reply.id },
        'the cancellation of an answered request',
      );
      return `${aliveMethod(conversation)} was cancelled after its answer, and nothing happened`;
    },
  },
  {
    id: 'cancellation/race-survived',
    suite: 'protocol',
    title: 'Survives cancellations that arrive while it answers',
    level: 'MUST',
    rules: ['CANC-010'],
    lane: 'abuse',
    hint: 'Settle each request once: with the answer or with the cancellation, whichever comes first.',
    async run(context) {
      const conversation = await conversationInUse(context);
      for (let count = 0; count < RACES; count++) {
        const pending = conversation.start(aliveMethod(conversation));
        await pending.cancel('a race');
      }
      const reply = await askAlive(conversation);
      if (reply.kind !== 'result')
        context.fail(`after ${RACES} races there was ${describe(reply)}`, 'an answer to the next request');
      const twice = answeredTwice(conversation);
      if (twice !== undefined)
        context.fail(`${JSON.stringify(twice)} was answered twice`, 'one answer at most');
      return `${RACES} requests were cancelled at once, and the next was answered`;
    },
  },
  {
    id: 'cancellation/disconnect-survived',
    suite: 'protocol',
    title: 'Survives clients that disconnect during a request',
    level: 'MUST',
    rules: ['CANC-004', 'CANC-010', 'HTTP-024'],
    era: 'modern',
    over: ['http'],
    lane: 'own',
    hint: 'When the response stream is closed, cancel its request; other requests go on.',
    async run(context) {
      needSlowTool(context);
      const conversation = await context.openConversation();
      const kept = startSlow(context, conversation, SHORT_MS);
      for (let count = 0; count < 5; count++) {
        const pending = startSlow(context, conversation, SLOW_MS, { progressToken: 9300 + count });
        await pending.waitFor(() => true, SHORT_MS);
        await pending.cancel();
      }
      const reply = await kept.reply;
      const after = await askAlive(conversation);
      if (reply.kind !== 'result' || after.kind !== 'result')
        context.fail(
          `five clients disconnected; another request had ${describe(reply)}, and the next ${describe(after)}`,
          'results for both',
        );
      return 'five clients disconnected, and the others were answered';
    },
  },
  {
    id: 'cancellation/server-cancels-only-its-own',
    suite: 'protocol',
    title: 'Sends notifications/cancelled only for subscriptions (legacy: only for its own requests)',
    level: 'MUST',
    rules: ['CANC-002', 'CANC-016'],
    lane: 'after',
    hint: 'Answer a request of the client with an error instead of cancelling it.',
    run(context) {
      let count = 0;
      for (const transcript of context.transcripts) {
        const own = new Set<unknown>();
        for (const frame of transcript.frames) {
          const isOwn =
            context.era === 'modern'
              ? frame.from === 'check' && frame.method === 'subscriptions/listen'
              : frame.from === 'server' && frame.kind === 'request';
          if (isOwn) own.add(membersOf(frame)['id']);
          if (frame.from !== 'server' || frame.method !== 'notifications/cancelled') continue;
          count++;
          const id = paramsOf(frame)['requestId'];
          // A task of 2025-11-25 is cancelled without one.
          if (id === undefined && context.revision === '2025-11-25') continue;
          if (!own.has(id))
            context.fail(
              `the server cancelled ${JSON.stringify(id)}, which is not ${context.era === 'modern' ? 'a subscription' : 'one of its own requests'}`,
              'no cancellation of requests of the client',
              evidence(frame),
            );
        }
      }
      return count === 0
        ? 'the server cancelled nothing'
        : `all of ${count} cancellations were of its own requests`;
    },
  },
];

const RACES = 20;

/** Some servers do not know the era of a notification before the first request. */
async function conversationInUse(context: CheckContext): Promise<CheckConversation> {
  const conversation = await context.abuseConversation();
  if (conversation.era === 'modern') await conversation.request('tools/list');
  return conversation;
}

function answeredTwice(conversation: CheckConversation): unknown {
  const seen = new Set<string>();
  for (const { from, id, kind, exchange } of conversation.transcript.frames) {
    if (from !== 'server' || id === undefined || (kind !== 'result' && kind !== 'error')) continue;
    const key = `${exchange} ${JSON.stringify(id)}`;
    if (seen.has(key)) return id;
    seen.add(key);
  }
  return undefined;
}

function ignored(
  name: string,
  what: string,
  level: Check['level'],
  rules: readonly string[],
  params: readonly Record<string, unknown>[],
): Check {
  return {
    id: `cancellation/${name}-ignored`,
    suite: 'protocol',
    title: `Ignores ${what}`,
    level,
    rules,
    lane: 'abuse',
    hint: 'Do nothing and answer nothing if requestId is not the id of a running request.',
    async run(context) {
      needNotification(context);
      const conversation = await conversationInUse(context);
      for (const each of params) await expectIgnored(context, conversation, each, JSON.stringify(each));
      return `${params.length} of them were ignored`;
    },
  };
}

async function expectIgnored(
  context: CheckContext,
  conversation: CheckConversation,
  params: Record<string, unknown>,
  what: string,
): Promise<void> {
  const from = conversation.transcript.frames.length;
  await conversation.notify('notifications/cancelled', params).catch(() => {});
  const reply = await askAlive(conversation);
  if (reply.kind !== 'result')
    context.fail(
      `after ${what}, ${aliveMethod(conversation)} had ${describe(reply)}`,
      'an answer, as before',
    );
  const said = conversation.transcript.frames.slice(from).find(
    (frame) =>
      frame.from === 'server' &&
      (frame.kind === 'error' || frame.kind === 'result') &&
      // Over HTTP, the server may refuse the whole POST, with an error without an id.
      (frame.id !== undefined || context.target.transport !== 'http') &&
      membersOf(frame)['id'] !== reply.id,
  );
  if (said) context.fail(`${what} was answered`, 'silence', evidence(said));
}
