import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeHeaderValue,
  encodeHeaderValue,
  type HeaderParam,
  headerMatches,
  headerParamValue,
  readHeaderParams,
  routingName,
} from '../../../src/era/modern/headers.js';

describe('Mcp-Name', () => {
  it('repeats the name or the URI of the three methods that have one (HTTP-030)', () => {
    expect(routingName('tools/call', { name: 'add' })).toBe('add');
    expect(routingName('prompts/get', { name: 'greet' })).toBe('greet');
    expect(routingName('resources/read', { uri: 'file:///a' })).toBe('file:///a');
  });

  it('is absent elsewhere, and where the body has no name to repeat', () => {
    expect(routingName('tools/list', { name: 'add' })).toBeUndefined();
    expect(routingName('tools/call', undefined)).toBeUndefined();
    expect(routingName('tools/call', { name: 7 })).toBeUndefined();
  });
});

describe('header values', () => {
  it.each([
    ['us-west1', 'us-west1'],
    ['two words', 'two words'],
    ['', ''],
    [42, '42'],
    [-7, '-7'],
    [true, 'true'],
    [false, 'false'],
    [' padded', '=?base64?IHBhZGRlZA==?='],
    ['padded\t', '=?base64?cGFkZGVkCQ==?='],
    ['line\nbreak', '=?base64?bGluZQpicmVhaw==?='],
    ['日本', '=?base64?5pel5pys?='],
    ['=?base64?eA==?=', '=?base64?PT9iYXNlNjQ/ZUE9PT89?='],
    ['=?BASE64?eA==?=', '=?BASE64?eA==?='],
  ])('writes %j as %j (HTTP-053 … HTTP-056)', (value, text) => {
    expect(encodeHeaderValue(value)).toBe(text);
  });

  it.each([
    ['  plain\t', 'plain'],
    ['=?base64?SGVsbG8=?=', 'Hello'],
    ['=?base64??=', ''],
    ['=?BASE64?SGVsbG8=?=', '=?BASE64?SGVsbG8=?='],
    ['=?base64?=', '=?base64?='],
  ])('reads %j as %j', (text, value) => {
    expect(decodeHeaderValue(text)).toBe(value);
  });

  it.each([
    ['characters outside Base64', '=?base64?SGVs!!!?='],
    ['missing padding', '=?base64?SGVsbG8?='],
    ['the alphabet for URLs', '=?base64?-_-_?='],
    ['bits beyond the last byte', '=?base64?SGVsbG9=?='],
    ['bytes that are no UTF-8', '=?base64?/w==?='],
    ['a line break within', '=?base64?SGVs\nbG8=?='],
    ['high bytes in the open', 'caf\u00e9'],
    ['control characters in the open', 'a\u0001b'],
  ])('refuses %s (HTTP-057, HTTP-059)', (_, text) => {
    expect(decodeHeaderValue(text)).toBeUndefined();
  });

  it('brings every text through the header unharmed, in characters that every proxy passes', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom(' ', '\t', '=?base64?', '?=', 'a', '\n', 'é') }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const written = encodeHeaderValue(text);
        expect(written).toMatch(/^[ -~]*$/);
        expect(written).toBe(written.trim());
        expect(decodeHeaderValue(written)).toBe(text);
      }),
    );
  });

  it('never throws on what it is sent, and reads only what it would accept again', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const read = decodeHeaderValue(`=?base64?${text}?=`);
        if (read !== undefined) expect(encodeHeaderValue(`${read}\n`)).toMatch(/^=\?base64\?/);
      }),
    );
  });
});

