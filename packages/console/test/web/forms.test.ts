import { describe, expect, it } from 'vitest';
import { adviceOn, patternAdvice } from '../../web/src/forms/advice.js';
import { draftOf, firstDraft, rawOf } from '../../web/src/forms/draft.js';
import { shapeOf } from '../../web/src/forms/shape.js';
import { expandTemplate, templateNames } from '../../web/src/forms/uri-template.js';
import { compact, hasRepeatedKeys } from '../../web/src/json/print.js';
import { parseRaw } from '../../web/src/json/raw.js';

/** Through the form and back. */
function through(schema: Record<string, unknown>, text: string): string {
  return compact(rawOf(draftOf(schema, schema, parseRaw(text)))!);
}

describe('JSON as it was typed', () => {
  it.each(['1.0', '1e400', '9007199254740993', '-0', '"\\u202e"', '{"a":1,"a":2}', '[[],{}]', 'null'])(
    'keeps %s',
    (text) => {
      expect(compact(parseRaw(text))).toBe(text === '"\\u202e"' ? '"\u202e"' : text);
    },
  );

  it.each([
    ['{"a":}', 5],
    ['[1,]', 3],
    ['"open', 0],
    ['01', 1],
    ['{"a" 1}', 5],
    ['"\n"', 0],
  ])('says where %s is wrong', (text, at) => {
    expect(() => parseRaw(text)).toThrow(expect.objectContaining({ at }));
  });

  it('sees repeated keys, and takes text that is nested too deeply for an error', () => {
    expect(hasRepeatedKeys(parseRaw('{"a":{"b":1,"b":2}}'))).toBe(true);
    expect(() => parseRaw('['.repeat(10_000))).toThrow('nested deeper');
  });
});

describe('a form', () => {
  it.each([
    [{ type: 'object', properties: { a: { type: 'number' } } }, '{"a":1.0,"other":"x"}'],
    [{ type: 'object', properties: { a: { type: 'number' } } }, '{"a":"not a number"}'],
    [{ type: 'object', properties: { a: { type: ['string', 'null'] } } }, '{"a":null}'],
    [{ type: 'object', properties: { a: { type: 'string' } } }, '{"a":""}'],
    [{ type: 'object', properties: { a: { type: 'string' } } }, '{}'],
    [{ type: 'object', additionalProperties: { type: 'integer' } }, '{"x":9007199254740993}'],
    [{ type: 'object', properties: { l: { type: 'array', items: { type: 'number' } } } }, '{"l":[1,2.50]}'],
    [{ type: 'object', properties: { t: { prefixItems: [{ type: 'string' }] } } }, '{"t":["a",{"b":1}]}'],
    [
      { $defs: { n: { type: 'number' } }, type: 'object', properties: { a: { $ref: '#/$defs/n' } } },
      '{"a":1e2}',
    ],
    [
      { type: 'object', properties: { next: { $ref: '#' }, v: { type: 'string' } } },
      '{"next":{"next":{"v":"x"}}}',
    ],
  ])('loses nothing of a value: %j', (schema, text) => {
    expect(through(schema, text)).toBe(text);
  });

  it('chooses the variant by its constant, also when another one would fit', () => {
    const schema = {
      oneOf: [
        { type: 'object', properties: { by: { const: 'city' }, name: { type: 'string' } } },
        { type: 'object', properties: { by: { const: 'point' }, lat: { type: 'number' } } },
      ],
    };
    expect(draftOf(schema, schema, parseRaw('{"by":"point","lat":8.980}'))).toEqual({
      kind: 'variant',
      at: 1,
      draft: {
        kind: 'object',
        members: [
          ['by', { kind: 'json', text: '"point"' }],
          ['lat', { kind: 'number', text: '8.980' }],
        ],
      },
    });
  });

  it('begins with what is required and fixed, and leaves the rest absent', () => {
    const schema = {
      type: 'object',
      required: ['kind', 'inner', 'text'],
      properties: {
        kind: { const: 'a' },
        text: { type: 'string' },
        inner: { type: 'object', required: ['list'], properties: { list: { type: 'array' } } },
        free: { type: 'string', default: 'x' },
      },
    };
    expect(compact(rawOf(firstDraft(schema, schema, true))!)).toBe('{"kind":"a","inner":{"list":[]}}');
    expect([...adviceOn(schema, schema, firstDraft(schema, schema, true))]).toEqual([
      ['/text', 'is required'],
    ]);
  });

  it('merges allOf, follows $anchor, and takes titled constants for choices', () => {
    const schema = {
      $defs: { x: { $anchor: 'here', type: 'integer' } },
      allOf: [
        { properties: { a: { $ref: '#here' } } },
        { properties: { b: { oneOf: [{ const: 1, title: 'one' }] } } },
      ],
    };
    const { schema: merged, kind } = shapeOf(schema, schema);
    expect(kind).toBe('object');
    const { a, b } = merged['properties'] as Record<string, unknown>;
    expect(shapeOf(schema, a).kind).toBe('integer');
    expect(shapeOf(schema, b).choices).toEqual([{ text: '1', say: 'one (1)' }]);
  });

  it('ends for a schema that refers to itself without end', () => {
    const schema = { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } };
    expect(shapeOf(schema, schema).kind).toBe('any');
  });

  it('tries only patterns that cannot take for ever', () => {
    expect(patternAdvice('^[a-z]+$', 'A')).toBe('does not match ^[a-z]+$');
    const began = performance.now();
    for (const pattern of ['^(a+)+$', '^(a|a)*$', '^(a*)*b', '(x+x+)+y', '^(?=(a+)+$)', 'a*a*a*a*a*b'])
      expect(patternAdvice(pattern, `${'a'.repeat(199)}!`)).toBeUndefined();
    expect(performance.now() - began).toBeLessThan(1000);
  });
});

describe('a template (RFC 6570)', () => {
  it.each([
    ['test://{id}', { id: 'a b/c' }, 'test://a%20b%2Fc'],
    ['test://{+path}', { path: 'a/b?c' }, 'test://a/b?c'],
    ['test://x{?q,lang}', { q: 'a&b' }, 'test://x?q=a%26b'],
    ['test://x{/a,b}{#f}', { a: '1', b: '2', f: 'z' }, 'test://x/1/2#z'],
    ['test://{var:3}', { var: 'value' }, 'test://val'],
    ['test://x{;p}{.ext}', { p: '', ext: 'md' }, 'test://x;p.md'],
    ['test://{__proto__}', {}, 'test://'],
  ])('%s', (template, values, uri) => {
    expect(expandTemplate(template, values as Record<string, string>)).toBe(uri);
  });

  it('names its variables once', () => {
    expect(templateNames('a{x}{?x,y*}{+z:3}')).toEqual(['x', 'y', 'z']);
  });
});
