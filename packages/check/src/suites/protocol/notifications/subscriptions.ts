/** `subscriptions/listen`: the acknowledgement, several at once, and the end. */

import { platform } from 'node:os';
import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import { isJsonObject, type RequestId } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { aliveMethod, askAlive } from '../../../conversation/conversation.js';
import type { Check } from '../../../model.js';
import { hasCapability } from '../../../survey/facts.js';
import type { StreamPeer } from '../../../wire/stream-peer.js';
import { type Frame, membersOf, paramsOf } from '../../../wire/transcript.js';
import { evidence } from '../answers.js';
import { describe } from '../questions/asking.js';
import {
  ACKNOWLEDGED,
  FLAGS,
  listen,
  listenAcknowledged,
  needNews,
  subscriptionOf,
  wholeFilter,
} from './open-subscription.js';

const common = { suite: 'protocol', era: 'modern', lane: 'abuse' } as const;

export const subscriptionsChecks: readonly Check[] = [
  {
    ...common,
    id: 'subscriptions/acknowledged-first',
    title: 'Acknowledges a subscription before it sends anything else on it',
    level: 'MUST',
    rules: ['SUB-003', 'SUB-004'],
    hint: 'Send notifications/subscriptions/acknowledged as the first message of a subscription.',
    async run(context) {
      needNews(context);
      const listening = await listenAcknowledged(
        context,
        await context.abuseConversation(),
        wholeFilter(context),
      );
      const first = listening.heard()[0];
      if (first?.method !== ACKNOWLEDGED)
        context.fail(
          `the first message of the subscription was ${first?.method ?? first?.kind}`,
          ACKNOWLEDGED,
        );
      return 'the first message of the subscription was its acknowledgement';
    },
  },
  {
    ...common,
    id: 'subscriptions/promises-what-it-announces',
    title: 'Acknowledges only notifications that the client requested and the server announces',
    level: 'MUST',
    rules: ['SUB-006'],
    hint: 'Acknowledge the part of the filter for which you announce listChanged or resources.subscribe.',
    async run(context) {
      needNews(context);
      const asked = wholeFilter(context);
      const conversation = await context.abuseConversation();
      const { honoured } = await listenAcknowledged(context, conversation, asked);
      const has = (path: string) => hasCapability(context.facts.capabilities, path);
      for (const [flag, path] of Object.entries(FLAGS)) {
        if (honoured[flag] === true && !has(path))
          context.fail(`${flag} is acknowledged, but ${path} is not announced`, `no ${flag}`);
      }
      const uris = Array.isArray(honoured['resourceSubscriptions']) ? honoured['resourceSubscriptions'] : [];
      if (uris.length > 0 && !has('resources.subscribe'))
        context.fail(
          'resourceSubscriptions are acknowledged, but resources.subscribe is not announced',
          'no resourceSubscriptions',
        );
      const surplus = uris.find((uri) => ![asked['resourceSubscriptions']].flat().includes(uri));
      if (surplus !== undefined)
        context.fail(
          `${String(surplus)} is acknowledged, but was not requested`,
          'a part of the requested filter',
        );
      const { honoured: little } = await listenAcknowledged(context, conversation, {
        toolsListChanged: true,
      });
      const more = Object.keys(little).find(
        (key) => key !== 'toolsListChanged' && little[key] !== false && !isEmpty(little[key]),
      );
      if (more !== undefined)
        context.fail(
          `${more} is acknowledged, but only toolsListChanged was asked for`,
          'a part of the filter',
        );
      return `of the whole filter, ${Object.keys(honoured).join(', ') || 'nothing'} was acknowledged`;
    },
  },
  {
    ...common,
    id: 'subscriptions/keeps-the-id',
    title: 'Identifies a subscription by the id of its request, with the same type',
    level: 'MUST',
    rules: ['SUB-008', 'META-013'],
    hint: 'Put the JSON-RPC id of the listen request unchanged into _meta["io.modelcontextprotocol/subscriptionId"].',
    async run(context) {
      needNews(context);
      const conversation = await context.abuseConversation();
      for (const id of ['70001', 70_001, 'isthmus/listen ✓'] satisfies RequestId[]) {
        const { acknowledgement } = await listenAcknowledged(context, conversation, wholeFilter(context), id);
        const named = subscriptionOf(acknowledgement!);
        if (named !== id)
          context.fail(
            `the subscription with the id ${JSON.stringify(id)} has the subscriptionId ${JSON.stringify(named) ?? 'missing'}`,
            JSON.stringify(id),
            evidence(acknowledgement!),
          );
      }
      return 'strings stayed strings, and numbers stayed numbers';
    },
  },
  {
    ...common,
    id: 'subscriptions/several-at-once',
    title: 'Allows several subscriptions at once, each with its own filter',
    level: 'SHOULD',
    rules: [],
    reason: 'A client changes its filter by opening a second subscription before it ends the first.',
    hint: 'Keep subscriptions by their request id, and acknowledge each.',
    async run(context) {
      needNews(context);
      const conversation = await context.abuseConversation();
      const first = await listenAcknowledged(context, conversation, wholeFilter(context));
      const second = await listen(context, conversation, { toolsListChanged: true });
      if (!second.acknowledgement)
        context.fail(
          `with one subscription open, the second ${second.refusal ? `had ${describe(second.refusal)}` : 'was not acknowledged'}`,
          'an acknowledgement for each',
        );
      const ended = first.heard().find(({ kind }) => kind === 'result' || kind === 'error');
      if (ended) context.fail('the second subscription ended the first', 'both stay open', evidence(ended));
      return 'two subscriptions were open at once';
    },
  },
  {
    ...common,
    id: 'subscriptions/leaves-room-for-others',
    title: 'Answers other requests while a subscription is open',
    level: 'MUST',
    rules: ['JRPC-020'],
    hint: 'Do not wait for the end of a subscription before you read the next request.',
    async run(context) {
      needNews(context);
      const conversation = await context.abuseConversation();
      await listenAcknowledged(context, conversation, wholeFilter(context));
      const reply = await askAlive(conversation);
      if (reply.kind === 'silence')
        context.fail(
          `while a subscription is open, ${aliveMethod(conversation)} had ${describe(reply)}`,
          'an answer',
        );
      return `${aliveMethod(conversation)} was answered while a subscription was open`;
    },
  },
  {
    ...common,
    id: 'subscriptions/open-again-after-cancel',
    title: 'Opens a new subscription after others were cancelled',
    level: 'SHOULD',
    rules: [],
    reason: 'Clients cancel and listen again when their filter changes.',
    hint: 'Free a subscription when its request is cancelled, or when its stream is closed.',
    async run(context) {
      needNews(context);
      const conversation = await context.abuseConversation();
      for (let count = 0; count < TIMES; count++) {
        const { pending } = await listenAcknowledged(context, conversation, wholeFilter(context));
        await pending.cancel();
      }
      const reply = await askAlive(conversation);
      if (reply.kind === 'silence')
        context.fail(`after ${TIMES} cancelled subscriptions there was ${describe(reply)}`, 'an answer');
      await listenAcknowledged(context, conversation, wholeFilter(context));
      return `after ${TIMES} cancelled subscriptions the next was acknowledged`;
    },
  },
  {
    ...common,
    id: 'subscriptions/refuses-a-filter-that-is-none',
    title: 'Refuses subscriptions/listen without a filter',
    level: 'SHOULD',
    rules: [],
    reason: 'A client that forgot its filter would wait for notifications that never come.',
    hint: 'Answer with -32602 if params.notifications is missing or not an object.',
    async run(context) {
      needNews(context);
      const conversation = await context.abuseConversation();
      for (const params of [{}, { notifications: 'all' }]) {
        const pending = conversation.start('subscriptions/listen', params);
        context.atEnd(() => pending.cancel());
        const first = await Promise.race([
          pending.reply,
          pending.waitFor((frame) => frame.method === ACKNOWLEDGED && subscriptionOf(frame) === pending.id),
        ]);
        const said = JSON.stringify(params);
        if (first && 'atMs' in first)
          context.fail(`params ${said} were acknowledged`, 'error -32602', evidence(first));
        else if (first?.kind !== 'error')
          context.fail(`params ${said} had ${first ? describe(first) : 'no answer'}`, 'error -32602');
      }
      return 'a missing filter and a filter that is a string were refused';
    },
  },
  {
    ...common,
    id: 'subscriptions/closing-result',
    title: 'Ends a subscription with a complete result that has only the subscription id',
    level: 'MUST',
    rules: ['SUB-013', 'SUB-008'],
    lane: 'own',
    over: ['command', 'socket'],
    hint: 'Close with {"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":<id>}}.',
    async run(context) {
      needNews(context);
      const conversation = await context.openConversation();
      const listening = await listenAcknowledged(context, conversation, wholeFilter(context));
      conversation.peer!.endInput();
      const frame =
        (await conversation.transcript.waitFor(
          (each) => each.kind === 'result' && membersOf(each)['id'] === listening.id,
          context.patience.answerMs,
        )) ??
        context.skip(
          'the server ended without a closing result, which is allowed when the client disconnects',
        );
      const result = membersOf(frame)['result'];
      const { resultType, _meta, ...rest } = isJsonObject(result) ? result : {};
      const named = isJsonObject(_meta) ? _meta[META.subscriptionId] : undefined;
      if (resultType !== 'complete' || named !== listening.id || Object.keys(rest).length > 0)
        context.fail(
          `the closing result has resultType ${JSON.stringify(resultType)}, subscriptionId ${JSON.stringify(named)}${Object.keys(rest).map((key) => ` and ${key}`)}`,
          `resultType "complete", subscriptionId ${JSON.stringify(listening.id)} and nothing else`,
          evidence(frame),
        );
      return 'at the end of input the subscription was closed with a complete result';
    },
  },
  {
    ...common,
    id: 'subscriptions/says-when-it-ends',
    title: 'Sends a closing result or notifications/cancelled when it ends a subscription',
    level: 'SHOULD',
    rules: ['SUB-012', 'CANC-003'],
    reason:
      'One page of the specification asks for a closing result (SHOULD), another for notifications/cancelled (MUST). Either counts. Without both, the client cannot distinguish the end from a crash.',
    lane: 'own',
    over: ['command', 'socket'],
    hint: 'On SIGTERM and at the end of input, answer each open subscriptions/listen with a complete result before you exit.',
    async run(context) {
      needNews(context);
      const conversation = await context.openConversation();
      const { id } = await listenAcknowledged(context, conversation, wholeFilter(context));
      const how = requestEnd(conversation.peer!);
      const isEnd = (frame: Frame) =>
        frame.kind === 'result'
          ? membersOf(frame)['id'] === id
          : frame.method === 'notifications/cancelled' && paramsOf(frame)['requestId'] === id;
      const end = await conversation.transcript.waitFor(isEnd, context.patience.answerMs);
      if (!end)
        context.fail(
          `${how}, the server ${conversation.peer!.hasEnded ? 'ended' : 'kept running'} without a message on the open subscription`,
          'a closing result, or notifications/cancelled',
        );
      return `${how}, the subscription was ended with ${end?.method ?? 'a closing result'}`;
    },
  },
];

const TIMES = 5;

/** Ends a command with a signal, if there are signals, and others by the end of input. */
function requestEnd(peer: StreamPeer): string {
  const pid = peer.process?.pid;
  if (pid === undefined || platform() === 'win32') {
    peer.endInput();
    return 'at the end of input';
  }
  process.kill(pid, 'SIGTERM');
  return 'after SIGTERM';
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
