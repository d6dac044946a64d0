import type { Check } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import { bytesOf, openRaw, type RawAnswer, type RawConnection } from './client/raw.js';
import { openingRequest } from './client/requests.js';
import { askOrdinary, forget, needAlive } from './client/session.js';

const about = {
  suite: 'http',
  over: ['http'],
  era: 'none',
  lane: 'own',
  level: 'SHOULD',
  rules: [],
} as const;

/** HTTP at the level of bytes and connections. */
export const connectionChecks: readonly Check[] = [
  {
    ...about,
    id: 'http-wire/unfinished-body',
    title: 'Serves others while a client does not finish a body',
    reason: 'One slow client must not keep others waiting.',
    hint: 'Read each body without blocking others, and limit the time for it.',
    async run(context) {
      const raw = await openRaw(context);
      const bytes = bytesOf(context, openingRequest(context));
      raw.send(bytes.subarray(0, bytes.length - 20));
      const huge = await openRaw(context);
      huge.send(
        bytesOf(context, openingRequest(context), { headers: { 'content-length': '1099511627776' } }),
      );
      const answer = await askOrdinary(context);
      if (answer.status !== 200) {
        context.fail(`meanwhile, an ordinary request was answered with ${answer.said}`, 'HTTP 200');
      }
      raw.close();
      huge.close();
      await needAlive(context, 'two unfinished bodies');
      return 'others are served during and after it';
    },
  },
  {
    ...about,
    id: 'http-wire/chunked-body',
    title: 'Reads a chunked body, also if a character is split between two chunks',
    reason:
      'Clients that do not know the length send chunks of any size (RFC 9112, 7.1). Messages are UTF-8 (JRPC-016).',
    hint: 'Join the bytes of all chunks before decoding them as UTF-8.',
    async run(context) {
      const id = 'smörgås-🦞';
      const request = openingRequest(context, context.era, id);
      const body = Buffer.from(JSON.stringify(request.body));
      const raw = await openRaw(context);
      raw.send(
        bytesOf(context, request, {
          headers: { 'content-length': undefined, 'transfer-encoding': 'chunked' },
          body: '',
        }),
      );
      for (const byte of cutAt(body, body.indexOf('🦞') + 2))
        raw.send(Buffer.concat([Buffer.from(`${byte.length.toString(16)}\r\n`), byte, Buffer.from('\r\n')]));
      raw.send('0\r\n\r\n');
      const answer = await finalAnswer(context, raw);
      await forget(context, answer?.headers.get('mcp-session-id'));
      if (answer?.status !== 200) context.fail(`it was answered with ${describe(answer)}`, 'HTTP 200');
      if (
        !answer?.body.includes(id) &&
        !answer?.body.includes(JSON.stringify(id).replace(/[\u0080-\uffff]/g, escaped))
      )
        context.fail(`the id ${id} came back changed: ${answer?.body.slice(0, 200)}`, 'the same id');
      return 'served, and the id came back unchanged';
    },
  },
  {
    ...about,
    id: 'http-wire/expect-continue',
    title: 'Serves a request with Expect: 100-continue',
    reason: 'Some clients wait for 100 before they send a body (RFC 9110, 10.1.1), and would wait forever.',
    hint: 'Answer Expect: 100-continue with HTTP 100, or with the final status.',
    async run(context) {
      const raw = await openRaw(context);
      const request = openingRequest(context);
      const bytes = bytesOf(context, request, { headers: { expect: '100-continue' } });
      const head = bytes.indexOf('\r\n\r\n') + 4;
      raw.send(bytes.subarray(0, head));
      const first = await raw.next();
      if (!first) context.fail('there was no answer to the headers', 'HTTP 100, or a final status');
      if (first?.status !== 100) {
        if (first!.status === 417 || first!.status < 400) return `was answered with HTTP ${first!.status}`;
        context.fail(`the headers were answered with ${describe(first)}`, 'HTTP 100');
      }
      raw.send(bytes.subarray(head));
      const answer = await finalAnswer(context, raw);
      await forget(context, answer?.headers.get('mcp-session-id'));
      if (answer?.status !== 200) context.fail(`the body was answered with ${describe(answer)}`, 'HTTP 200');
      return '100, and 200 after the body';
    },
  },
  {
    ...about,
    id: 'http-wire/pipelined',
    title: 'Answers two pipelined requests in their order',
    reason: 'Answers on a connection come in the order of the requests (RFC 9112, 9.3.2).',
    hint: 'Write the answers of a connection in the order of its requests.',
    async run(context) {
      const raw = await openRaw(context);
      const requests = ['first', 'second'].map((id) =>
        bytesOf(context, openingRequest(context, context.era, id)),
      );
      raw.send(Buffer.concat(requests));
      for (const id of ['first', 'second']) {
        const answer = await finalAnswer(context, raw);
        await forget(context, answer?.headers.get('mcp-session-id'));
        // A server may close the connection after an answer. Then the client repeats the other request.
        if (!answer && id === 'second' && raw.hasEnded) return 'it answers one and closes the connection';
        if (!answer?.body.includes(`"${id}"`))
          context.fail(`in place of the answer to ${id} came ${describe(answer)}`, 'both answers, in order');
      }
      return 'both were answered, in order';
    },
  },
  {
    ...about,
    id: 'http-wire/after-a-refusal',
    title: 'Keeps a connection usable after a refusal, or closes it',
    reason:
      'A client sends its next request on the same connection. The rest of the refused request must not be read as that request.',
    hint: 'Read the rest of a refused request before you answer the next one, or close the connection with Connection: close.',
    async run(context) {
      const raw = await openRaw(context);
      raw.send(bytesOf(context, openingRequest(context), { body: '{"jsonrpc":' }));
      const refused = await finalAnswer(context, raw);
      if (!refused) return context.fail('a body that is not JSON had no answer', 'a refusal');
      raw.send(bytesOf(context, openingRequest(context, context.era, 'again')));
      const answer = await finalAnswer(context, raw);
      await forget(context, answer?.headers.get('mcp-session-id'));
      if (!answer && raw.hasEnded) return 'it closes the connection after a refusal';
      if (answer?.status !== 200 || !answer.body.includes('"again"'))
        context.fail(`the next request was answered with ${describe(answer)}`, 'HTTP 200');
      return `${refused.status}, and the next request on the same connection is served`;
    },
  },
  {
    ...about,
    id: 'http-wire/host-required',
    title: 'Refuses HTTP/1.1 without Host',
    reason: 'A request without Host must be refused (RFC 9112, 3.2). Otherwise it bypasses checks of Host.',
    hint: 'Answer HTTP/1.1 requests without Host with HTTP 400.',
    async run(context) {
      const raw = await openRaw(context);
      raw.send(bytesOf(context, openingRequest(context), { headers: { host: undefined } }));
      const answer = await raw.next();
      await forget(context, answer?.headers.get('mcp-session-id'));
      if (answer ? answer.status < 400 || answer.status >= 500 : !raw.hasEnded)
        context.fail(`it was answered with ${describe(answer)}`, 'HTTP 400');
      return `was answered with ${describe(answer)}`;
    },
  },
  {
    ...about,
    id: 'http-wire/old-http',
    title: 'Answers HTTP/1.0, and closes the connection',
    reason: 'Simple proxies and health checks use HTTP/1.0, and wait for the end of the connection.',
    hint: 'Answer HTTP/1.0 without chunks, and close the connection after the answer.',
    async run(context) {
      const raw = await openRaw(context);
      const { target } = context;
      const path = target.transport === 'http' ? target.url.pathname : '/';
      raw.send(bytesOf(context, openingRequest(context), { line: `POST ${path} HTTP/1.0` }));
      const answer = await finalAnswer(context, raw);
      await forget(context, answer?.headers.get('mcp-session-id'));
      if (!answer || (answer.status >= 500 && answer.status !== 505))
        context.fail(`it was answered with ${describe(answer)}`, 'an answer that ends');
      if (answer?.headers.has('transfer-encoding'))
        context.fail('the answer has Transfer-Encoding, which HTTP/1.0 does not define', 'a plain body');
      return `was answered with ${describe(answer)}`;
    },
  },
  {
    ...about,
    id: 'http-wire/ambiguous-length',
    title: 'Refuses a body with two lengths',
    reason:
      'If two parties disagree on the length of a body, a request can be hidden in it (RFC 9112, 6.3 and 11.2).',
    hint: 'Answer requests with both Content-Length and Transfer-Encoding, or with two different Content-Length headers, with HTTP 400 and close the connection.',
    async run(context) {
      for (const [what, extra] of [
        ['Content-Length and Transfer-Encoding', { 'transfer-encoding': 'chunked' }],
        ['two Content-Length', { 'Content-Length': '5' }],
      ] as const) {
        const raw = await openRaw(context);
        raw.send(bytesOf(context, openingRequest(context), { headers: extra }));
        const answer = await raw.next();
        await forget(context, answer?.headers.get('mcp-session-id'));
        if (answer ? answer.status < 400 || answer.status >= 500 : !raw.hasEnded)
          context.fail(`a request with ${what} was answered with ${describe(answer)}`, 'HTTP 400');
      }
      return 'refused: Content-Length with Transfer-Encoding, and two Content-Length';
    },
  },
  {
    ...about,
    id: 'http-wire/not-http',
    title: 'Survives bytes that are not HTTP',
    reason: 'Port scanners and clients that expect TLS connect to any port.',
    hint: 'Answer other bytes with 400, or close the connection. An error on one connection must not end the server.',
    async run(context) {
      const raw = await openRaw(context);
      raw.send(Buffer.from('16030100c8010000c40303', 'hex'));
      raw.send('\u0000\u0001hello\r\n\r\n');
      const answer = await raw.next();
      if (answer ? answer.status < 400 : !raw.hasEnded)
        context.fail(
          `bytes that are not HTTP were answered with ${describe(answer)}`,
          'HTTP 400, or a closed connection',
        );
      await needAlive(context, 'bytes that are not HTTP');
      return `was answered with ${describe(answer)}, and others are served`;
    },
  },
];

/** The next final answer. */
async function finalAnswer(context: CheckContext, raw: RawConnection): Promise<RawAnswer | undefined> {
  for (;;) {
    const answer = await raw.next(context.patience.answerMs);
    if (!answer || answer.status >= 200) return answer;
  }
}

function describe(answer: RawAnswer | undefined): string {
  if (!answer) return 'nothing';
  return `HTTP ${answer.status}${answer.body === '' ? '' : ` and ${answer.body.slice(0, 120)}`}`;
}

function cutAt(bytes: Buffer, at: number): readonly Buffer[] {
  return [bytes.subarray(0, at), bytes.subarray(at)];
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
