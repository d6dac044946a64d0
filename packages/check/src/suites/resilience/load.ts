import { treeFacts } from '@isthmus/sdk/internal/process/process-facts.js';
import { aliveMethod, askAlive } from '../../conversation/conversation.js';
import type { Check } from '../../model.js';
import { causeInFrame } from '../../run/failure-cause.js';
import {
  collectAnswers,
  describeEnd,
  harmless,
  inShort,
  line,
  newId,
  peerOf,
  requestOf,
  requestWithLongAnswer,
  sendAndExpectAlive,
} from './bad-input.js';

const common = {
  suite: 'resilience',
  over: ['command', 'socket'],
} as const satisfies Partial<Check>;

/** Many requests at once. */
export const floodChecks: readonly Check[] = [
  {
    ...common,
    id: 'flood/thousand',
    title: 'Answers each of a thousand simultaneous requests exactly once',
    level: 'MUST',
    rules: ['PING-001', 'DISC-001', 'JRPC-006'],
    hint: 'Queue requests that cannot be served at once. Never drop a request, and never answer one twice.',
    lane: 'own',
    async run(context) {
      const conversation = await context.openConversation();
      const peer = peerOf(context, conversation);
      const ids = Array.from({ length: 1000 }, (_, index) => `flood-${index}`);
      void peer.sendBytes(ids.map((id) => `${JSON.stringify(harmless(conversation, id))}\n`).join(''));
      const { missing, twice } = await collectAnswers(context, peer, ids);
      if (missing.length > 0) {
        context.fail(
          `${missing.length} of 1000 times ${aliveMethod(conversation)} was not answered${describeEnd(peer)}`,
          'one answer for each',
        );
      }
      await context.pause(context.patience.quietMs);
      const again = twice.length > 0 ? twice : (await collectAnswers(context, peer, ids)).twice;
      if (again.length > 0)
        context.fail(`${again.length} of 1000 requests were answered twice`, 'one answer for each');
      return 'a thousand requests had a thousand answers';
    },
  },
  {
    ...common,
    id: 'flood/mixed',
    title: 'Answers every request, and nothing else, among many notifications and unexpected responses',
    level: 'SHOULD',
    rules: ['JRPC-012'],
    hint: 'Drop messages that need no answer, and continue to read.',
    era: 'none',
    lane: 'own',
    async run(context) {
      const conversation = await context.openConversation();
      const peer = peerOf(context, conversation);
      const from = peer.transcript.frames.length;
      const ids = Array.from({ length: 200 }, (_, index) => `mixed-${index}`);
      const notification = { jsonrpc: '2.0', method: 'notifications/no-such-thing' };
      const stray = (index: number) => ({ jsonrpc: '2.0', id: `stray-${index}`, result: {} });
      const lines = ids.flatMap((id, index) => [
        notification,
        harmless(conversation, id),
        stray(index),
        notification,
      ]);
      void peer.sendBytes(lines.map((each) => `${JSON.stringify(each)}\n`).join(''));
      const { missing } = await collectAnswers(context, peer, ids, { from });
      if (missing.length > 0)
        context.fail(
          `${missing.length} of 200 requests were not answered${describeEnd(peer)}`,
          'one answer for each',
        );
      await context.pause(context.patience.quietMs);
      const own = new Set(ids);
      const other = peer.transcript.frames
        .slice(from)
        .find(
          ({ from: by, kind, id }) =>
            by === 'server' && (kind === 'error' || kind === 'result') && !own.has(String(id)),
        );
      if (other)
        context.fail(
          `another message was also answered: ${inShort(other)}`,
          'answers to requests only',
          causeInFrame(other),
        );
      return '200 requests among 600 other messages were answered';
    },
  },
  {
    ...common,
    id: 'flood/same-id',
    title: 'Does not hang on two simultaneous requests with the same id',
    level: 'SHOULD',
    rules: [],
    reason: 'The client made a mistake, but its other calls on the connection should not suffer.',
    hint: 'Answer both, or refuse the second with -32600. The second must not replace the first.',
    lane: 'abuse',
    async run(context) {
      const conversation = await context.abuseConversation();
      const id = newId(conversation);
      const text = JSON.stringify(harmless(conversation, id));
      const said = await sendAndExpectAlive(
        context,
        conversation,
        line('the same id twice', `${text}\n${text}`),
        {
          listens: true,
        },
      );
      if (said.length === 0) context.fail('two requests with the same id had no answer', 'at least one');
      return `two requests with the same id had ${said.length} answers, and the next was served`;
    },
  },
];

const stallCommon = {
  suite: 'resilience',
  level: 'SHOULD',
  rules: [],
  era: 'none',
  lane: 'own',
} as const satisfies Partial<Check>;

