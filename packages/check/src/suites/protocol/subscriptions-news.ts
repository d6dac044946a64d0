/** News on subscriptions: those that were asked for, and no others. */

import { askAlive } from '../../conversation/alive.js';
import type { CheckConversation } from '../../conversation/conversation.js';
import type { Check } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import { hasCapability } from '../../survey/facts.js';
import { type Frame, membersOf, paramsOf } from '../../wire/transcript.js';
import { evidence, saidByServer } from './exchanges.js';
import {
  ACKNOWLEDGED,
  type Cause,
  findTrigger,
  isNews,
  listenWell,
  needNews,
  needTrigger,
  type OpenSubscription,
  subscriptionOf,
  wholeFilter,
} from './listening.js';

const common = { suite: 'protocol', era: 'modern', lane: 'own' } as const;

export const subscriptionsNewsChecks: readonly Check[] = [
  told('tools', 'TOOL-021'),
  told('prompts', 'PROMPT-008'),
  told('resources', 'RES-011'),
  {
    ...common,
    id: 'subscriptions/tells-updates',
    title: 'Tells subscribers when a resource has changed',
    level: 'SHOULD',
    rules: ['RES-012'],
    hint: 'Send notifications/resources/updated to every subscription whose resourceSubscriptions hold the URI.',
    async run(table) {
      table.needCapability('resources.subscribe');
      const trigger = needTrigger(table, 'uri');
      const talk = await table.openTalk();
      const listening = await listenWell(table, talk, { resourceSubscriptions: trigger.uris });
      await trigger.pull(talk);
      const frame = await listening.pending.waitFor(
        (each) => each.method === 'notifications/resources/updated' && trigger.uris.includes(uriOf(each)),
      );
      if (!frame)
        table.fail(
          `${trigger.name} was called, and notifications/resources/updated for ${trigger.uris[0]} did not come`,
          'the news on the subscription',
        );
      return `${trigger.name} was called, and the news came`;
    },
  },
  {
    ...common,
    id: 'subscriptions/tells-nothing-else',
    title: 'Tells a subscription only what its filter asks for',
    level: 'MUST',
    rules: ['SUB-002', 'RES-013'],
    hint: 'Compare each change with the filter of each subscription before it is told.',
    async run(table) {
      needNews(table);
      const cause = CAUSES.find((each) => isAnnounced(table, each) && findTrigger(table, each));
      const trigger = needTrigger(table, cause ?? 'tools');
      const talk = await table.openTalk();
      const without = { toolsListChanged: false, resourceSubscriptions: ['isthmus-check://nothing'] };
      const listening = await listenWell(table, talk, without);
      const witness = await listenWell(table, talk, {
        ...wholeFilter(table),
        resourceSubscriptions: trigger.uris,
      });
      await trigger.pull(talk);
      if (!(await witness.pending.waitFor((frame) => isNews(frame) && subscriptionOf(frame) === witness.id)))
        table.skip(`${trigger.name} was called, and nobody was told anything`);
      await table.pause(table.patience.quietMs);
      const wrong = newsOf(listening)[0];
      if (wrong)
        table.fail(
          `the subscription without a wish was told ${wrong.method}`,
          'nothing that was not asked for',
          evidence(wrong),
        );
      return `${trigger.name} was called, and only the subscription that wanted to know was told`;
    },
  },
  {
    ...common,
    id: 'subscriptions/news-name-their-subscription',
    title: 'News name the subscription that they belong to',
    level: 'MUST',
    rules: ['META-013', 'SUB-008'],
    hint: 'Put _meta["io.modelcontextprotocol/subscriptionId"] into every notification of a subscription.',
    async run(table) {
      needNews(table);
      const { talk, first, second, name } = await twoWitnesses(table);
      const from = talk.transcript.frames.length;
      await needTrigger(table, name).pull(talk);
      await Promise.all([arrives(table, talk, first), arrives(table, talk, second)]);
      await table.pause(table.patience.quietMs);
      const news = talk.transcript.frames
        .slice(from)
        .filter((frame) => frame.from === 'server' && isNews(frame));
      if (news.length === 0) table.skip('a change was made, and nobody was told anything');
      const nameless = news.find((frame) => ![first.id, second.id].includes(subscriptionOf(frame) as never));
      if (nameless)
        table.fail(
          `${nameless.method} came with the subscriptionId ${JSON.stringify(subscriptionOf(nameless)) ?? 'missing'}`,
          `${JSON.stringify(first.id)} or ${JSON.stringify(second.id)}`,
          evidence(nameless),
        );
      for (const { id } of [first, second]) {
        if (!news.some((frame) => subscriptionOf(frame) === id))
          table.fail(
            `of two subscriptions with the same filter, ${JSON.stringify(id)} was told nothing`,
            'news on both',
          );
      }
      return `all news (${news.length}) named their subscription`;
    },
  },
  {
    ...common,
    id: 'subscriptions/quiet-after-cancel',
    title: 'Says nothing more on a subscription that was cancelled, and goes on with the others',
    level: 'MUST',
    rules: ['STDIO-014', 'HTTP-025'],
    hint: 'End a subscription at once when its request is cancelled, and no other.',
    async run(table) {
      needNews(table);
      const { talk, first, second, name } = await twoWitnesses(table);
      await first.pending.cancel();
      await askAlive(talk);
      const heard = newsOf(first).length;
      await needTrigger(table, name).pull(talk);
      if (!(await arrives(table, talk, second)))
        table.fail(
          'one of two subscriptions was cancelled, and the other was told nothing any more',
          'news on the other',
        );
      await table.pause(table.patience.quietMs);
      const late = newsOf(first)[heard];
      if (late)
        table.fail(
          `after it was cancelled, the subscription was told ${late.method}`,
          'nothing more',
          evidence(late),
        );
      return 'the cancelled subscription stayed quiet, and the other was told';
    },
  },
  {
    ...common,
    id: 'subscriptions/no-progress-and-no-logs',
    title: 'Carries neither progress nor logs on a subscription',
    level: 'MUST',
    rules: ['HTTP-018'],
    over: ['http'],
    hint: 'Send progress and logs on the response stream of the request that they are about.',
    async run(table) {
      needNews(table);
      const busy = table.facts.tour.filter(({ reply }) => reply.notifications.some(isBusyWork)).slice(0, 3);
      if (busy.length === 0) table.skip('nothing that may be called reports progress or logs');
      const talk = await table.openTalk();
      const listening = await listenWell(table, talk, wholeFilter(table));
      await Promise.all(
        busy.map(({ method, params }, at) =>
          talk.request(method, params, { progressToken: 8000 + at, logLevel: 'debug' }),
        ),
      );
      await table.pause(table.patience.quietMs);
      const wrong = listening.heard().find(isBusyWork);
      if (wrong)
        table.fail(`${wrong.method} came on the stream of a subscription`, 'news only', evidence(wrong));
      return 'progress and logs of other requests stayed off the subscription';
    },
  },
  {
    ...common,
    id: 'subscriptions/no-news-outside',
    title: 'Tells no news to those who have not subscribed',
    level: 'MUST',
    rules: ['META-013', 'RES-013', 'SUB-017'],
    lane: 'after',
    hint: 'Send list_changed, updated and tasks only on subscriptions that ask for them.',
    run(table) {
      const isForeign = (frame: Frame) => isNews(frame) || frame.method === 'notifications/tasks';
      const listens = new Set(
        table.transcripts.flatMap(({ frames }) =>
          frames.flatMap((frame) =>
            frame.from === 'check' && frame.method === 'subscriptions/listen' ? [membersOf(frame)['id']] : [],
          ),
        ),
      );
      const wrong = saidByServer(table, isForeign).find((frame) => !listens.has(subscriptionOf(frame)));
      if (wrong)
        table.fail(
          `${wrong.method} came, and nobody had subscribed`,
          'news on subscriptions only',
          evidence(wrong),
        );
      return 'nothing was told to those who have not subscribed';
    },
  },
];

