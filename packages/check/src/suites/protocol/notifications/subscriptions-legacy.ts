/** Legacy change notifications: of subscribed resources, and of lists. */
import { askAlive, type CheckConversation } from '../../../conversation/conversation.js';
import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import { hasCapability } from '../../../survey/facts.js';
import { type Frame, paramsOf } from '../../../wire/transcript.js';
import { evidence, saidByServer } from '../answers.js';
import { needTrigger } from './open-subscription.js';

const common = { suite: 'protocol', era: 'legacy' } as const;

export const subscriptionsLegacyChecks: readonly Check[] = [
  {
    ...common,
    id: 'subscriptions/subscribe-and-unsubscribe',
    title: 'Answers resources/subscribe and resources/unsubscribe with an empty result',
    level: 'SHOULD',
    rules: [],
    reason: 'A server that announces resources.subscribe has both methods.',
    hint: 'Store the URI for this session and answer {}. For unsubscribe, remove it and answer {}.',
    async run(context) {
      const uri = subscribable(context);
      const conversation = await context.conversation();
      for (const method of ['resources/subscribe', 'resources/unsubscribe']) {
        const result = context.needResult(await conversation.request(method, { uri }), method);
        const members = Object.keys(result).filter((key) => key !== '_meta');
        if (members.length > 0) context.fail(`${method} was answered with ${members.join(', ')}`, '{}');
      }
      return `${uri} was subscribed to and unsubscribed from`;
    },
  },
  {
    ...common,
    id: 'subscriptions/updates-after-subscribe',
    title: 'Sends updates of a resource only between subscribe and unsubscribe',
    level: 'SHOULD',
    rules: [],
    reason: 'A client relies on updates after it has subscribed, and on silence after it has unsubscribed.',
    lane: 'own',
    hint: 'Send notifications/resources/updated for the URIs of this session between subscribe and unsubscribe.',
    async run(context) {
      context.needCapability('resources.subscribe');
      const trigger = needTrigger(context, 'uri');
      const uri = trigger.uris[0]!;
      const conversation = await hearing(context);
      await trigger.pull(conversation);
      await askAlive(conversation);
      const early = updates(conversation, uri)[0];
      if (early)
        context.fail(`an update of ${uri} came before resources/subscribe`, 'no update', evidence(early));
      context.needResult(await conversation.request('resources/subscribe', { uri }), 'resources/subscribe');
      await trigger.pull(conversation);
      if (
        !(await conversation.transcript.waitFor((frame) => isUpdate(frame, uri), context.patience.answerMs))
      )
        context.fail(
          `${trigger.name} was called, but no update of ${uri} came`,
          'notifications/resources/updated',
        );
      context.needResult(
        await conversation.request('resources/unsubscribe', { uri }),
        'resources/unsubscribe',
      );
      // What was sent before may still be on its way, on another stream than the answer.
      await context.pause(context.patience.quietMs);
      const count = updates(conversation, uri).length;
      await trigger.pull(conversation);
      await context.pause(context.patience.quietMs);
      const late = updates(conversation, uri)[count];
      if (late)
        context.fail(`an update of ${uri} came after resources/unsubscribe`, 'no update', evidence(late));
      return `updates of ${uri} came between subscribe and unsubscribe`;
    },
  },
  {
    ...common,
    id: 'subscriptions/tells-list-changes',
    title: 'Notifies every client when a list has changed',
    level: 'SHOULD',
    rules: ['SUB-019', 'TOOL-022'],
    lane: 'own',
    hint: 'Send notifications/tools/list_changed (prompts, resources) to all sessions when you announce listChanged.',
    async run(context) {
      const list =
        LISTS.find((each) => hasCapability(context.facts.capabilities, `${each}.listChanged`)) ??
        context.skip('the server announces no listChanged');
      const trigger = needTrigger(context, list);
      const conversation = await hearing(context);
      const method = `notifications/${list}/list_changed`;
      const hears = (ms: number) => conversation.transcript.waitFor((frame) => frame.method === method, ms);
      await trigger.pull(conversation);
      // A proxy may still have been opening its stream for notifications.
      if (!(await hears(context.patience.quietMs))) await trigger.pull(conversation);
      if (!(await hears(context.patience.answerMs)))
        context.fail(`${trigger.name} was called, but ${method} did not come`, method);
      return `${trigger.name} was called, and ${method} came`;
    },
  },
  {
    ...common,
    id: 'subscriptions/list-changed-only-if-announced',
    title: 'Sends list_changed only if it announces listChanged',
    level: 'MUST',
    rules: ['INIT-012'],
    lane: 'after',
    hint: 'Announce listChanged for each list that you send list_changed for.',
    run(context) {
      if (context.revision < '2025-06-18')
        context.skip(`${context.revision} only recommends respecting the capabilities (INIT-013)`);
      const told = saidByServer(context, ({ method = '' }) => method.endsWith('/list_changed'));
      for (const frame of told) {
        const list = frame.method!.split('/')[1]!;
        if (!hasCapability(context.facts.capabilities, `${list}.listChanged`))
          context.fail(
            `${frame.method} came, but ${list}.listChanged is not announced`,
            'no such notification, or the capability',
            evidence(frame),
          );
      }
      return told.length === 0
        ? 'no list_changed notification came'
        : `all of ${told.length} list_changed notifications are announced`;
    },
  },
];

const LISTS = ['tools', 'prompts', 'resources'] as const;

function subscribable(context: CheckContext): string {
  context.needCapability('resources.subscribe');
  const uri = context.facts.resources[0]?.['uri'];
  return typeof uri === 'string' ? uri : context.skip('there is no resource to subscribe to');
}

/** A conversation that can receive unsolicited notifications. */
async function hearing(context: CheckContext): Promise<CheckConversation> {
  const conversation = await context.openConversation();
  if (!(await conversation.hearsNews)) context.skip('the server offers no GET stream for notifications');
  return conversation;
}

function isUpdate(frame: Frame, uri: string): boolean {
  return frame.method === 'notifications/resources/updated' && paramsOf(frame)['uri'] === uri;
}

function updates(conversation: CheckConversation, uri: string): Frame[] {
  return conversation.transcript.frames.filter((frame) => frame.from === 'server' && isUpdate(frame, uri));
}
