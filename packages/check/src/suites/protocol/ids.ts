import type { RequestId } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CheckConversation, Pending } from '../../conversation/conversation.js';
import type { Check } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import { type Frame, membersOf } from '../../wire/transcript.js';
import { harmless } from './answers.js';

/** An answer comes under the id of its request: the same value, of the same type. */
export const idChecks: readonly Check[] = [
  echo('zero', 0, 'the id 0'),
  echo('large-integer', Number.MAX_SAFE_INTEGER, 'a very large id'),
  echo('string', 'isthmus-check', 'a string for an id'),
  echo('empty-string', '', 'an empty string for an id'),
  echo('digits', '4711', 'a string of digits for an id'),
  {
    ...echo('unicode', 'ключ 鍵 𝄞 "\\', 'an id beyond ASCII'),
    rules: ['JRPC-006', 'JRPC-016'],
    hint: 'Read and write UTF-8 throughout, and echo the id as it was.',
  },
  {
    ...echo('newlines', 'one\ntwo\r\nthree\u2028four', 'line breaks in an id'),
    rules: ['JRPC-006', 'STDIO-001', 'HTTP-013'],
    hint: 'Encode messages with a JSON encoder on one line: a raw line break ends a line of stdio and a data field of SSE.',
  },
  {
    id: 'ids/types-apart',
    suite: 'protocol',
    title: 'Keeps the ids 4712 and "4712" apart when both are in flight',
    level: 'MUST',
    rules: ['JRPC-006'],
    hint: 'Key pending requests by value and type: in JavaScript a Map, not an object.',
    async run(table) {
      const talk = await table.talk();
      const replies = await Promise.all([
        talk.request(harmless(table), {}, { id: 4712 }),
        talk.request(harmless(table), {}, { id: '4712' }),
      ]);
      for (const reply of replies) {
        const echoed = reply.frame && membersOf(reply.frame)['id'];
        if (echoed === reply.id) continue;
        const seen = echoed === undefined ? 'was not answered' : `was answered as ${JSON.stringify(echoed)}`;
        table.fail(`of 4712 and "4712" in flight, ${JSON.stringify(reply.id)} ${seen}`, 'one answer to each');
      }
      return '4712 and "4712" were in flight together, and each had its answer';
    },
  },
];

function echo(name: string, id: RequestId, what: string): Check {
  return {
    id: `ids/${name}`,
    suite: 'protocol',
    title: `Answers a request with ${what} under that very id`,
    level: 'MUST',
    rules: ['JRPC-002', 'JRPC-006'],
    hint: 'Echo the id as it came: do not convert it, and test for its absence, not for its truth.',
    run: (table) => judgeEcho(table, id),
  };
}

async function judgeEcho(table: CheckContext, id: RequestId): Promise<string> {
  const talk = await table.talk();
  const from = talk.transcript.frames.length;
  const pending = talk.start(harmless(table), {}, { id });
  const frame = await answerUnderAnyId(table, talk, pending, from, (each) => isAnswerLike(each, id));
  const asked = `a request with the id ${JSON.stringify(id)}`;
  if (!frame) {
    const reply = await pending.reply;
    return table.fail(
      `${asked} was not answered${reply.kind === 'silence' ? `: ${reply.why}` : ''}`,
      'an answer',
    );
  }
  const echoed = membersOf(frame)['id'];
  if (echoed !== id) {
    table.fail(`${asked} was answered under ${JSON.stringify(echoed) ?? 'no id'}`, `${JSON.stringify(id)}`);
  }
  table.needResult(await pending.reply, asked);
  return `${asked} was answered under it`;
}

/**
 * A server that changes the type of an id answers all the same, under another id. Over HTTP what comes on the exchange of
 * the request is its answer; on a stream it is what looks like one.
 */
export async function answerUnderAnyId(
  table: CheckContext,
  talk: CheckConversation,
  pending: Pending,
  from: number,
  looksLikeIt: (frame: Frame) => boolean,
): Promise<Frame | undefined> {
  if (!talk.peer) return (await pending.reply).frame;
  return talk.transcript.waitFor(looksLikeIt, table.patience.answerMs, from);
}

function isAnswerLike(frame: Frame, id: RequestId): boolean {
  if (frame.kind !== 'result' && frame.kind !== 'error') return false;
  const given = membersOf(frame)['id'];
  return given === id || given === undefined || given === null || String(given) === String(id);
}
