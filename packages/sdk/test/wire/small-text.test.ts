import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeMessage } from '../../src/wire/codec.js';
import { type JsonObject, requestMessage, resultMessage } from '../../src/wire/json-rpc.js';
import { encodeRequest, encodeTextResult, keepMetaText } from '../../src/wire/small-text.js';

describe('a request is written as JSON.stringify writes it', () => {
  it('whatever JSON its params are', () => {
    const params = fc.dictionary(
      fc.oneof(fc.constant('_meta'), fc.string(), fc.string({ unit: 'grapheme' })),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(fc.oneof(fc.integer(), fc.string()), fc.string(), params, (id, method, some) => {
        // `dictionary` makes objects without a prototype.
        const request = requestMessage(id, method, { ...some });
        expect(encodeRequest(request)).toBe(JSON.stringify(request));
      }),
    );
  });

  it.each([
    ['control characters', 'a\u0000\u001f\n"\\b'],
    ['characters outside ASCII', 'é \u007f\u2028🚀'],
    ['half of a pair', 'a\ud800'],
    ['a long text', '"é'.repeat(2000)],
    ['nothing', ''],
  ])('with %s in names and values', (_, text) => {
    const request = requestMessage(text, text, { [text]: text, name: text });
    expect(encodeRequest(request)).toBe(JSON.stringify(request));
  });

  it('without members that JSON does not have', () => {
    const params = { a: undefined, b: () => 1, c: Symbol('c'), d: Number.NaN, e: null, f: false };
    expect(encodeRequest(requestMessage(1, 'm', params))).toBe(
      '{"jsonrpc":"2.0","id":1,"method":"m","params":{"d":null,"e":null,"f":false}}',
    );
  });

  it('with a member named __proto__', () => {
    const params = JSON.parse('{"__proto__":{"a":1},"b":2}');
    expect(encodeRequest(requestMessage(1, 'm', params))).toBe(
      '{"jsonrpc":"2.0","id":1,"method":"m","params":{"__proto__":{"a":1},"b":2}}',
    );
  });

  it.each([
    ['params with toJSON', { toJSON: () => ({ other: 1 }) }, '{"other":1}'],
    ['a member with toJSON', { at: { toJSON: (name: string) => name } }, '{"at":"at"}'],
    [
      'params that inherit',
      Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true } }),
      '{"own":2}',
    ],
  ])('with %s', (_, params, text) => {
    expect(encodeMessage(requestMessage(1, 'm', params as JsonObject))).toBe(
      `{"jsonrpc":"2.0","id":1,"method":"m","params":${text}}`,
    );
  });

  it('and fails with the same error for what cannot be written', () => {
    expect(() => encodeMessage(requestMessage(1, 'm', { n: 1n }))).toThrow(
      'The message cannot be written as JSON: Do not know how to serialize a BigInt',
    );
  });
});

it('a request with a _meta whose text is kept has that text, and only there', () => {
  const meta = { 'example.com/key': 1 };
  keepMetaText(meta, '{"example.com/key":1.0}');
  const text = (params: JsonObject) => encodeMessage(requestMessage(1, 'm', params));
  expect(text({ _meta: meta })).toBe(
    '{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"example.com/key":1.0}}}',
  );
  expect(text({ other: meta, _meta: { ...meta } })).toBe(
    '{"jsonrpc":"2.0","id":1,"method":"m","params":{"other":{"example.com/key":1},"_meta":{"example.com/key":1}}}',
  );
});

describe('a result that is one text', () => {
  it('is written as JSON.stringify writes it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.integer({ max: 0xffff, min: 0 }), fc.integer({ max: 127, min: 0 }))),
        (codes) => {
          const text = String.fromCharCode(...codes);
          const result = { content: [{ type: 'text', text }] };
          expect(encodeTextResult(result)).toBe(JSON.stringify(result));
        },
      ),
    );
  });

  it.each([
    ['a member more', { content: [{ type: 'text', text: 'a' }], isError: true }],
    ['a member before', { isError: true, content: [{ type: 'text', text: 'a' }] }],
    ['an annotated block', { content: [{ type: 'text', text: 'a', annotations: {} }] }],
    ['another order', { content: [{ text: 'a', type: 'text' }] }],
    ['another type', { content: [{ type: 'image', text: 'a' }] }],
    [
      'two blocks',
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
    ],
    ['no blocks', { content: [] }],
    ['no content', {}],
    ['null as its block', { content: [null] }],
    ['a text that is hidden', { content: [Object.defineProperty({ type: 'text' }, 'text', { value: 'a' })] }],
    ['a block with toJSON', { content: [{ type: 'text', text: 'a', toJSON: () => 1 }] }],
    ['content with toJSON', { content: Object.assign([{ type: 'text', text: 'a' }], { toJSON: () => 1 }) }],
    [
      'a block of a class',
      {
        content: [
          new (class {
            type = 'text';
            text = 'a';
            toJSON() {
              return 1;
            }
          })(),
        ],
      },
    ],
  ])('has another text with %s', (_, result) => {
    expect(encodeTextResult(result as JsonObject)).toBeUndefined();
    expect(encodeMessage(resultMessage(1, result as JsonObject))).toBe(
      `{"jsonrpc":"2.0","id":1,"result":${JSON.stringify(result)}}`,
    );
  });
});
