import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { decodeLine, decodeText, encodeMessage } from '../../src/wire/codec.js';
import { type DecodedResult, resultMessage } from '../../src/wire/json-rpc.js';
import { forgetResults, frameResult, isAsRead } from '../../src/wire/passed-result.js';

afterEach(() => forgetResults());

const LAYOUTS = [
  ['last', (id: number, result: string) => `{"jsonrpc":"2.0","id":${id},"result":${result}}`],
  ['first', (id: number, result: string) => `{"result":${result},"jsonrpc":"2.0","id":${id}}`],
] as const;

describe.each(LAYOUTS)('an answer with its result %s', (_, line) => {
  it('is sent on in its own text while it is handled', () => {
    const { result } = read(line(7, '{"a":1.0,"b":"\\u00e9","a":2.50}'));
    expect(result).toEqual({ a: 2.5, b: 'é' });
    expect(isAsRead(result)).toBe(true);
    expect(encodeMessage(resultMessage('x', result))).toBe(
      '{"jsonrpc":"2.0","id":"x","result":{"a":1.0,"b":"\\u00e9","a":2.50}}',
    );
  });

  it('is written from its members when it has been handled', () => {
    const { result } = read(line(7, '{"a":1.0}'));
    forgetResults();
    result['b'] = 2;
    expect(isAsRead(result)).toBe(false);
    expect(encodeMessage(resultMessage(1, result))).toBe('{"jsonrpc":"2.0","id":1,"result":{"a":1,"b":2}}');
  });

  it('is written from its members after the next answer', () => {
    const { result } = read(line(7, '{"a":1.0}'));
    read(line(8, '{"b":1.0}'));
    expect(encodeMessage(resultMessage(1, result))).toBe('{"jsonrpc":"2.0","id":1,"result":{"a":1}}');
  });

  it.each(['\r', '\n'])('is written from its members if it holds the line break %j', (ending) => {
    for (const filler of ['', 'x'.repeat(70_000)]) {
      const { result } = read(line(7, `{"a":${ending}"${filler}"}`));
      expect(encodeMessage(resultMessage(1, result))).toBe(
        `{"jsonrpc":"2.0","id":1,"result":{"a":"${filler}"}}`,
      );
    }
  });

  it('is read as it is without the text, whatever follows, precedes or replaces its parts', () => {
    const pieces = fc.constantFrom(
      '{}',
      '{"a":1}',
      '[1]',
      '1',
      '{',
      '}',
      ' ',
      ',"x":1',
      ',"result":{}',
      '{} ',
    );
    const text = fc.tuple(
      fc.constantFrom('0', '7', '07', '-1', '1.5', '"a"', 'null', '1'.repeat(16)),
      pieces,
    );
    fc.assert(
      fc.property(text, pieces, ([id, result], more) => {
        const plain = line(0, result + more).replace('"id":0', `"id":${id}`);
        expect(decodeText(plain, true)).toEqual(decodeText(plain));
      }),
      { numRuns: 500 },
    );
  });

  it('is read as it is without the text, for any result', () => {
    const results = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(fc.nat(), results, (id, result) => {
        const plain = line(id, JSON.stringify(result));
        expect(decodeText(plain, true)).toEqual(decodeText(plain));
      }),
    );
  });
});

describe('a result with something before and after its members', () => {
  it.each([
    ['{"a":1.0}', '{"t":1,"a":1.0,"m":2}'],
    ['{}', '{"t":1,"m":2}'],
    ['{ }', '{"t":1 ,"m":2}'],
  ])('%s that was read keeps its text', (inner, expected) => {
    const { result } = read(`{"jsonrpc":"2.0","id":1,"result":${inner}}`);
    const sent = { t: 1, ...result, m: 2 };
    frameResult(sent, result, '"t":1,', ',"m":2');
    expect(encodeMessage(resultMessage(5, sent))).toBe(`{"jsonrpc":"2.0","id":5,"result":${expected}}`);
  });

  it.each([
    [{ a: 1, b: undefined }, '{"t":1,"a":1,"m":2}'],
    [{}, '{"t":1,"m":2}'],
  ])('%j of our own is written from its members', (result, expected) => {
    const sent = { t: 1, ...result, m: 2 };
    frameResult(sent, result, '"t":1,', ',"m":2');
    expect(encodeMessage(resultMessage(5, sent))).toBe(`{"jsonrpc":"2.0","id":5,"result":${expected}}`);
    expect(encodeMessage(resultMessage(5, sent))).toBe(`{"jsonrpc":"2.0","id":5,"result":${expected}}`);
  });
});

function read(text: string): DecodedResult {
  const decoded = decodeLine(Buffer.from(text), undefined, true);
  expect(decoded.kind).toBe('result');
  return decoded as DecodedResult;
}
