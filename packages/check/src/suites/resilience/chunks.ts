import type { Check } from '../../model.js';
import { causeInFrame } from '../../run/failure-cause.js';
import {
  answers,
  collectAnswers,
  describeEnd,
  harmless,
  inShort,
  line,
  newId,
  peerOf,
  requestOf,
  sendAndExpectAlive,
} from './bad-input.js';

const common = {
  suite: 'resilience',
  level: 'SHOULD',
  over: ['command', 'socket'],
  lane: 'abuse',
  era: 'none',
} as const satisfies Partial<Check>;

/** Lines in several chunks, several lines in one chunk, and very long lines. */
export const chunkChecks: readonly Check[] = [
  {
    ...common,
    id: 'chunks/single-bytes',
    title: 'Accepts a request that arrives byte by byte',
    rules: ['STDIO-016'],
    hint: 'A read is not a message: collect bytes up to a newline.',
    async run(context) {
      const conversation = await context.abuseConversation();
      const id = newId(conversation);
      const bytes = Buffer.from(`${JSON.stringify(harmless(conversation, id))}\n`);
      const badInput = {
        what: 'a request in single bytes',
        send: (peer: Peer) => peer.sendInPieces(bytes, 1),
      };
      const said = await sendAndExpectAlive(context, conversation, badInput, { until: answers(id) });
      if (said.some((frame) => answers(id)(frame) && frame.kind === 'result')) return 'it was answered';
      return context.fail(
        `it ${said[0] ? `got ${inShort(said[0])}` : 'was not answered'}`,
        'a result',
        causeInFrame(said[0]),
      );
    },
  },
  {
    ...common,
    id: 'chunks/slow-line',
    title: 'Waits for the rest of a line',
    rules: ['STDIO-016'],
    hint: 'Keep the beginning of a line until its newline comes.',
    async run(context) {
      const conversation = await context.abuseConversation();
      const peer = peerOf(context, conversation);
      const id = newId(conversation);
      const text = `${JSON.stringify(harmless(conversation, id))}\n`;
      const from = peer.transcript.frames.length;
      await peer.sendBytes(text.slice(0, 30));
      await context.pause(context.patience.quietMs);
      const early = peer.transcript.frames
        .slice(from)
        .find(({ from: by, kind }) => by === 'server' && (kind === 'error' || kind === 'result'));
      if (early)
        context.fail(
          `half a line was answered with ${inShort(early)}`,
          'nothing before the newline',
          causeInFrame(early),
        );
      const badInput = { what: 'the other half', send: () => peer.sendBytes(text.slice(30)) };
      const said = await sendAndExpectAlive(context, conversation, badInput, { until: answers(id) });
      if (said.some((frame) => answers(id)(frame) && frame.kind === 'result'))
        return 'it was answered when it was whole';
      return context.fail(
        `it ${said[0] ? `got ${inShort(said[0])}` : 'was not answered'}`,
        'a result',
        causeInFrame(said[0]),
      );
    },
  },
  {
    ...common,
    id: 'chunks/many-lines',
    title: 'Accepts several lines, and half a line after them, in one read',
    rules: ['STDIO-001'],
    hint: 'Split the input at every newline, and keep the rest.',
    async run(context) {
      const conversation = await context.abuseConversation();
      const ids = ['a', 'b', 'c', 'd'].map((letter) => `${newId(conversation)}-${letter}`);
      const text = ids.map((id) => `${JSON.stringify(harmless(conversation, id))}\n`).join('');
      const cut = text.length - 20;
      const badInput = {
        what: 'four requests at once',
        async send(peer: Peer) {
          await peer.sendBytes(text.slice(0, cut));
          await peer.sendBytes(text.slice(cut));
        },
      };
      const said = await sendAndExpectAlive(context, conversation, badInput, { until: answers(ids[3]) });
      const missing = ids.filter((id) => !said.some(answers(id)));
      if (missing.length > 0)
        context.fail(`${missing.length} of 4 requests were not answered`, 'four answers');
      return 'all four were answered';
    },
  },
  {
    ...common,
    id: 'chunks/characters-in-pieces',
    title: 'Joins characters that arrive in pieces, with pauses between them',
    level: 'MUST',
    rules: ['JRPC-016', 'JRPC-006'],
    hint: 'Collect bytes up to the newline and decode the whole line. Do not decode each chunk separately.',
    async run(context) {
      const conversation = await context.abuseConversation();
      const id = `${newId(conversation)} ${WIDE.repeat(4)}`;
      const bytes = Buffer.from(`${JSON.stringify(harmless(conversation, id))}\n`);
      const badInput = { what: 'characters in pieces', send: (peer: Peer) => peer.sendInPieces(bytes, 5, 2) };
      const said = await sendAndExpectAlive(context, conversation, badInput, {
        until: answers(id),
        ms: 2 * context.patience.answerMs,
      });
      if (said.some(answers(id))) return `the id ${id} came back unchanged`;
      return context.fail(
        `a request with the id ${id} ${said[0] ? `got ${inShort(said[0])}` : 'was not answered'}`,
        'an answer with the same id',
        causeInFrame(said[0]),
      );
    },
  },
  {
    ...common,
    id: 'chunks/characters-under-load',
    title: 'Loses no character of a large amount of text',
    level: 'MUST',
    rules: ['JRPC-016', 'JRPC-006'],
    lane: 'own',
    hint: 'A chunk may end inside of a character: decode whole lines, and write whole lines.',
    async run(context) {
      const conversation = await context.openConversation();
      const peer = peerOf(context, conversation);
      const ids = Array.from({ length: 250 }, (_, index) => `${index} ${WIDE.repeat(120 + (index % 7))}`);
      const lines = ids.map((id) => `${JSON.stringify(harmless(conversation, id))}\n`).join('');
      void peer.sendBytes(Buffer.from(lines), 2 * context.patience.answerMs);
      const { missing } = await collectAnswers(context, peer, ids);
      if (missing.length === 0)
        return `${ids.length} ids of ${WIDE.length * 120} characters came back unchanged`;
      const spoiled = peer.transcript.frames.find(
        ({ from, text }) => from === 'server' && text.includes('\ufffd'),
      );
      return context.fail(
        `${missing.length} of ${ids.length} requests with long ids beyond ASCII were not answered under their ids${spoiled ? '; one answer has U+FFFD, which stands for bytes that could not be decoded' : ''}${describeEnd(peer)}`,
        'an answer under each id',
      );
    },
  },
  {
    ...common,
    id: 'size/megabyte',
    title: 'Accepts a request of one megabyte',
    rules: [],
    reason: 'Arguments can contain files and images, and an image often has a megabyte.',
    hint: 'Allow lines of a few megabytes, and collect them in linear time.',
    async run(context) {
      const conversation = await context.abuseConversation();
      const text = 'abcdefgh'.repeat(1024 * 128);
      const echo = context.facts.callable.find(({ name }) => /echo/i.test(name));
      const key = echo && Object.entries(echo.args).find(([, value]) => typeof value === 'string')?.[0];
      if (echo && key !== undefined) {
        const reply = await conversation.request('tools/call', {
          name: echo.name,
          arguments: { ...echo.args, [key]: text },
        });
        if (reply.kind === 'silence')
          return context.fail(`a call of ${echo.name} with 1 MiB: ${reply.why}`, 'an answer');
        if (reply.kind === 'result' && reply.result['isError'] !== true && !reply.frame!.text.includes(text))
          return context.fail(
            `${echo.name} did not give back the text of 1 MiB`,
            'the same text, or an error',
          );
        return `${echo.name} answered 1 MiB`;
      }
      const id = newId(conversation);
      const request = JSON.stringify(requestOf(conversation, id, 'no/such/method', { text }));
      const said = await sendAndExpectAlive(context, conversation, line('a request of 1 MiB', request), {
        until: answers(id),
      });
      if (said.some(answers(id))) return 'a request of 1 MiB was answered';
      return context.fail(
        `it ${said[0] ? `got ${inShort(said[0])}` : 'was not answered'}`,
        'an answer with its id',
        causeInFrame(said[0]),
      );
    },
  },
  {
    ...common,
    id: 'size/sixteen-megabytes',
    title: 'Answers or refuses a line of 16 MiB, and continues',
    rules: [],
    reason: 'A server that crashes on a long line ends all other calls.',
    hint: 'Set a limit, answer longer lines with an error, and skip to the next newline.',
    lane: 'own',
    async run(context) {
      const conversation = await context.openConversation();
      const peer = peerOf(context, conversation);
      const id = newId(conversation);
      const text = JSON.stringify(requestOf(conversation, id, 'no/such/method', { text: 'PLACE' }));
      const [head, tail] = text.split('PLACE') as [string, string];
      const bytes = Buffer.concat([
        Buffer.from(head),
        Buffer.alloc(16 * 1024 * 1024, 'x'),
        Buffer.from(`${tail}\n`),
      ]);
      const ms = 3 * context.patience.answerMs;
      const badInput = { what: 'a line of 16 MiB', send: () => void peer.sendBytes(bytes, ms) };
      const said = await sendAndExpectAlive(context, conversation, badInput, { ms });
      return said[0] ? `it was answered: ${inShort(said[0])}` : 'it was not answered, and nothing was lost';
    },
  },
];

/** Characters of two, three and four bytes. */
const WIDE = 'é日🦀ß本';

type Peer = ReturnType<typeof peerOf>;
