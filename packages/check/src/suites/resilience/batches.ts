import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CheckConversation } from '../../conversation/conversation.js';
import { legacyHeaders } from '../../conversation/http-legacy-conversation.js';
import type { Check } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import { causeInFrame } from '../../run/failure-cause.js';
import { type Frame, membersOf } from '../../wire/transcript.js';
import { answers, codeOf, harmless, inShort, line, newId, peerOf, sendAndExpectAlive } from './bad-input.js';

/** Batches, which only 2025-03-26 has. */
export const batchChecks: readonly Check[] = [
  {
    id: 'batch/not-processed',
    suite: 'resilience',
    title: 'Does not process an array as a batch',
    level: 'MUST',
    rules: ['JRPC-019', 'STDIO-002'],
    hint: 'Refuse an array with -32600: since 2025-06-18 a line has one message.',
    over: ['command', 'socket'],
    lane: 'abuse',
    async run(context) {
      const conversation = await context.abuseConversation();
      if (conversation.revision < '2025-06-18')
        return context.skip(`${conversation.revision} does not forbid batches`);
      const ids = [`${newId(conversation)}-a`, `${newId(conversation)}-b`];
      const batch = line('a batch', JSON.stringify(ids.map((id) => harmless(conversation, id))));
      const said = await sendAndExpectAlive(context, conversation, batch, { until: isProcessed(ids) });
      const result = said.find(isProcessed(ids));
      if (result) context.fail(`a batch of two was processed: ${inShort(result)}`, 'an error, or no answer');
      return said[0] ? `the batch got ${String(codeOf(said[0]) ?? inShort(said[0]))}` : 'no answer';
    },
  },
  {
    id: 'batch/empty',
    suite: 'resilience',
    title: 'Continues after an empty array, and does not answer it with a result',
    level: 'SHOULD',
    rules: ['ERR-018'],
    hint: 'Refuse an empty array with -32600, and continue to read.',
    over: ['command', 'socket'],
    lane: 'abuse',
    async run(context) {
      const conversation = await context.abuseConversation();
      const said = await sendAndExpectAlive(context, conversation, line('an empty array', '[]'), {
        until: ({ kind }) => kind !== 'notification',
      });
      const wrong = said.find(({ kind }) => kind !== 'error');
      if (wrong) context.fail(`[] was answered with ${inShort(wrong)}`, 'an error, or no answer');
      return said[0] ? `[] got ${String(codeOf(said[0]))}` : '[] was not answered, and nothing was lost';
    },
  },
  {
    id: 'batch/2025-03-26',
    suite: 'resilience',
    title: 'Accepts a batch in revision 2025-03-26',
    level: 'MUST',
    rules: ['JRPC-017'],
    hint: 'Answer each request of the array, or do not accept 2025-03-26 in initialize.',
    era: 'legacy',
    lane: 'own',
    async run(context) {
      const conversation = await context.openConversation({ era: 'legacy', revision: '2025-03-26' });
      if (conversation.revision !== '2025-03-26')
        return context.skip(`it offers ${conversation.revision} instead of 2025-03-26`);
      const ids = ['batch-a', 'batch-b'];
      const messages = [
        ...ids.map((id) => ({ jsonrpc: '2.0', id, method: 'ping' })),
        { jsonrpc: '2.0', method: 'notifications/roots/list_changed' },
      ];
      const said = conversation.peer
        ? await onStream(context, conversation, messages)
        : await overHttp(context, conversation, messages);
      const missing = ids.filter((id) => !said.flatMap(unpacked).some((each) => isResult(each, id)));
      if (missing.length === 0) return 'both requests of a batch were answered';
      const error = said.find(({ kind }) => kind === 'error');
      const got = error ? `; it got ${inShort(error)}` : '';
      return context.fail(
        `after it accepted 2025-03-26, ${missing.length} of 2 requests of a batch had no result${got}`,
        'a result for each request of the batch',
        causeInFrame(error),
      );
    },
  },
];

async function onStream(
  context: CheckContext,
  conversation: CheckConversation,
  messages: readonly unknown[],
): Promise<readonly Frame[]> {
  const { transcript } = peerOf(context, conversation);
  const from = transcript.frames.length;
  await sendAndExpectAlive(context, conversation, line('a batch', JSON.stringify(messages)));
  const said = () => transcript.frames.slice(from).filter((frame) => frame.from === 'server');
  const isThere = (id: string) =>
    said()
      .flatMap(unpacked)
      .some((each) => isResult(each, id));
  await transcript.waitFor(() => isThere('batch-a') && isThere('batch-b'), context.patience.quietMs);
  return said();
}

async function overHttp(
  context: CheckContext,
  conversation: CheckConversation,
  body: readonly unknown[],
): Promise<readonly Frame[]> {
  const http = await context.openHttp().request({
    body,
    headers: legacyHeaders(conversation.revision, conversation.sessionId),
    ms: context.patience.answerMs,
  });
  const isThere = (id: string) => http.frames.flatMap(unpacked).some((each) => isResult(each, id));
  await http.waitFor(() => isThere('batch-a') && isThere('batch-b'), context.patience.answerMs);
  return http.frames;
}

/** The messages of a frame: one, or those of an array. */
function unpacked({ json }: Frame): readonly unknown[] {
  return Array.isArray(json) ? json : [json];
}

function isResult(message: unknown, id: string): boolean {
  return isJsonObject(message) && message['id'] === id && message['result'] !== undefined;
}

function isProcessed(ids: readonly string[]): (frame: Frame) => boolean {
  return (frame) =>
    frame.kind === 'batch' ||
    (frame.kind === 'result' && ids.some((id) => answers(id)(frame))) ||
    (frame.kind === 'result' && membersOf(frame)['id'] === undefined);
}
