import { LargeText } from '@isthmus/sdk/internal/transport/http-server/exchange/node-exchange.js';
import { decodeLine, encodeInParts, encodeMessage } from '@isthmus/sdk/internal/wire/codec.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { createLineReader } from '@isthmus/sdk/internal/wire/lines.js';
import { deriveText, hasText } from '@isthmus/sdk/internal/wire/result-text.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const MIB = 1024 * 1024;
const refuse = () => {
  throw new Error('No line is too long here');
};

function feed(push: (chunk: Buffer) => void, bytes: Buffer, size: number): void {
  for (let at = 0; at < bytes.length; at += size) push(bytes.subarray(at, at + size));
}

/** The result as it is decoded from a line of the far side. */
function received(result: string): JsonObject {
  const decoded = decodeLine(Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${result}}`), undefined, true);
  if (decoded.kind !== 'result') throw new Error(`It was decoded as ${decoded.kind}`);
  return decoded.result;
}

describe('S6: the memory of a large line', () => {
  it('S6: is given back when the line has been delivered', () => {
    const seen: { bytes: Buffer; length: number }[] = [];
    const onLine = (bytes: Buffer) => void seen.push({ bytes, length: bytes.length });
    const reader = createLineReader({ maxLineBytes: 8 * MIB, onLine, onOversize: refuse });
    feed(reader.push, Buffer.from(`${'x'.repeat(6 * MIB)}\n`), 65_536);
    expect(seen.map(({ length }) => length)).toEqual([6_291_456]);
    expect(seen[0]!.bytes.length).toBe(0);
  });

  it('S6: can be given back before the line has been worked on, and the next line is whole', () => {
    const lengths: number[][] = [];
    const reader = createLineReader({
      maxLineBytes: 8 * MIB,
      onLine(bytes, release) {
        const before = bytes.length;
        release?.();
        lengths.push([before, bytes.length]);
      },
      onOversize: refuse,
    });
    feed(reader.push, Buffer.from(`${'x'.repeat(6 * MIB)}\n${'y'.repeat(6 * MIB)}\nshort\n`), 65_536);
    expect(lengths).toEqual([
      [6_291_456, 0],
      [6_291_456, 0],
      [5, 5],
    ]);
  });

  it('S6: does not leave bytes of one line in the next', () => {
    const lines: string[] = [];
    const onLine = (bytes: Buffer) => void lines.push(bytes.toString());
    const reader = createLineReader({ maxLineBytes: 8 * MIB, onLine, onOversize: refuse });
    const texts = ['a'.repeat(5 * MIB), 'b'.repeat(MIB + 1), 'c', 'd'.repeat(100_000), 'e'.repeat(2 * MIB)];
    feed(reader.push, Buffer.from(`${texts.join('\n')}\n`), 50_001);
    expect(lines.map((line) => [line[0], line.length, new Set(line).size])).toEqual([
      ['a', 5_242_880, 1],
      ['b', 1_048_577, 1],
      ['c', 1, 1],
      ['d', 100_000, 1],
      ['e', 2_097_152, 1],
    ]);
  });

  it('S6: is given back when the line turns out to be too long', () => {
    const seen: string[] = [];
    const reader = createLineReader({
      maxLineBytes: 6 * MIB,
      onLine: (bytes) => seen.push(bytes.toString()),
      onOversize: (head, tail) => seen.push(`${head.length} ${head[0]} ${tail.length} ${tail[0]}`),
    });
    feed(reader.push, Buffer.from(`${'a'.repeat(6 * MIB)}${'b'.repeat(MIB)}\nnext\n`), 65_536);
    expect(seen).toEqual(['4096 97 4096 98', 'next']);
  });

  it('S6: is a plain buffer where the limit is beyond what can be reserved', () => {
    const lengths: number[] = [];
    const onLine = (bytes: Buffer) => void lengths.push(bytes.length);
    const reader = createLineReader({ maxLineBytes: Number.MAX_SAFE_INTEGER, onLine, onOversize: refuse });
    feed(reader.push, Buffer.from(`${'x'.repeat(6 * MIB)}\n${'y'.repeat(5 * MIB)}\n`), 65_536);
    expect(lengths).toEqual([6_291_456, 5_242_880]);
  });

  it('S6: holds what was written, whatever the chunks', () => {
    const size = fc.integer({ min: 20_000, max: 900_000 });
    const sizes = fc.array(fc.integer({ min: 1, max: 6_500_000 }), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(sizes, size, (lengths, chunk) => {
        const texts = lengths.map((length, at) => String.fromCharCode(97 + at).repeat(length));
        let matching = 0;
        const onLine = (bytes: Buffer) => {
          if (bytes.equals(Buffer.from(texts[matching] ?? ''))) matching += 1;
        };
        const reader = createLineReader({ maxLineBytes: 8 * MIB, onLine, onOversize: refuse });
        feed(reader.push, Buffer.from(`${texts.join('\n')}\n`), chunk);
        expect(matching).toBe(texts.length);
      }),
      { numRuns: 10 },
    );
  });
});

describe('S6: a large result that is handed on', () => {
  const text = 'x'.repeat(70_000);

  it('S6: is written in parts, the largest as it came', () => {
    const result = received(`{"content":[{"type":"text","text":"${text}"}]}`);
    expect(encodeInParts({ jsonrpc: '2.0', id: 'a', result })).toEqual([
      '{"jsonrpc":"2.0","id":"a","result":{',
      `"content":[{"type":"text","text":"${text}"}]`,
      '}}',
    ]);
    expect(encodeInParts({ jsonrpc: '2.0', id: 'a', result: {} })).toBe(undefined);
  });

  it('S6: keeps its text when members are put around it and taken away again', () => {
    const result = received(`{"resultType":"complete","text":"${text}","_meta":{"a":1}}`);
    const bare = { text };
    deriveText(result, bare, { left: ['resultType', '_meta'], before: {}, after: {} });
    const around = { ttlMs: 0, text, _meta: { b: 2 } };
    deriveText(bare, around, { left: [], before: { ttlMs: 0 }, after: { _meta: { b: 2 } } });
    const again = { text };
    deriveText(around, again, { left: ['ttlMs', '_meta'], before: {}, after: {} });
    const written = [bare, around, again].map((each) => {
      expect(hasText(each)).toBe(true);
      return encodeMessage({ jsonrpc: '2.0', id: 1, result: each });
    });
    expect(written).toEqual([
      `{"jsonrpc":"2.0","id":1,"result":{"text":"${text}"}}`,
      `{"jsonrpc":"2.0","id":1,"result":{"ttlMs":0,"text":"${text}","_meta":{"b":2}}}`,
      `{"jsonrpc":"2.0","id":1,"result":{"text":"${text}"}}`,
    ]);
  });

  it('S6: stays valid JSON when it has no members but much white space', () => {
    const result = received(`{${' '.repeat(70_000)}}`);
    const derived = { resultType: 'complete', _meta: {} };
    deriveText(result, derived, { left: [], before: { resultType: 'complete' }, after: { _meta: {} } });
    expect(encodeMessage({ jsonrpc: '2.0', id: 1, result: derived })).toBe(
      '{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","_meta":{}}}',
    );
  });
});

describe('S6: a large text on its way out', () => {
  function piecesOf(text: LargeText): string[] {
    const pieces: string[] = [];
    while (text.left > 0) pieces.push(text.take());
    return pieces;
  }

  it('S6: is cut into pieces of 128 KiB across its parts', () => {
    const text = new LargeText(['{"a":"', 'x'.repeat(300_000), '"}']);
    expect([text.bytes, text.left, text.encoding]).toEqual([300_008, 300_008, 'latin1']);
    expect(piecesOf(text).map((piece) => piece.length)).toEqual([131_072, 131_072, 37_864]);
    expect(text.take()).toBe('');
  });

  it('S6: keeps both halves of a character in one piece', () => {
    const whole = `a${'🚀'.repeat(100_000)}é`;
    const text = new LargeText(whole);
    expect([text.bytes, text.encoding]).toEqual([400_003, 'utf8']);
    const pieces = piecesOf(text);
    expect(pieces.map((piece) => piece.length)).toEqual([131_073, 68_929]);
    expect(Buffer.concat(pieces.map((piece) => Buffer.from(piece))).equals(Buffer.from(whole))).toBe(true);
  });
});
