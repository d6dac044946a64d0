import { helloMessage } from '../../conversation/envelope.js';
import type { Check } from '../../model.js';
import { causeInFrame } from '../../run/failure-cause.js';
import type { Frame } from '../../wire/transcript.js';
import {
  answers,
  codeOf,
  describeEnd,
  harmless,
  inShort,
  isLooseError,
  line,
  newId,
  requestOf,
  sendAndExpectAlive,
  survives,
} from './bad-input.js';

/** Input that is not JSON, or not text. */
export const byteChecks: readonly Check[] = [
  {
    id: 'bytes/parse-error',
    suite: 'resilience',
    title: 'Answers a line that is not JSON with -32700',
    level: 'SHOULD',
    rules: ['ERR-018'],
    hint: 'Catch the error of JSON.parse and answer {"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}, with no id or id null.',
    era: 'none',
    over: ['command', 'socket'],
    lane: 'abuse',
    async run(context) {
      const conversation = await context.abuseConversation();
      for (const text of ['{', 'this is not JSON', '{"jsonrpc":"2.0","method":}']) {
        const said = await sendAndExpectAlive(context, conversation, line('a line that is not JSON', text), {
          until: isLooseError,
        });
        const error = said.find(({ kind }) => kind === 'error');
        if (!error) context.fail(`the line ${text} was not answered`, 'an error -32700');
        if (codeOf(error!) !== -32700)
          context.fail(`the line ${text} got ${inShort(error!)}`, 'code -32700', causeInFrame(error));
      }
      return 'each of three lines got -32700';
    },
  },
  survives(
    {
      id: 'bytes/survives-text',
      title: 'Continues after lines that are not JSON',
      hint: 'Catch the error of the JSON parser for each line, and continue to read.',
    },
    () => [
      line('a line of text', 'hello, are you there?'),
      line('half an object', '{"jsonrpc":"2.0","id":7,"method":"pi'),
      line('a line of HTTP', 'GET /mcp HTTP/1.1'),
      line('a Content-Length header', 'Content-Length: 52'),
      line('two objects on one line', '{"a":1}{"b":2}'),
      line('a thousand brackets', '['.repeat(1000)),
    ],
  ),
  survives(
    {
      id: 'bytes/survives-invalid-utf8',
      title: 'Continues after bytes that are not UTF-8',
      hint: 'Decode with replacement characters, or answer -32700. An error of the decoder must not end the read loop.',
    },
    (conversation) => [
      line('bytes that are not UTF-8', Buffer.from([0xff, 0xfe, 0xc0, 0xaf, 0xf5, 0x80])),
      line(
        'a request with a broken character',
        Buffer.from(
          JSON.stringify(requestOf(conversation, newId(conversation), 'no/such', { x: '\u00e9' })),
          'latin1',
        ),
      ),
      line('a character that is cut off', Buffer.from([0x22, 0xe2, 0x82])),
    ],
  ),
  survives(
    {
      id: 'bytes/survives-control-bytes',
      title: 'Continues after NUL and other control bytes',
      hint: 'Treat the line as text that is not JSON. Do not end the line at a NUL byte.',
    },
    (conversation) => [
      line('a NUL byte', Buffer.from([0])),
      line('a request with a NUL in it', `${JSON.stringify(harmless(conversation, newId(conversation)))}\0`),
      line('control bytes', Buffer.from([1, 4, 7, 8, 0x1b, 0x5b, 0x41, 0x7f])),
    ],
  ),
  survives(
    {
      id: 'bytes/survives-blank-lines',
      title: 'Continues after blank lines',
      hint: 'Skip lines that have only white space.',
    },
    () => [
      line('an empty line', ''),
      line('a line of white space', ' \t  '),
      line('an empty line with CR', '\r'),
    ],
  ),
  {
    id: 'bytes/byte-order-mark',
    suite: 'resilience',
    title: 'Accepts a byte order mark before the first message, or continues after it',
    level: 'SHOULD',
    rules: [],
    reason: 'Some programs on Windows write one, and the server would seem dead.',
    hint: 'Skip EF BB BF at the start of the stream, or answer -32700 and continue to read.',
    era: 'none',
    over: ['command', 'socket'],
    lane: 'own',
    async run(context) {
      const peer = await context.openStream();
      const hello = (id: number) => JSON.stringify(helloMessage(context.era, context.revision, { id }));
      peer.sendLine(`\ufeff${hello(1)}`);
      peer.sendLine(hello(2));
      const isResult = (frame: Frame) => frame.kind === 'result';
      const frame = await peer.transcript.waitFor(isResult, context.patience.helloMs);
      if (frame) return `request ${frame.id} of 2 was answered`;
      return context.fail(
        `neither the request with the byte order mark nor the next one had a result${describeEnd(peer)}`,
        'an answer to at least the second request',
      );
    },
  },
  {
    id: 'bytes/white-space',
    suite: 'resilience',
    title: 'Accepts white space around a request, and CRLF line ends',
    level: 'SHOULD',
    rules: [],
    reason: 'White space around JSON has no meaning, and hosts on Windows may end lines with CRLF.',
    hint: 'Remove a trailing \\r from each line. The JSON parser skips the rest.',
    era: 'none',
    over: ['command', 'socket'],
    lane: 'abuse',
    async run(context) {
      const conversation = await context.abuseConversation();
      const wrap = [
        ['a line end of CRLF', (text: string) => `${text}\r`],
        ['white space before it', (text: string) => `  \t${text}`],
        ['white space after it', (text: string) => `${text} \t `],
        ['white space inside it', (text: string) => text.replace('{', '{ ').replaceAll('":', '" : ')],
      ] as const;
      for (const [what, wrapped] of wrap) {
        const id = newId(conversation);
        const badInput = line(`a request with ${what}`, wrapped(JSON.stringify(harmless(conversation, id))));
        const said = await sendAndExpectAlive(context, conversation, badInput, { until: answers(id) });
        if (!said.some((frame) => answers(id)(frame) && frame.kind === 'result')) {
          const got = said[0] ? `got ${inShort(said[0])}` : 'was not answered';
          context.fail(`${badInput.what} ${got}`, 'the same answer as without it', causeInFrame(said[0]));
        }
      }
      return 'accepted CRLF, and white space before, after and inside';
    },
  },
  {
    id: 'bytes/any-writing',
    suite: 'resilience',
    title: 'Accepts any member order and any escapes in the JSON of a request',
    level: 'SHOULD',
    rules: [],
    reason: 'JSON allows any order of members, and escapes in strings.',
    hint: 'Use a JSON parser for the whole message, also to find its id and method.',
    era: 'none',
    over: ['command', 'socket'],
    lane: 'abuse',
    async run(context) {
      const conversation = await context.abuseConversation();
      for (const what of ['its members the other way round', 'letters written as escapes'] as const) {
        const id = newId(conversation);
        const plain = harmless(conversation, id);
        const text = what.startsWith('its')
          ? JSON.stringify(Object.fromEntries(Object.entries(plain).reverse()))
          : JSON.stringify(plain).replaceAll('e', '\\u0065').replaceAll('i', '\\u0069');
        const said = await sendAndExpectAlive(context, conversation, line(`a request with ${what}`, text), {
          until: answers(id),
        });
        if (!said.some((frame) => answers(id)(frame) && frame.kind === 'result')) {
          const got = said[0] ? `got ${inShort(said[0])}` : 'was not answered';
          context.fail(
            `a request with ${what} ${got}`,
            'the same answer as in plain JSON',
            causeInFrame(said[0]),
          );
        }
      }
      return 'accepted both';
    },
  },
  {
    id: 'bytes/lone-surrogates',
    suite: 'resilience',
    title: 'Answers a request with half a surrogate pair',
    level: 'SHOULD',
    rules: [],
    reason: 'JSON can contain half of a surrogate pair as an escape, for example in text that was cut.',
    hint: 'Replace the character, or answer -32700. The error must not end the read loop.',
    era: 'none',
    over: ['command', 'socket'],
    lane: 'abuse',
    async run(context) {
      const conversation = await context.abuseConversation();
      const id = newId(conversation);
      const text = JSON.stringify(requestOf(conversation, id, 'no/such/method', { text: 'HALF' })).replace(
        'HALF',
        'a\\ud83d',
      );
      const isAnswer = answers(id);
      const said = await sendAndExpectAlive(context, conversation, line('half a surrogate pair', text), {
        until: (frame) => isAnswer(frame) || isLooseError(frame),
      });
      if (said.length === 0) context.fail('a request with \\ud83d in it was not answered', 'an answer');
      return `was answered: ${inShort(said[0]!)}`;
    },
  },
  {
    id: 'bytes/utf-8',
    suite: 'resilience',
    title: 'Reads and writes UTF-8, also if a character arrives in pieces',
    level: 'MUST',
    rules: ['JRPC-016', 'JRPC-006'],
    hint: 'Collect bytes up to the newline and decode the whole line. Do not decode each chunk separately.',
    era: 'none',
    over: ['command', 'socket'],
    lane: 'abuse',
    async run(context) {
      const conversation = await context.abuseConversation();
      const id = `${newId(conversation)} é ß 日本 🦀 \u{10ffff}`;
      const bytes = Buffer.from(`${JSON.stringify(harmless(conversation, id))}\n`);
      const said = await sendAndExpectAlive(
        context,
        conversation,
        { what: 'a request in single bytes', send: (peer) => peer.sendInPieces(bytes, 1) },
        { until: answers(id) },
      );
      if (said.some(answers(id))) return `the id ${id} came back unchanged`;
      const got = said[0] ? `came back as ${inShort(said[0])}` : 'was not answered';
      return context.fail(
        `a request with the id ${id} ${got}`,
        'an answer with the same id',
        causeInFrame(said[0]),
      );
    },
  },
];
