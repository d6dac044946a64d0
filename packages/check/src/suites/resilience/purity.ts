import type { Check } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import { notAMessage } from '../../run/failure-cause.js';
import { complaintText, judgeMessage } from '../../shapes/index.js';
import type { Frame, WireTranscript } from '../../wire/transcript.js';
import { line, sendAndExpectAlive } from './bad-input.js';

/** Output on the stream that is not a message. */
export const purityChecks: readonly Check[] = [
  {
    id: 'stream/only-messages',
    suite: 'resilience',
    title: 'Writes only messages to the stream, one per line',
    level: 'MUST',
    rules: ['STDIO-004', 'STDIO-001'],
    hint: 'Send logs and banners to stderr. In Node, console.log writes to stdout and console.error does not.',
    over: ['command', 'socket'],
    lane: 'after',
    run: (context) => judgeLines(context, context.transcripts),
  },
  {
    id: 'stream/no-byte-order-mark',
    suite: 'resilience',
    title: 'Begins its stream without a byte order mark',
    level: 'MUST',
    rules: ['STDIO-004'],
    hint: 'Write UTF-8 without a byte order mark: in .NET new UTF8Encoding(false), in Python utf-8 instead of utf-8-sig.',
    over: ['command', 'socket'],
    lane: 'after',
    run(context) {
      const all = [...context.transcripts, ...context.abuseTranscripts];
      if (all.some(({ hasByteOrderMark }) => hasByteOrderMark))
        context.fail('the first bytes of its stream are ef bb bf, a byte order mark', 'the first message');
      return `none of ${all.length} streams begins with a byte order mark`;
    },
  },
  {
    id: 'stream/only-messages-under-stress',
    suite: 'resilience',
    title: 'Writes only messages after bad input',
    level: 'MUST',
    rules: ['STDIO-004'],
    hint: 'Send stack traces and error texts to stderr, or answer with an error. Never print them to stdout.',
    over: ['command', 'socket'],
    lane: 'after',
    async run(context) {
      // Other checks send worse input, but `--only` may have excluded them.
      const conversation = await context.abuseConversation();
      for (const text of ['not JSON', '{"jsonrpc":"2.0"}', '[]', '42'])
        await sendAndExpectAlive(context, conversation, line('a bad line', text), { listens: text === '42' });
      return judgeLines(context, context.abuseTranscripts);
    },
  },
];

function judgeLines(context: CheckContext, transcripts: readonly WireTranscript[]): string {
  let count = 0;
  for (const { frames } of transcripts) {
    for (const frame of frames) {
      if (frame.from !== 'server') continue;
      count++;
      const complaint = complaintOf(frame, context.revision);
      if (complaint === undefined) continue;
      const { from, atMs, text } = frame;
      context.fail(`it wrote ${text.slice(0, 200)} (${complaint})`, 'only messages, one per line', {
        wire: [{ from, atMs, text: text.slice(0, 2000) }],
        ...notAMessage(frame),
      });
    }
  }
  return `all of ${count} lines are messages`;
}

/** The fault of a line; undefined if it is a message. */
export function complaintOf(frame: Frame, revision: string): string | undefined {
  if (frame.json === undefined) return 'it is not JSON';
  const complaints = judgeMessage(frame.json, revision as Parameters<typeof judgeMessage>[1]).filter(
    // An error may return an invalid id of the request.
    ({ path }) => !(frame.kind === 'error' && path === 'id'),
  );
  return complaints[0] && complaintText(complaints[0]);
}
