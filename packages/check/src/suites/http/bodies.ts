import type { Check } from '../../model.js';
import type { CheckContext } from '../../run/check-context.js';
import { type Answer, ask, isRefused, needServed } from './client/answer.js';
import { bytesOf, openRaw } from './client/raw.js';
import { modernRequest, openingRequest } from './client/requests.js';
import { forget, needAlive, openBodyPoster } from './client/session.js';

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const INVALID_PARAMS = -32602;
const HEADER_MISMATCH = -32020;

/** An odd number, so that pieces end inside of characters of two and four bytes. */
const PIECE_BYTES = 47;

const about = { suite: 'http', over: ['http'], lane: 'own', level: 'SHOULD' } as const;

/** Invalid, large and unusual bodies. */
export const bodyChecks: readonly Check[] = [
  {
    ...about,
    id: 'http-body/not-json',
    title: 'Answers a body that is not JSON with 400 and -32700',
    rules: ['ERR-018'],
    hint: 'Catch the error of the JSON parser and answer with HTTP 400 and a JSON-RPC error -32700.',
    async run(context) {
      const poster = await openBodyPoster(context);
      for (const body of ['{"jsonrpc":"2.0","id":1,', 'hello', '{]']) {
        const answer = await poster.post(body);
        needCode(context, answer, `the body ${JSON.stringify(body)}`, PARSE_ERROR);
      }
      return 'three bodies that are not JSON: 4xx and -32700';
    },
  },
  {
    ...about,
    id: 'http-body/not-a-message',
    title: 'Answers JSON that is not a message with 400 and -32600',
    rules: ['ERR-018'],
    hint: 'Answer a body that is not a JSON-RPC message with HTTP 400 and a JSON-RPC error -32600.',
    async run(context) {
      // Such a body also differs from the modern headers, and has no _meta.
      const alsoWrong = context.era === 'modern' ? [HEADER_MISMATCH, INVALID_PARAMS] : [];
      const poster = await openBodyPoster(context);
      for (const body of ['{"hello":1}', '42', 'null', '{"jsonrpc":"1.0","id":1,"method":"ping"}']) {
        const answer = await poster.post(body);
        needCode(context, answer, `the body ${body}`, INVALID_REQUEST, alsoWrong);
      }
      return 'four bodies that are not messages: 4xx and -32600';
    },
  },
  {
    ...about,
    id: 'http-body/characters-in-pieces',
    title: 'Joins characters of a body that arrive in pieces',
    level: 'MUST',
    rules: ['JRPC-016', 'JRPC-006'],
    hint: 'Collect the bytes of the whole body before you decode it. Do not decode each chunk separately.',
    async run(context) {
      const id = 'isthmus-check é日🦀ß本'.repeat(8);
      const bytes = bytesOf(context, openingRequest(context, context.era, id), {
        headers: { connection: 'close' },
      });
      const raw = await openRaw(context);
      const from = bytes.indexOf('\r\n\r\n') + 4;
      raw.send(bytes.subarray(0, from));
      for (let at = from; at < bytes.length; at += PIECE_BYTES) {
        await context.pause(2);
        raw.send(bytes.subarray(at, at + PIECE_BYTES));
      }
      const answer = await raw.next(2 * context.patience.answerMs);
      await forget(context, answer?.headers.get('mcp-session-id'));
      if (!answer) return context.fail('a body in pieces was not answered', 'an answer');
      if (answer.status === 429) return context.skip('the server limits the rate of requests (HTTP 429)');
      if (!answer.body.includes(id) && !answer.body.includes(JSON.stringify(id).slice(1, -1)))
        context.fail(
          `a body in pieces with the id ${id.slice(0, 19)}… was answered with HTTP ${answer.status} and ${answer.body.slice(0, 160)}`,
          'an answer with the same id',
        );
      return 'the id came back unchanged';
    },
  },
  {
    ...about,
    id: 'http-body/empty',
    title: 'Refuses an empty body',
    rules: [],
    reason: 'A request without a body is an error of the client (4xx), not of the server (5xx).',
    hint: 'Answer a POST without a body with HTTP 400.',
    async run(context) {
      const answer = await (await openBodyPoster(context)).post('');
      if (!isRefused(answer)) context.fail(`an empty body was answered with ${answer.said}`, 'HTTP 400');
      return `was answered with ${answer.said}`;
    },
  },
  {
    ...about,
    id: 'http-body/batch-refused',
    title: 'Refuses a batch',
    level: 'MUST',
    rules: ['JRPC-019'],
    hint: 'Answer an array with HTTP 400 and error -32600. Only 2025-03-26 has batches.',
    async run(context) {
      if (context.revision < '2025-06-18') return context.skip(`${context.revision} has batches`);
      const batch = ['one', 'two'].map((id) =>
        context.era === 'modern'
          ? modernRequest(context, 'server/discover', {}, { id }).body
          : { jsonrpc: '2.0', id, method: 'ping' },
      );
      const answer = await (await openBodyPoster(context)).post(JSON.stringify(batch));
      const isServed = answer.http?.frames.some(({ text }) => text.includes('"result"'));
      if (isServed || !isRefused(answer))
        context.fail(`an array of two requests was answered with ${answer.said}`, 'HTTP 400');
      return `was answered with ${answer.said}`;
    },
  },
  {
    ...about,
    id: 'http-body/large',
    title: 'Serves or refuses a body of 16 MiB, and continues',
    era: 'none',
    rules: [],
    reason:
      'A server must survive very large bodies: it answers 413 or closes the connection, and other clients are not affected.',
    hint: 'Limit the size of a body, and answer longer ones with HTTP 413 before you have read all of it.',
    async run(context) {
      const { body, headers } = openingRequest(context);
      const text = JSON.stringify({ ...body, padding: 'x'.repeat(16 * 1024 * 1024) });
      const answer = await ask(context, context.openHttp(), { body: text, headers });
      await forget(context, answer.http?.headers['mcp-session-id']);
      if (answer.status >= 500)
        context.fail(`a body of 16 MiB was answered with ${answer.said}`, 'HTTP 413, 400 or 200');
      await needAlive(context, 'a body of 16 MiB');
      return `${answer.said}, and others are served`;
    },
  },
  {
    ...about,
    id: 'http-body/charset',
    title: 'Accepts application/json with a charset',
    rules: [],
    reason:
      'Many clients send application/json; charset=utf-8, and media types are case-insensitive (RFC 9110, 8.3.1).',
    hint: 'Compare the media type case-insensitively, without its parameters.',
    async run(context) {
      const poster = await openBodyPoster(context);
      for (const type of ['application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"']) {
        const answer = await poster.post(poster.body, { 'content-type': type });
        needServed(context, answer, `Content-Type: ${type}`);
      }
      return 'served with charset=utf-8, in either case';
    },
  },
  {
    ...about,
    id: 'http-body/other-type-refused',
    title: 'Refuses a body whose Content-Type is not JSON',
    rules: [],
    reason:
      'A browser sends text/plain and form types to any address without a CORS preflight. A server that reads them as JSON can be used by any page.',
    hint: 'Answer a POST whose Content-Type is not application/json with HTTP 415.',
    async run(context) {
      const poster = await openBodyPoster(context);
      for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
        const answer = await poster.post(poster.body, { 'content-type': type });
        if (!isRefused(answer))
          context.fail(`Content-Type: ${type} was answered with ${answer.said}`, 'HTTP 415');
      }
      return 'text/plain and application/x-www-form-urlencoded: refused';
    },
  },
  {
    ...about,
    id: 'http-body/invalid-utf-8',
    title: 'Survives a body that is not UTF-8',
    rules: [],
    reason: 'Messages are UTF-8 (JRPC-016). Other bytes must not cause a server error (5xx).',
    hint: 'Decode bodies strictly, and answer invalid ones with HTTP 400 and error -32700.',
    async run(context) {
      const bytes = Buffer.from(
        '{"jsonrpc":"2.0","id":"\xff\xfe","method":"isthmus-check/unknown"}',
        'latin1',
      );
      const answer = await (await openBodyPoster(context)).post(bytes);
      if (answer.status === 0 || answer.status >= 500)
        context.fail(
          `a body with the bytes ff fe was answered with ${answer.said}`,
          'HTTP 400, or a normal answer',
        );
      await needAlive(context, 'a body that is not UTF-8');
      return `was answered with ${answer.said}`;
    },
  },
];

function needCode(
  context: CheckContext,
  answer: Answer,
  what: string,
  code: number,
  others: readonly number[] = [],
): void {
  if (isRefused(answer) && [code, ...others].some((each) => each === answer.code)) return;
  context.fail(`${what} was answered with ${answer.said}`, `HTTP 400 with error ${code}`);
}
