import { problemOfSchema, problemOfValue } from '@isthmus/check/internal/suites/tools/validator.js';
import { OutputChecks } from '@isthmus/sdk/internal/client/result-checks.js';
import { compileJsonSchema } from '@isthmus/sdk/internal/schema/json-schema.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { describe, expect, it } from 'vitest';

/** Schemas of a server, each with a value that makes the check take minutes or more. */
const HOSTILE: readonly (readonly [string, JsonObject, unknown])[] = [
  [
    'a pattern that backtracks without end',
    { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } },
    { a: `${'a'.repeat(60)}!` },
  ],
  [
    'names of properties that backtrack without end',
    { type: 'object', patternProperties: { '^(a|a)*$': { type: 'string' } } },
    { [`${'a'.repeat(60)}!`]: 1 },
  ],
  [
    'unique items of a long array of objects',
    { type: 'object', properties: { a: { type: 'array', uniqueItems: true } } },
    { a: Array.from({ length: 200_000 }, (_, n) => ({ n })) },
  ],
  [
    'references that double the work at each step',
    {
      type: 'object',
      allOf: [{ $ref: '#/$defs/d0' }],
      $defs: Object.fromEntries(
        Array.from({ length: 41 }, (_, n) => [
          `d${n}`,
          n === 40
            ? { type: 'object' }
            : { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
        ]),
      ),
    },
    {},
  ],
];

describe('S9: an output schema of a hostile server', () => {
  it.each(HOSTILE)(
    'with %s is given up after a second, and not used again (JSCH-010)',
    async (_, schema, value) => {
      const checks = new OutputChecks();
      checks.learn({ tools: [{ name: 'trap', inputSchema: { type: 'object' }, outputSchema: schema }] });
      const check = () => checks.check('trap', { content: [], structuredContent: value });
      const refusal = {
        code: 'INVALID_RESULT',
        message:
          'The result of trap cannot be checked: The schema of tool trap (output) cannot be used: ' +
          'a check with it takes longer than 1000 ms',
      };
      await expect(check()).rejects.toMatchObject(refusal);
      const before = process.cpuUsage();
      await expect(check()).rejects.toMatchObject(refusal);
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1000).toBeLessThan(300);
    },
  );

  it('that recurses without end fails the call, not the program', async () => {
    const checks = new OutputChecks();
    const schema = {
      type: 'object',
      allOf: [{ $ref: '#/$defs/a' }],
      $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } },
    };
    checks.learn({ tools: [{ name: 'trap', outputSchema: schema }] });
    await expect(checks.check('trap', { structuredContent: {} })).rejects.toMatchObject({
      code: 'INVALID_RESULT',
    });
  });

  it('with many properties against many small values takes the time of one walk', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 9000 }, (_, n) => [`p${n}`, { type: 'string' }]),
    );
    const check = compileJsonSchema(
      { type: 'object', properties: { a: { type: 'array', items: { type: 'object', properties } } } },
      'tool trap',
    );
    const value = { a: Array.from({ length: 200_000 }, () => ({})) };
    const before = process.cpuUsage();
    expect(await check(value)).toMatchObject({ ok: true });
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(2000);
  });

  it('still passes and fails values where it is harmless', async () => {
    const checks = new OutputChecks();
    const schema = { type: 'object', properties: { a: { type: 'string', pattern: '^[a-z]+$' } } };
    checks.learn({ tools: [{ name: 'good', outputSchema: schema }] });
    await checks.check('good', { structuredContent: { a: 'abc' } });
    await expect(checks.check('good', { structuredContent: { a: 'ABC' } })).rejects.toMatchObject({
      message: 'The result of good does not fit the tool\'s output schema: a: must match pattern "^[a-z]+$"',
    });
  });
});

describe('S9: the referee', () => {
  it('says that the check was stopped when a schema of the server takes too long', async () => {
    const [, schema, value] = HOSTILE[0]!;
    expect(await problemOfSchema(schema)).toBe(undefined);
    expect(await problemOfValue(schema, value)).toBe('the check was stopped: it took longer than 2000 ms');
    // Workers of a busy machine take their time to start.
  }, 120_000);
});
