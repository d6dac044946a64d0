import type { JsonObject, RequestId } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CheckConversation, Pending } from '../../../conversation/conversation.js';
import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import { causeInFrame } from '../../../run/failure-cause.js';
import { type Frame, isAnswer, membersOf } from '../../../wire/transcript.js';
import { evidence, harmless } from '../answers.js';
import { listsOf } from '../features/lists.js';

/** An answer has the id of its request: the same value, of the same type. */
export const idChecks: readonly Check[] = [
  echo('zero', 0, 'the id 0'),
  echo('large-integer', Number.MAX_SAFE_INTEGER, 'a very large id'),
  echo('string', 'isthmus-check', 'a string as its id'),
  echo('empty-string', '', 'an empty string as its id'),
  echo('digits', '4711', 'a string of digits as its id'),
  {
    ...echo('unicode', 'ключ 鍵 𝄞 "\\', 'an id that is not ASCII'),
    rules: ['JRPC-006', 'JRPC-016'],
    hint: 'Read and write UTF-8 everywhere, and return the id unchanged.',
  },
  {
    ...echo('newlines', 'one\ntwo\r\nthree\u2028four', 'line breaks in its id'),
    rules: ['JRPC-006', 'STDIO-001', 'HTTP-013'],
    hint: 'Encode messages with a JSON encoder on one line: a raw line break ends a line of stdio and a data field of SSE.',
  },
  {
    id: 'ids/types-apart',
    suite: 'protocol',
    title: 'Keeps the ids 4712 and "4712" apart when both are in flight',
    level: 'MUST',
    rules: ['JRPC-006'],
    hint: 'Key pending requests by value and type. In JavaScript use a Map, not an object.',
    async run(context) {
      const conversation = await context.conversation();
      const replies = await Promise.all([
        conversation.request(harmless(context), {}, { id: 4712 }),
        conversation.request(harmless(context), {}, { id: '4712' }),
      ]);
      for (const reply of replies) {
        const echoed = reply.frame && membersOf(reply.frame)['id'];
        if (echoed === reply.id) continue;
        const seen = echoed === undefined ? 'was not answered' : `was answered as ${JSON.stringify(echoed)}`;
        context.fail(
          `of 4712 and "4712" in flight, ${JSON.stringify(reply.id)} ${seen}`,
          'one answer to each',
        );
      }
      return '4712 and "4712" were in flight together, and each was answered';
    },
  },
  {
    id: 'ids/every-method',
    suite: 'protocol',
    title: 'Answers every method with the id of the request, whatever the type of the id',
    level: 'MUST',
    rules: ['JRPC-006', 'JRPC-009'],
    lane: 'own',
    hint: 'Copy the id in one place, for the results and errors of all methods, and do not convert it.',
    async run(context) {
      const conversation = await context.openConversation();
      const asked = askable(context);
      let count = 0;
      for (const { method, params } of asked) {
        for (const id of idsFor(++count)) {
          const from = conversation.transcript.frames.length;
          const pending = conversation.start(method, params, { id });
          const frame = await answerUnderAnyId(context, conversation, pending, from, isAnswer);
          const echoed = frame && membersOf(frame)['id'];
          // Other checks report a missing answer.
          if (!frame || echoed === id) continue;
          context.fail(
            `${method} with the id ${JSON.stringify(id)} was answered under ${JSON.stringify(echoed) ?? 'no id'}`,
            `the id ${JSON.stringify(id)}`,
            { ...evidence(frame), ...causeInFrame(frame) },
          );
        }
      }
      return `${asked.map(({ method }) => method).join(', ')}: strings of digits, other strings and large numbers came back`;
    },
  },
];

function echo(name: string, id: RequestId, what: string): Check {
  return {
    id: `ids/${name}`,
    suite: 'protocol',
    title: `Returns the id unchanged for a request with ${what}`,
    level: 'MUST',
    rules: ['JRPC-002', 'JRPC-006'],
    hint: 'Return the id unchanged. Do not convert it, and test whether it is present, not whether it is truthy.',
    run: (context) => judgeEcho(context, id),
  };
}

async function judgeEcho(context: CheckContext, id: RequestId): Promise<string> {
  const conversation = await context.conversation();
  const from = conversation.transcript.frames.length;
  const pending = conversation.start(harmless(context), {}, { id });
  const frame = await answerUnderAnyId(context, conversation, pending, from, (each) =>
    isAnswerLike(each, id),
  );
  const asked = `a request with the id ${JSON.stringify(id)}`;
  if (!frame) {
    const reply = await pending.reply;
    return context.fail(
      `${asked} was not answered${reply.kind === 'silence' ? `: ${reply.why}` : ''}`,
      'an answer',
    );
  }
  const echoed = membersOf(frame)['id'];
  if (echoed !== id) {
    context.fail(
      `${asked} was answered under ${JSON.stringify(echoed) ?? 'no id'}`,
      `${JSON.stringify(id)}`,
      causeInFrame(frame),
    );
  }
  context.needResult(await pending.reply, asked);
  return `${asked} was answered with the same id`;
}

/**
 * The answer to a request, even if the server changed the id. Over HTTP it is the answer in the same exchange, on a stream
 * the first message that looks like it.
 */
async function answerUnderAnyId(
  context: CheckContext,
  conversation: CheckConversation,
  pending: Pending,
  from: number,
  looksLikeIt: (frame: Frame) => boolean,
): Promise<Frame | undefined> {
  if (!conversation.peer) return (await pending.reply).frame;
  return conversation.transcript.waitFor(looksLikeIt, context.patience.answerMs, from);
}

function isAnswerLike(frame: Frame, id: RequestId): boolean {
  if (!isAnswer(frame)) return false;
  const given = membersOf(frame)['id'];
  return given === id || given === undefined || given === null || String(given) === String(id);
}

interface Asked {
  readonly method: string;
  readonly params: JsonObject;
}

/** Harmless requests for all methods of the server, and some that it refuses. */
function askable(context: CheckContext): readonly Asked[] {
  const served = ['resources/read', 'prompts/get', 'tools/call'].flatMap((method): Asked[] => {
    const [quickest] = context.facts.walkthrough
      .filter((stop) => stop.method === method && stop.reply.kind === 'result' && stop.questions.length === 0)
      .filter(({ reply }) => reply.kind === 'result' && reply.result['resultType'] !== 'input_required')
      .sort((one, other) => one.reply.ms - other.reply.ms);
    return quickest && quickest.reply.ms < MOST_MS ? [{ method, params: quickest.params }] : [];
  });
  return [
    { method: harmless(context), params: {} },
    ...listsOf(context)
      .filter(({ method }) => !context.facts.failedLists.some((list) => list.method === method))
      .map(({ method }) => ({ method, params: {} })),
    ...served,
    { method: 'isthmus-check/unknown', params: {} },
    ...(context.facts.capabilities['tools'] === undefined
      ? []
      : [{ method: 'tools/call', params: { name: 'isthmus_check_no_such_tool', arguments: {} } }]),
  ];
}

/** Ids that no other request of the connection has. */
function idsFor(count: number): readonly RequestId[] {
  return [String(470_000 + count), `isthmus-check-${count}`, 2 ** 40 + count];
}

const MOST_MS = 500;
