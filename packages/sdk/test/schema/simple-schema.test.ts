import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Ajv } from '../../src/schema/ajv-2020.js';
import { compileSimpleSchema } from '../../src/schema/simple-schema.js';

const ajv = new Ajv({
  strict: false,
  ownProperties: true,
  validateFormats: false,
  validateSchema: false,
  addUsedSchema: false,
  logger: false,
});

const NAMES = ['a', 'b', 'constructor', '__proto__', 'toString', ''];
const name = fc.constantFrom(...NAMES);
// ajv passes over a property that is named __proto__ in a schema; here it is a property like any other.
const schemaName = name.filter((each) => each !== '__proto__');
// Nor does it miss a property without a name.
const requiredName = schemaName.filter((each) => each !== '');

const scalar = fc.oneof(
  fc.constantFrom('', 'x', 'xyz', '💡💡', 0, -1, 1.5, 7, true, false, null),
  fc.string({ maxLength: 5, unit: 'binary' }),
  fc.integer({ min: -2, max: 3 }),
);

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc
      .uniqueArray(fc.tuple(name, tie('value')), { maxLength: 4, selector: ([key]) => key })
      .map(Object.fromEntries),
  ),
}));

// Few keywords each, or hardly any value would pass; and three levels, for the full validator compiles them all.
const { schema } = fc.letrec<{ schema: object; inner: object }>((tie) => ({
  inner: fc.oneof({ maxDepth: 2 }, fc.constant({ type: 'string' }), tie('schema')),
  schema: fc
    .uniqueArray(
      fc.oneof(
        keyword('type', fc.constantFrom('string', 'number', 'integer', 'boolean', 'object', 'array', 'null')),
        keyword('enum', fc.array(scalar, { minLength: 1, maxLength: 3 })),
        keyword('required', fc.uniqueArray(requiredName, { maxLength: 2 })),
        keyword(
          'properties',
          fc
            .uniqueArray(fc.tuple(schemaName, tie('inner')), { maxLength: 3, selector: ([key]) => key })
            .map(Object.fromEntries),
        ),
        keyword('additionalProperties', fc.boolean()),
        keyword('items', tie('inner')),
        ...['minimum', 'maximum'].map((each) => keyword(each, fc.integer({ min: -2, max: 3 }))),
        ...['minLength', 'maxLength', 'minItems', 'maxItems'].map((each) =>
          keyword(each, fc.integer({ min: 0, max: 3 })),
        ),
        keyword('title', fc.constant('a title')),
        keyword('x-mcp-header', fc.constant('Region')),
      ),
      { maxLength: 4, selector: ([key]) => key },
    )
    .map(Object.fromEntries),
}));

function keyword<T>(key: string, values: fc.Arbitrary<T>): fc.Arbitrary<[string, T]> {
  return fc.tuple(fc.constant(key), values);
}

describe('simple schemas', () => {
  it('get the same verdict as from the full validator, whatever the schema and the value (JSCH-001)', () => {
    fc.assert(
      fc.property(schema, value, (anySchema, anyValue) => {
        const simple = compileSimpleSchema(anySchema);
        expect(simple).toBeTypeOf('function');
        const verdict = simple?.(anyValue, '') === undefined;
        expect(verdict).toBe(ajv.compile(anySchema)(anyValue));
      }),
      { numRuns: 1000, seed: 20260728 },
    );
  });

  it.each([
    ['a reference', { $ref: '#/$defs/x', $defs: { x: {} } }],
    ['a choice of schemas', { anyOf: [{ type: 'string' }] }],
    ['a pattern', { type: 'string', pattern: '^a' }],
    ['a list of types', { type: ['string', 'null'] }],
    ['objects in an enum', { enum: [{ a: 1 }] }],
    ['a schema for further properties', { type: 'object', additionalProperties: { type: 'string' } }],
    ['a keyword it does not know', { type: 'object', dependentRequired: { a: ['b'] } }],
    ['any of that, deeper down', { type: 'object', properties: { a: { items: { not: {} } } } }],
  ])('leave %s to the full validator', (_what, anySchema) => {
    expect(compileSimpleSchema(anySchema)).toBeUndefined();
  });

  it('check a property named __proto__ like any other', () => {
    const check = compileSimpleSchema(JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'));
    expect(check?.(JSON.parse('{"__proto__":1}'), '')).toBe('__proto__: must be string');
    expect(check?.({}, '')).toBeUndefined();
  });

  it('name the place and the expectation', () => {
    const check = compileSimpleSchema({
      type: 'object',
      properties: { tags: { type: 'array', items: { type: 'string', maxLength: 2 } } },
      required: ['tags'],
    });
    expect(check?.({}, '')).toBe("must have required property 'tags'");
    expect(check?.({ tags: ['ok', 'too long'] }, '')).toBe('tags.1: must have a length <= 2');
    expect(check?.({ tags: ['💡💡'] }, '')).toBeUndefined();
  });
});