/** Clients that stop reading or writing. */
export const stallChecks: readonly Check[] = [
  {
    ...stallCommon,
    id: 'stall/slow-reader',
    title: 'Loses no answers when the client does not read for a while',
    reason: 'A busy host may read late, and the answers must still arrive.',
    over: ['command', 'socket'],
    hint: 'Wait for drain when a write reports a full pipe. Do not drop answers.',
    async run(context) {
      const conversation = await context.openConversation();
      const peer = peerOf(context, conversation);
      const { method, params, answerBytes } = requestWithLongAnswer(context, conversation, 16 * 1024);
      const count = Math.min(500, Math.max(50, Math.ceil((2 * MIB) / answerBytes)));
      const ids = Array.from({ length: count }, (_, index) => `stall-${index}`);
      peer.pause();
      void peer.sendBytes(
        ids.map((id) => `${JSON.stringify(requestOf(conversation, id, method, params))}\n`).join(''),
        context.patience.checkMs,
      );
      await context.pause(2 * context.patience.quietMs);
      peer.resume();
      const { missing, twice } = await collectAnswers(context, peer, ids);
      if (missing.length > 0) {
        context.fail(
          `${missing.length} of ${count} answers (${method}) never came after a pause${describeEnd(peer)}`,
          'all answers after the pause',
        );
      }
      if (twice.length > 0)
        context.fail(`${twice.length} of ${count} answers came twice`, 'one answer for each');
      return `all of ${count} answers came after a pause`;
    },
  },
  {
    ...stallCommon,
    id: 'stall/bounded-memory',
    title: 'Limits its memory while its answers are not read',
    reason:
      'Unread answers accumulate. A server that accepts more and more requests meanwhile runs out of memory.',
    over: ['command'],
    hint: 'Stop reading requests while answers wait for the pipe (backpressure), or limit the size of the queue.',
    async run(context) {
      const conversation = await context.openConversation();
      const peer = peerOf(context, conversation);
      const pid = peer.process?.pid ?? 0;
      const before = await treeFacts(pid);
      if (!before) return context.skip('the memory of a process cannot be read on this system');
      const { method, params, answerBytes } = requestWithLongAnswer(context, conversation, 256 * 1024);
      const count = Math.ceil((GROWTH_LIMIT * 1.5) / answerBytes);
      if (count > 20_000)
        return context.skip(
          `its longest answer (${method}) has ${answerBytes} bytes, which is too short for this check`,
        );
      peer.pause();
      const text = (index: number) =>
        `${JSON.stringify(requestOf(conversation, `pile-${index}`, method, params))}\n`;
      const until = context.clock.now() + 0.6 * context.patience.answerMs;
      let sent = 0;
      while (sent < count && context.clock.now() < until) {
        const block = Array.from({ length: Math.min(4, count - sent) }, (_, index) => text(sent + index));
        if (!(await peer.sendBytes(block.join(''), Math.max(1, until - context.clock.now())))) break;
        sent += block.length;
      }
      await context.pause(context.patience.quietMs);
      const after = await treeFacts(pid);
      if (!after)
        return context.fail(`it exited while its answers were not read${describeEnd(peer)}`, 'it waits');
      const growth = after.rssBytes - before.rssBytes;
      const seen = `took ${sent} requests (${method}), and its memory grew by ${Math.round(growth / MIB)} MiB`;
      if (growth > GROWTH_LIMIT)
        context.fail(`while its answers were not read, it ${seen}`, `growth below ${GROWTH_LIMIT / MIB} MiB`);
      return seen;
    },
  },
  {
    ...stallCommon,
    id: 'stall/others-go-on',
    title: 'Serves other connections while one has sent half a line and another does not read',
    reason: 'One client that hangs must not block the others.',
    over: ['socket'],
    hint: 'Read and write each connection separately. Never wait for one connection in the loop that serves all.',
    async run(context) {
      const half = peerOf(context, await context.openConversation());
      await half.sendBytes('{"jsonrpc":"2.0","id":1,"meth');
      const deafConversation = await context
        .openConversation()
        .catch(() =>
          context.fail('while one connection had sent half a line, another was not served', 'an answer'),
        );
      const deaf = peerOf(context, deafConversation);
      deaf.pause();
      const lines = Array.from({ length: 500 }, (_, index) => harmless(deafConversation, `deaf-${index}`));
      void deaf.sendBytes(
        lines.map((each) => `${JSON.stringify(each)}\n`).join(''),
        context.patience.checkMs,
      );
      const conversation = await context.openConversation().catch(() => undefined);
      const reply = conversation && (await askAlive(conversation));
      if (!reply || reply.kind === 'silence')
        context.fail('while two connections hung, a third was not served', 'an answer');
      return 'a third connection was served';
    },
  },
];

const MIB = 1024 * 1024;
const GROWTH_LIMIT = 96 * MIB;
