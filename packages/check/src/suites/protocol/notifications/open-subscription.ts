/** Opens modern subscriptions, and finds tools that cause changes. */

import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import { isJsonObject, type JsonObject, type RequestId } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CheckConversation, Pending, Reply } from '../../../conversation/conversation.js';
import type { CheckContext } from '../../../run/check-context.js';
import { changesOf } from '../../../survey/callable-tools.js';
import { hasCapability } from '../../../survey/facts.js';
import { type Frame, membersOf, paramsOf } from '../../../wire/transcript.js';

export interface OpenSubscription {
  readonly id: RequestId;
  readonly pending: Pending;
  /** Its messages so far: the acknowledgement, change notifications and the closing result. */
  heard(): readonly Frame[];
  readonly acknowledgement: Frame | undefined;
  /** The acknowledged part of the filter. */
  readonly honoured: JsonObject;
  /** Set if it was answered before it was acknowledged. */
  readonly refusal: Reply | undefined;
}

export const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

/** The capability that each flag of a filter needs. */
export const FLAGS = {
  toolsListChanged: 'tools.listChanged',
  promptsListChanged: 'prompts.listChanged',
  resourcesListChanged: 'resources.listChanged',
} as const;

/** Skips if the server announces no change notifications. */
export function needNews(context: CheckContext): void {
  const paths = [...Object.values(FLAGS), 'resources.subscribe'];
  if (!paths.some((path) => hasCapability(context.facts.capabilities, path)))
    context.skip('the server announces no listChanged and no resources.subscribe');
}

/** A filter that requests everything. */
export function wholeFilter(context: CheckContext): JsonObject {
  const uri = context.facts.resources[0]?.['uri'];
  return {
    toolsListChanged: true,
    promptsListChanged: true,
    resourcesListChanged: true,
    ...(typeof uri === 'string' && { resourceSubscriptions: [uri] }),
  };
}

/** Opens a subscription, and waits until it is acknowledged or refused. It is cancelled at the end of the check. */
export async function listen(
  context: CheckContext,
  conversation: CheckConversation,
  notifications: JsonObject,
  id?: RequestId,
): Promise<OpenSubscription> {
  const { transcript } = conversation;
  const from = transcript.frames.length;
  const pending = conversation.start(
    'subscriptions/listen',
    { notifications },
    { ms: context.patience.checkMs, ...(id !== undefined && { id }) },
  );
  context.atEnd(() => pending.cancel());
  const exchange = transcript.frames.slice(from).find((frame) => frame.from === 'check')?.exchange;
  const isOwn = (frame: Frame): boolean => {
    if (frame.from !== 'server' || transcript.frames.indexOf(frame) < from) return false;
    if (exchange !== undefined) return frame.exchange === exchange;
    if (frame.kind === 'result' || frame.kind === 'error') return membersOf(frame)['id'] === pending.id;
    const subscription = subscriptionOf(frame);
    if (subscription === undefined) return frame.method === ACKNOWLEDGED;
    return String(subscription) === String(pending.id);
  };
  const acknowledged = transcript.waitFor(
    (frame) => frame.method === ACKNOWLEDGED && isOwn(frame),
    context.patience.answerMs,
  );
  const first = await Promise.race([acknowledged, pending.reply]);
  const isReply = first !== undefined && !('atMs' in first);
  // The acknowledgement may have come together with an answer that ended the subscription.
  const acknowledgement = isReply
    ? transcript.frames.find((frame) => frame.method === ACKNOWLEDGED && isOwn(frame))
    : first;
  const honoured = acknowledgement ? paramsOf(acknowledgement)['notifications'] : undefined;
  return {
    id: pending.id,
    pending,
    heard: () => transcript.frames.filter(isOwn),
    acknowledgement,
    honoured: isJsonObject(honoured) ? honoured : {},
    refusal: isReply && !acknowledgement ? first : undefined,
  };
}

/** Opens a subscription, and fails unless it is acknowledged. */
export async function listenAcknowledged(
  context: CheckContext,
  conversation: CheckConversation,
  notifications: JsonObject,
  id?: RequestId,
): Promise<OpenSubscription> {
  const listening = await listen(context, conversation, notifications, id);
  if (!listening.acknowledgement)
    context.fail(
      `subscriptions/listen was not acknowledged${listening.refusal ? `, but answered: ${inWords(listening.refusal)}` : ''}`,
      ACKNOWLEDGED,
    );
  return listening;
}

export function subscriptionOf(frame: Frame): unknown {
  const meta = paramsOf(frame)['_meta'];
  return isJsonObject(meta) ? meta[META.subscriptionId] : undefined;
}

export function isNews({ method = '' }: Frame): boolean {
  return /^notifications\/(?:(?:tools|prompts|resources)\/list_changed|resources\/updated)$/.test(method);
}

export type Cause = 'tools' | 'prompts' | 'resources' | 'uri';

interface Trigger {
  readonly name: string;
  readonly uris: readonly string[];
  pull(conversation: CheckConversation): Promise<Reply>;
}

/** A callable tool that causes a change notification of this kind. */
export function findTrigger(context: CheckContext, cause: Cause): Trigger | undefined {
  const tool = context.facts.callable.find((each) => {
    const changes = changesOf(each.tool);
    // Another server may have a tool of the same name.
    if (!changes?.uris.every((uri) => context.facts.resources.some((resource) => resource['uri'] === uri)))
      return false;
    return cause === 'uri' ? changes.uris.length > 0 : changes.lists.includes(cause);
  });
  if (!tool) return undefined;
  const { name, args } = tool;
  return {
    name,
    uris: changesOf(tool.tool)?.uris ?? [],
    pull: (conversation) => conversation.request('tools/call', { name, arguments: args }),
  };
}

export function needTrigger(context: CheckContext, cause: Cause): Trigger {
  const what = cause === 'uri' ? 'a resource' : `the list of ${cause}`;
  return (
    findTrigger(context, cause) ??
    context.skip(
      `no tool is known that makes ${what} change and may be called (see --call-tools and --allow)`,
    )
  );
}

function inWords(reply: Reply): string {
  if (reply.kind === 'error') return `error ${reply.error.code}: ${reply.error.message}`;
  return reply.kind === 'silence' ? reply.why : 'a result';
}
