/** Change notifications on subscriptions: the requested ones, and no others. */
import { askAlive, type CheckConversation } from '../../../conversation/conversation.js';
import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import { hasCapability } from '../../../survey/facts.js';
import { type Frame, membersOf, paramsOf } from '../../../wire/transcript.js';
import { evidence, saidByServer } from '../answers.js';
import {
  ACKNOWLEDGED,
  type Cause,
  findTrigger,
  isNews,
  listenAcknowledged,
  needNews,
  needTrigger,
  type OpenSubscription,
  subscriptionOf,
  wholeFilter,
} from './open-subscription.js';

const common = { suite: 'protocol', era: 'modern', lane: 'own' } as const;

export const subscriptionsNewsChecks: readonly Check[] = [
  told('tools', 'TOOL-021'),
  told('prompts', 'PROMPT-008'),
  told('resources', 'RES-011'),
  {
    ...common,
    id: 'subscriptions/tells-updates',
    title: 'Notifies subscribers when a resource has changed',
    level: 'SHOULD',
    rules: ['RES-012'],
    hint: 'Send notifications/resources/updated to every subscription whose resourceSubscriptions has the URI.',
    async run(context) {
      context.needCapability('resources.subscribe');
      const trigger = needTrigger(context, 'uri');
      const conversation = await context.openConversation();
      const listening = await listenAcknowledged(context, conversation, {
        resourceSubscriptions: trigger.uris,
      });
      await trigger.pull(conversation);
      const frame = await listening.pending.waitFor(
        (each) => each.method === 'notifications/resources/updated' && trigger.uris.includes(uriOf(each)),
      );
      if (!frame)
        context.fail(
          `${trigger.name} was called, but notifications/resources/updated for ${trigger.uris[0]} did not come`,
          'the notification on the subscription',
        );
      return `${trigger.name} was called, and the notification came`;
    },
  },
  {
    ...common,
    id: 'subscriptions/tells-nothing-else',
    title: 'Sends only notifications that the filter of a subscription requests',
    level: 'MUST',
    rules: ['SUB-002', 'RES-013'],
    hint: 'Compare each change with the filter of a subscription before you send it.',
    async run(context) {
      needNews(context);
      const cause = CAUSES.find((each) => isAnnounced(context, each) && findTrigger(context, each));
      const trigger = needTrigger(context, cause ?? 'tools');
      const conversation = await context.openConversation();
      const without = { toolsListChanged: false, resourceSubscriptions: ['isthmus-check://nothing'] };
      const listening = await listenAcknowledged(context, conversation, without);
      const witness = await listenAcknowledged(context, conversation, {
        ...wholeFilter(context),
        resourceSubscriptions: trigger.uris,
      });
      await trigger.pull(conversation);
      if (!(await witness.pending.waitFor((frame) => isNews(frame) && subscriptionOf(frame) === witness.id)))
        context.skip(`${trigger.name} was called, and no notification came`);
      await context.pause(context.patience.quietMs);
      const wrong = newsOf(listening)[0];
      if (wrong)
        context.fail(
          `the subscription with an empty filter received ${wrong.method}`,
          'only requested notifications',
          evidence(wrong),
        );
      return `${trigger.name} was called, and only the subscription that requested it was notified`;
    },
  },
  {
    ...common,
    id: 'subscriptions/news-name-their-subscription',
    title: 'Change notifications name their subscription',
    level: 'MUST',
    rules: ['META-013', 'SUB-008'],
    hint: 'Put _meta["io.modelcontextprotocol/subscriptionId"] into every notification of a subscription.',
    async run(context) {
      needNews(context);
      const { conversation, first, second, name } = await twoWitnesses(context);
      const from = conversation.transcript.frames.length;
      await needTrigger(context, name).pull(conversation);
      await Promise.all([arrives(context, conversation, first), arrives(context, conversation, second)]);
      await context.pause(context.patience.quietMs);
      const news = conversation.transcript.frames
        .slice(from)
        .filter((frame) => frame.from === 'server' && isNews(frame));
      if (news.length === 0) context.skip('a change was made, and no notification came');
      const nameless = news.find((frame) => ![first.id, second.id].includes(subscriptionOf(frame) as never));
      if (nameless)
        context.fail(
          `${nameless.method} came with the subscriptionId ${JSON.stringify(subscriptionOf(nameless)) ?? 'missing'}`,
          `${JSON.stringify(first.id)} or ${JSON.stringify(second.id)}`,
          evidence(nameless),
        );
      for (const { id } of [first, second]) {
        if (!news.some((frame) => subscriptionOf(frame) === id))
          context.fail(
            `of two subscriptions with the same filter, ${JSON.stringify(id)} received nothing`,
            'notifications on both',
          );
      }
      return `all of ${news.length} notifications named their subscription`;
    },
  },
  {
    ...common,
    id: 'subscriptions/quiet-after-cancel',
    title: 'Sends nothing more on a cancelled subscription, and continues the others',
    level: 'MUST',
    rules: ['STDIO-014', 'HTTP-025'],
    hint: 'End a subscription as soon as its request is cancelled, and end no other.',
    async run(context) {
      needNews(context);
      const { conversation, first, second, name } = await twoWitnesses(context);
      await first.pending.cancel();
      await askAlive(conversation);
      const heard = newsOf(first).length;
      await needTrigger(context, name).pull(conversation);
      if (!(await arrives(context, conversation, second)))
        context.fail(
          'one of two subscriptions was cancelled, and the other received nothing any more',
          'notifications on the other',
        );
      await context.pause(context.patience.quietMs);
      const late = newsOf(first)[heard];
      if (late)
        context.fail(
          `after it was cancelled, the subscription received ${late.method}`,
          'nothing more',
          evidence(late),
        );
      return 'the cancelled subscription received nothing, and the other was notified';
    },
  },
  {
    ...common,
    id: 'subscriptions/no-progress-and-no-logs',
    title: 'Sends no progress and no logs on a subscription',
    level: 'MUST',
    rules: ['HTTP-018'],
    over: ['http'],
    hint: 'Send progress and logs on the response stream of the request that they are about.',
    async run(context) {
      needNews(context);
      const busy = context.facts.walkthrough
        .filter(({ reply }) => reply.notifications.some(isBusyWork))
        .slice(0, 3);
      if (busy.length === 0) context.skip('nothing that may be called reports progress or logs');
      const conversation = await context.openConversation();
      const listening = await listenAcknowledged(context, conversation, wholeFilter(context));
      await Promise.all(
        busy.map(({ method, params }, at) =>
          conversation.request(method, params, { progressToken: 8000 + at, logLevel: 'debug' }),
        ),
      );
      await context.pause(context.patience.quietMs);
      const wrong = listening.heard().find(isBusyWork);
      if (wrong)
        context.fail(
          `${wrong.method} came on the stream of a subscription`,
          'only change notifications',
          evidence(wrong),
        );
      return 'no progress and no logs came on the subscription';
    },
  },
  {
    ...common,
    id: 'subscriptions/no-news-outside',
    title: 'Sends change notifications only on subscriptions',
    level: 'MUST',
    rules: ['META-013', 'RES-013', 'SUB-017'],
    lane: 'after',
    hint: 'Send list_changed, updated and tasks only on subscriptions that ask for them.',
    run(context) {
      const isForeign = (frame: Frame) => isNews(frame) || frame.method === 'notifications/tasks';
      const listens = new Set(
        context.transcripts.flatMap(({ frames }) =>
          frames.flatMap((frame) =>
            frame.from === 'check' && frame.method === 'subscriptions/listen' ? [membersOf(frame)['id']] : [],
          ),
        ),
      );
      const wrong = saidByServer(context, isForeign).find((frame) => !listens.has(subscriptionOf(frame)));
      if (wrong)
        context.fail(
          `${wrong.method} came without a subscription`,
          'change notifications only on subscriptions',
          evidence(wrong),
        );
      return 'no change notification came without a subscription';
    },
  },
];