describe('x-mcp-header', () => {
  const object = (properties: Record<string, unknown>, more = {}) => ({
    type: 'object',
    properties,
    ...more,
  });
  const text = (header: unknown, type: unknown = 'string') => ({ type, 'x-mcp-header': header });

  it('is read with the place of the argument, in the order of the schema, also in nested objects', () => {
    const schema = object({
      region: text('Region'),
      limits: object({ count: text('Count', 'integer'), deep: object({ dry: text('Dry-Run', 'boolean') }) }),
      other: { type: 'string' },
    });
    expect(readHeaderParams(schema)).toEqual({
      kind: 'valid',
      params: [
        { header: 'Region', path: ['region'], type: 'string' },
        { header: 'Count', path: ['limits', 'count'], type: 'integer' },
        { header: 'Dry-Run', path: ['limits', 'deep', 'dry'], type: 'boolean' },
      ],
    });
  });

  it('is not looked for in data, nor in the name of a property', () => {
    const schema = object({
      'x-mcp-header': { type: 'string' },
      a: { type: 'object', default: text(''), const: text(''), enum: [text('')], examples: [text('')] },
    });
    expect(readHeaderParams(schema)).toEqual({ kind: 'valid', params: [] });
  });

  it.each([
    [undefined, 'no schema'],
    [true, 'a schema that is no object'],
    [{ type: 'object' }, 'no properties'],
  ])('finds nothing in %j (%s)', (schema, _) => {
    expect(readHeaderParams(schema)).toEqual({ kind: 'valid', params: [] });
  });

  const elsewhere = 'is not on a property that is reached through properties alone';
  it.each([
    ['an empty name', object({ a: text('') }), 'x-mcp-header at a is not a valid header name: ""'],
    [
      'a name with a space',
      object({ a: text('My Region') }),
      'x-mcp-header at a is not a valid header name: "My Region"',
    ],
    [
      'a name with a colon',
      object({ a: text('a:b') }),
      'x-mcp-header at a is not a valid header name: "a:b"',
    ],
    [
      'a name beyond ASCII',
      object({ a: text('Größe') }),
      'x-mcp-header at a is not a valid header name: "Größe"',
    ],
    [
      'a control character',
      object({ a: text('a\n') }),
      'x-mcp-header at a is not a valid header name: "a\\n"',
    ],
    ['a name that is not text', object({ a: text(7) }), 'x-mcp-header at a is not a valid header name: 7'],
    [
      'two names that differ in case',
      object({ a: text('Region'), b: text('REGION') }),
      'x-mcp-header at b repeats the name REGION',
    ],
    [
      'type number',
      object({ a: text('A', 'number') }),
      'x-mcp-header at a is on type "number" instead of string, integer or boolean',
    ],
    [
      'a choice of types',
      object({ a: text('A', ['string', 'null']) }),
      'x-mcp-header at a is on type ["string","null"] instead of string, integer or boolean',
    ],
    [
      'no type',
      object({ a: { 'x-mcp-header': 'A' } }),
      'x-mcp-header at a is on type undefined instead of string, integer or boolean',
    ],
    ['the root', { ...object({}), 'x-mcp-header': 'A' }, `x-mcp-header at the root ${elsewhere}`],
    ['items', object({ a: { type: 'array', items: text('A') } }), `x-mcp-header at a.items ${elsewhere}`],
    [
      'properties in items',
      object({ a: { type: 'array', items: object({ b: text('A') }) } }),
      `x-mcp-header at a.items.b ${elsewhere}`,
    ],
    ['anyOf', object({ a: { anyOf: [{}, text('A')] } }), `x-mcp-header at a.anyOf ${elsewhere}`],
    ['then', object({}, { if: {}, then: object({ a: text('A') }) }), `x-mcp-header at then.a ${elsewhere}`],
    ['$defs', object({}, { $defs: { a: text('A') } }), `x-mcp-header at a ${elsewhere}`],
    [
      'patternProperties',
      object({}, { patternProperties: { '^a': text('A') } }),
      `x-mcp-header at ^a ${elsewhere}`,
    ],
  ])('is invalid with or under %s (HTTP-040 … HTTP-045)', (_, schema, why) => {
    expect(readHeaderParams(schema)).toEqual({ kind: 'invalid', why });
  });

  it('reads a schema of any depth', () => {
    let schema: Record<string, unknown> = text('Deep');
    for (let depth = 0; depth < 5000; depth += 1) schema = object({ a: schema });
    const read = readHeaderParams(schema);
    expect(read.kind === 'valid' && read.params[0]?.path.length).toBe(5000);
  });
});

describe('the arguments that headers repeat', () => {
  const count: HeaderParam = { header: 'Count', path: ['limits', 'count'], type: 'integer' };
  const region: HeaderParam = { header: 'Region', path: ['region'], type: 'string' };

  it('are taken from their exact place; without a value there is no header (HTTP-049, HTTP-050)', () => {
    expect(headerParamValue(count, { limits: { count: 0 } })).toBe(0);
    expect(headerParamValue(region, { region: '' })).toBe('');
    expect(headerParamValue(region, { region: null })).toBeUndefined();
    expect(headerParamValue(region, { Region: 'x' })).toBeUndefined();
    expect(headerParamValue(count, { count: 1, limits: [] })).toBeUndefined();
    expect(headerParamValue(count, undefined)).toBeUndefined();
    expect(headerParamValue({ ...region, path: ['constructor', 'name'] }, {})).toBeUndefined();
  });

  it('are compared as numbers where they are numbers, else letter by letter (HTTP-037, HTTP-058)', () => {
    expect(headerMatches(count, 42, '42')).toBe(true);
    expect(headerMatches(count, 42, ' 42.0 ')).toBe(true);
    expect(headerMatches(count, 42, '=?base64?NDI=?=')).toBe(true);
    expect(headerMatches(count, 42, '43')).toBe(false);
    expect(headerMatches(count, 0, '')).toBe(false);
    expect(headerMatches(count, 16, '0x10')).toBe(false);
    expect(headerMatches(region, 'a', 'A')).toBe(false);
    expect(headerMatches(region, '42', '42.0')).toBe(false);
    expect(headerMatches(region, 'Hello', '=?base64?SGVsbG8=?=')).toBe(true);
    expect(headerMatches(region, 'Hello', '=?base64?SGVsbG8?=')).toBe(false);
    expect(headerMatches({ ...region, type: 'boolean' }, true, 'true')).toBe(true);
    expect(headerMatches({ ...region, type: 'boolean' }, true, 'TRUE')).toBe(false);
  });

  it('match the header that was written for them', () => {
    const values = fc.oneof(fc.string({ unit: 'grapheme' }), fc.maxSafeInteger(), fc.boolean());
    fc.assert(
      fc.property(values, (value) => {
        const type =
          typeof value === 'number' ? 'integer' : typeof value === 'boolean' ? 'boolean' : 'string';
        expect(headerMatches({ ...region, type }, value, encodeHeaderValue(value))).toBe(true);
      }),
    );
  });
});
