import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Check } from '../../model.js';
import { causeInFrame } from '../../run/failure-cause.js';
import { inShort, line, newId, sendAndExpectAlive } from './bad-input.js';

const common = {
  suite: 'resilience',
  over: ['command', 'socket'],
  lane: 'abuse',
} as const satisfies Partial<Check>;

/** Notifications and responses, which need no answer. */
export const noiseChecks: readonly Check[] = [
  {
    ...common,
    id: 'noise/notifications',
    title: 'Answers no notification, known or not',
    level: 'MUST',
    rules: ['JRPC-012'],
    hint: 'A message without an id gets no answer, not even an error.',
    async run(context) {
      const conversation = await context.abuseConversation();
      const notifications: readonly (readonly [string, JsonObject?])[] = [
        ['notifications/no-such-thing'],
        ['notifications/no-such-thing', { a: [1] }],
        ['no/such/method', {}],
        ['tools/list', {}],
        ['notifications/cancelled'],
        ['notifications/cancelled', { requestId: 'nobody-has-asked' }],
        ['notifications/progress', { progressToken: 'nobody-has-asked', progress: 1 }],
      ];
      const all = notifications.map(([method, params]) => ({
        jsonrpc: '2.0',
        method,
        ...(params && { params }),
      }));
      const badInput = {
        what: `${all.length} notifications`,
        send: (peer: { send(message: unknown): void }) => {
          for (const each of all) peer.send(each);
        },
      };
      const said = await sendAndExpectAlive(context, conversation, badInput, { listens: true });
      if (said[0])
        context.fail(
          `a notification was answered: ${inShort(said[0])}`,
          'no answer to any of them',
          causeInFrame(said[0]),
        );
      return `${all.length} notifications had no answer`;
    },
  },
  {
    ...common,
    id: 'noise/responses',
    title: 'Ignores responses to requests that it never sent',
    level: 'SHOULD',
    rules: ['JRPC-014'],
    hint: 'Drop a response whose id does not belong to one of your own requests. Two peers that answer responses never stop.',
    async run(context) {
      const conversation = await context.abuseConversation();
      const id = newId(conversation);
      const inputs: readonly (readonly [string, JsonObject])[] = [
        ['a result for an unknown id', { jsonrpc: '2.0', id, result: {} }],
        ['an error for an unknown id', { jsonrpc: '2.0', id, error: { code: -32603, message: 'no' } }],
        ['an error without an id', { jsonrpc: '2.0', error: { code: -32700, message: 'no' } }],
        ['an error with the id null', { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'no' } }],
      ];
      for (const [what, json] of inputs) {
        const said = await sendAndExpectAlive(context, conversation, line(what, JSON.stringify(json)), {
          listens: json === inputs.at(-1)![1],
        });
        if (said[0])
          context.fail(`${what} was answered: ${inShort(said[0])}`, 'no answer', causeInFrame(said[0]));
      }
      return 'four unexpected responses were ignored';
    },
  },
  {
    ...common,
    id: 'noise/result-and-error',
    title: 'Continues after a response with both a result and an error',
    level: 'SHOULD',
    rules: [],
    reason: 'A faulty message must not affect the other calls on the connection.',
    hint: 'Refuse or drop it, and continue to read.',
    async run(context) {
      const conversation = await context.abuseConversation();
      const json = {
        jsonrpc: '2.0',
        id: newId(conversation),
        result: {},
        error: { code: 1, message: 'both' },
      };
      const said = await sendAndExpectAlive(
        context,
        conversation,
        line('both result and error', JSON.stringify(json)),
      );
      const wrong = said.find(({ kind }) => kind !== 'error');
      if (wrong) context.fail(`it was answered with ${inShort(wrong)}`, 'an error, or no answer');
      return said[0] ? `was answered: ${inShort(said[0])}` : 'was dropped';
    },
  },
];