const CAUSES: readonly Cause[] = ['uri', 'tools', 'prompts', 'resources'];

function isAnnounced(table: CheckContext, cause: Cause): boolean {
  const path = cause === 'uri' ? 'resources.subscribe' : `${cause}.listChanged`;
  return hasCapability(table.facts.capabilities, path);
}

function told(list: 'tools' | 'prompts' | 'resources', rule: string): Check {
  return {
    ...common,
    id: `subscriptions/tells-${list}`,
    title: `Tells subscribers when the list of ${list} has changed`,
    level: 'SHOULD',
    rules: [rule],
    hint: `Send notifications/${list}/list_changed to every subscription with ${list}ListChanged.`,
    async run(table) {
      table.needCapability(`${list}.listChanged`);
      const trigger = needTrigger(table, list);
      const talk = await table.openTalk();
      const listening = await listenWell(table, talk, { [`${list}ListChanged`]: true });
      await trigger.pull(talk);
      const method = `notifications/${list}/list_changed`;
      if (!(await listening.pending.waitFor((frame) => frame.method === method)))
        table.fail(`${trigger.name} was called, and ${method} did not come`, 'the news on the subscription');
      return `${trigger.name} was called, and ${method} came`;
    },
  };
}

async function twoWitnesses(table: CheckContext) {
  const name = CAUSES.find((each) => isAnnounced(table, each) && findTrigger(table, each)) ?? 'tools';
  const trigger = needTrigger(table, name);
  const talk = await table.openTalk();
  const filter = { ...wholeFilter(table), resourceSubscriptions: trigger.uris };
  const first = await listenWell(table, talk, filter);
  const second = await listenWell(table, talk, filter);
  return { talk, first, second, name };
}

/** News for this one, in time. */
function arrives(
  table: CheckContext,
  talk: CheckConversation,
  { id }: OpenSubscription,
): Promise<Frame | undefined> {
  return talk.transcript.waitFor(
    (frame) => isNews(frame) && subscriptionOf(frame) === id,
    table.patience.answerMs,
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
