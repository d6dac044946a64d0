/** Whatever the lines and wherever the reads cut them: every request and every bad line is answered once. */
import { PassThrough } from 'node:stream';
import type { Listener } from '@isthmus/sdk/internal/exchange/connection.js';
import { createServer } from '@isthmus/sdk/internal/server/create-server.js';
import { serve } from '@isthmus/sdk/internal/server/serve.js';
import { createStreamConnection } from '@isthmus/sdk/internal/transport/stream-connection.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { call, initialize, legacyCall, type Message, request } from '../support/messages.js';

const MAX_LINE = 600;
const RUNS = { seed: 20260728, numRuns: 1000 } as const;

/** What is written on a line, and the answer it is owed: `ok`, an error code, or nothing. */
interface Sent {
  readonly bytes: Buffer;
  readonly owed: 'ok' | number | undefined;
  readonly id: string | number | undefined;
}

type Make = (id: string | number, filler: string) => Sent;

const modern: Record<string, Make> = {
  good: (id, text) => good(id, call(id, 'echo', { text })),
  late: (id, text) => good(id, call(id, 'late', { text })),
  discover: (id) => good(id, request(id, 'server/discover')),
  unknown: (id) => bad(id, -32601, JSON.stringify(request(id, 'no/such'))),
  noEnvelope: (id) => bad(id, -32602, JSON.stringify(legacyCall(id, 'echo', { text: 'x' }))),
};

const legacy: Record<string, Make> = {
  good: (id, text) => good(id, legacyCall(id, 'echo', { text })),
  late: (id, text) => good(id, legacyCall(id, 'late', { text })),
  ping: (id) => good(id, { jsonrpc: '2.0', id, method: 'ping' }),
  unknown: (id) => bad(id, -32601, `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"no/such"}`),
  enveloped: (id) => bad(id, -32600, JSON.stringify(call(id, 'echo', { text: 'x' }))),
};

const eitherEra: Record<string, Make> = {
  notJson: (_, text) => bad(undefined, -32700, `oops ${text.replace(/[\r\n]/g, '')}`),
  broken: (id, text) =>
    bad(
      id,
      -32700,
      `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"x","params":{"t":${JSON.stringify(text)},}}`,
    ),
  badShape: (id) =>
    bad(id, -32600, `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"x","params":[1,2]}`),
  badId: () => bad(undefined, -32600, '{"jsonrpc":"2.0","id":1.5,"method":"x"}'),
  batch: (id) => bad(undefined, -32600, `[{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"ping"}]`),
  scalar: () => bad(undefined, -32600, 'true'),
  notUtf8: (id) => {
    const [head, tail] = JSON.stringify(legacyCall(id, 'echo', { text: '@' })).split('@');
    const bytes = Buffer.concat([Buffer.from(head!), Buffer.from([0xc3, 0x28]), Buffer.from(tail!)]);
    return { bytes, owed: -32700, id };
  },
  oversize: (id, text) =>
    bad(id, -32600, JSON.stringify(call(id, 'echo', { text: text + 'y'.repeat(MAX_LINE) }))),
  oversizeJunk: (_, text) =>
    bad(undefined, -32600, `oops ${text.replace(/[\r\n]/g, '')}${'z'.repeat(MAX_LINE + 1)}`),
  blank: () => nothing('  \t '),
  empty: () => nothing(''),
  notification: () => nothing('{"jsonrpc":"2.0","method":"notifications/whatever","params":{}}'),
  cancelNobody: () =>
    nothing('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody"}}'),
  strayAnswer: (id) => nothing(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{}}`),
};

describe('any mix of lines, cut anywhere', () => {
  const eras: [string, Record<string, Make>, object][] = [
    ['modern', modern, request('opening', 'server/discover')],
    ['legacy', legacy, initialize('opening')],
  ];
  for (const [era, own, opening] of eras) {
    it(`is answered line by line in the ${era} era`, async () => {
      const makers: Record<string, Make> = { ...own, ...eitherEra };
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(fc.constantFrom(...Object.keys(makers)), filler, fc.boolean(), fc.boolean()), {
            maxLength: 25,
          }),
          fc.array(fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 300, max: 5000 })), {
            minLength: 1,
            maxLength: 30,
          }),
          fc.record({ byteOrderMark: fc.boolean(), lastNewline: fc.boolean(), turns: fc.boolean() }),
          async (picks, sizes, { byteOrderMark, lastNewline, turns }) => {
            const sent = picks.map(([kind, text, numeric], at) =>
              makers[kind]!(numeric ? at : `${kind} ${at}`, text),
            );
            const lines = sent.map(({ bytes }, at) =>
              Buffer.concat([bytes, Buffer.from(picks[at]![3] ? '\r\n' : '\n')]),
            );
            const whole = Buffer.concat([
              Buffer.from(byteOrderMark ? '\uFEFF' : ''),
              Buffer.from(`${JSON.stringify(opening)}\n`),
              ...lines,
            ]);
            const input = lastNewline ? whole : whole.subarray(0, whole.lastIndexOf('\n'));
            const got = await converse(input, sizes, turns);
            expect(got.map(summary).sort()).toEqual(
              [
                '"opening" ok',
                ...sent
                  .filter(({ owed }) => owed !== undefined)
                  .map(({ id, owed }) => `${JSON.stringify(id)} ${owed}`),
              ].sort(),
            );
          },
        ),
        RUNS,
      );
    });
  }
});

/** Fills lines with what framing may stumble over; short enough for the limit in any escape. */
const filler = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('', '\u2028', '\uFFFD', '🚀é', '\r', '\\"', '"id":7,', '{"id":8}', '\u0000'),
);

function good(id: string | number, message: object): Sent {
  return { bytes: Buffer.from(JSON.stringify(message)), owed: 'ok', id };
}

function bad(id: string | number | undefined, owed: number, text: string): Sent {
  return { bytes: Buffer.from(text), owed, id };
}

function nothing(text: string): Sent {
  return { bytes: Buffer.from(text), owed: undefined, id: undefined };
}

function summary({ id, result, error }: Message): string {
  return `${JSON.stringify(id)} ${result === undefined ? error?.code : 'ok'}`;
}

const server = createServer({ name: 'any', version: '1' });
server.tool('echo', {}, ({ text }) => String(text));
server.tool('late', {}, async ({ text }) => {
  await new Promise((resolve) => setImmediate(resolve));
  return String(text);
});

/** Serves one connection that gets `input` in chunks of the given sizes; all that was sent until it closed. */
async function converse(input: Buffer, sizes: readonly number[], turns: boolean): Promise<Message[]> {
  const toServer = new PassThrough();
  const fromServer = new PassThrough();
  const connection = createStreamConnection({
    label: 'test',
    input: toServer,
    output: fromServer,
    maxLineBytes: MAX_LINE,
    release: () => void fromServer.end(),
  });
  const listener: Listener = {
    ownsProcess: false,
    async listen(accept) {
      accept(connection);
      return { address: 'test', ended: connection.closed.then(() => {}), async stop() {} };
    },
  };
  const served = await serve(server, listener);
  const chunks: Buffer[] = [];
  fromServer.on('data', (chunk: Buffer) => chunks.push(chunk));
  for (let at = 0, turn = 0; at < input.length; turn++) {
    const size = sizes[turn % sizes.length]!;
    toServer.write(input.subarray(at, at + size));
    at += size;
    if (turns) await new Promise((resolve) => setImmediate(resolve));
  }
  toServer.end();
  await served.closed;
  const text = Buffer.concat(chunks).toString();
  expect(text === '' || text.endsWith('\n')).toBe(true);
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Message);
}