const CAUSES: readonly Cause[] = ['uri', 'tools', 'prompts', 'resources'];

function isAnnounced(context: CheckContext, cause: Cause): boolean {
  const path = cause === 'uri' ? 'resources.subscribe' : `${cause}.listChanged`;
  return hasCapability(context.facts.capabilities, path);
}

function told(list: 'tools' | 'prompts' | 'resources', rule: string): Check {
  return {
    ...common,
    id: `subscriptions/tells-${list}`,
    title: `Notifies subscribers when the list of ${list} has changed`,
    level: 'SHOULD',
    rules: [rule],
    hint: `Send notifications/${list}/list_changed to every subscription with ${list}ListChanged.`,
    async run(context) {
      context.needCapability(`${list}.listChanged`);
      const trigger = needTrigger(context, list);
      const conversation = await context.openConversation();
      const listening = await listenAcknowledged(context, conversation, { [`${list}ListChanged`]: true });
      await trigger.pull(conversation);
      const method = `notifications/${list}/list_changed`;
      if (!(await listening.pending.waitFor((frame) => frame.method === method)))
        context.fail(
          `${trigger.name} was called, but ${method} did not come`,
          'the notification on the subscription',
        );
      return `${trigger.name} was called, and ${method} came`;
    },
  };
}

async function twoWitnesses(context: CheckContext) {
  const name = CAUSES.find((each) => isAnnounced(context, each) && findTrigger(context, each)) ?? 'tools';
  const trigger = needTrigger(context, name);
  const conversation = await context.openConversation();
  const filter = { ...wholeFilter(context), resourceSubscriptions: trigger.uris };
  const first = await listenAcknowledged(context, conversation, filter);
  const second = await listenAcknowledged(context, conversation, filter);
  return { conversation, first, second, name };
}

/** Waits for a change notification of this subscription. */
function arrives(
  context: CheckContext,
  conversation: CheckConversation,
  { id }: OpenSubscription,
): Promise<Frame | undefined> {
  return conversation.transcript.waitFor(
    (frame) => isNews(frame) && subscriptionOf(frame) === id,
    context.patience.answerMs,
  );
}

function newsOf(listening: OpenSubscription): Frame[] {
  return listening.heard().filter(({ kind, method }) => kind === 'notification' && method !== ACKNOWLEDGED);
}

function uriOf(frame: Frame): string {
  return String(paramsOf(frame)['uri']);
}

function isBusyWork({ method }: Frame): boolean {
  return method === 'notifications/progress' || method === 'notifications/message';
}
