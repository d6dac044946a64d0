import { describe, expect, it } from 'vitest';
import { judgeResult, judgeServerRequest, type Revision } from '../../src/shapes/index.js';
import { said } from '../support/shapes/said.js';

const FORM = {
  message: 'Who are you?',
  requestedSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Name', minLength: 1, maxLength: 40 },
      mail: { type: 'string', format: 'email' },
      age: { type: 'integer', minimum: 0, maximum: 150 },
      share: { type: 'number' },
      yes: { type: 'boolean', default: true },
      colour: { type: 'string', enum: ['r', 'g'], enumNames: ['Red', 'Green'] },
    },
    required: ['name'],
  },
};

const saidOf = (params: unknown, revision: Revision = '2025-11-25') =>
  said(judgeServerRequest('elicitation/create', params, revision));
const saidOfField = (field: unknown, revision?: Revision) =>
  saidOf({ message: 'a', requestedSchema: { type: 'object', properties: { f: field } } }, revision);

describe('forms (ELIC-005, ELIC-006)', () => {
  it('fields of every kind are known in both revisions', () => {
    expect(saidOf(FORM, '2025-06-18')).toEqual([]);
    expect(saidOf({ ...FORM, mode: 'form' })).toEqual([]);
  });

  it('elicitation came with 2025-06-18', () => {
    expect(saidOf(FORM, '2025-03-26')).toEqual([
      'method: expected a request of a server of 2025-03-26, got "elicitation/create"',
    ]);
  });

  it.each<[unknown, string]>([
    [undefined, 'params: expected an object, got nothing'],
    [{ ...FORM, message: undefined }, 'params.message: expected a string, got nothing'],
    [{ message: 'a' }, 'params.requestedSchema: expected an object, got nothing'],
    [
      { message: 'a', requestedSchema: { type: 'object' } },
      'params.requestedSchema.properties: expected an object, got nothing',
    ],
    [
      { message: 'a', requestedSchema: { type: 'array', properties: {} } },
      'params.requestedSchema.type: expected "object", got "array"',
    ],
    [
      { message: 'a', requestedSchema: { type: 'object', properties: {}, required: 'a' } },
      'params.requestedSchema.required: expected an array, got "a"',
    ],
    [{ ...FORM, mode: 'voice' }, 'params.mode: expected "form" or "url", got "voice"'],
    [
      { ...FORM, _meta: { progressToken: 1.5 } },
      'params._meta.progressToken: expected a string or an integer, got 1.5',
    ],
    [{ ...FORM, task: { ttl: 'long' } }, 'params.task.ttl: expected an integer of 0 or more, got "long"'],
  ])('complains about %j', (params, complaint) => {
    expect(saidOf(params)).toEqual([complaint]);
  });

  it.each<[unknown, string]>([
    [
      { type: 'object', properties: {} },
      '.type: expected "string", "number", "integer", "boolean" or "array", got "object"',
    ],
    [{}, '.type: expected "string", "number", "integer", "boolean" or "array", got nothing'],
    ['string', ': expected an object, got "string"'],
    [
      { type: 'string', format: 'password' },
      '.format: expected "email", "uri", "date" or "date-time", got "password"',
    ],
    [{ type: 'string', minLength: -1 }, '.minLength: expected an integer of 0 or more, got -1'],
    [{ type: 'string', maxLength: '9' }, '.maxLength: expected an integer of 0 or more, got "9"'],
    [{ type: 'string', default: 5 }, '.default: expected a string, got 5'],
    [{ type: 'string', title: 5 }, '.title: expected a string, got 5'],
    [{ type: 'string', enum: 'a' }, '.enum: expected an array, got "a"'],
    [{ type: 'string', enum: [1] }, '.enum[0]: expected a string, got 1'],
    [{ type: 'string', enum: ['a'], enumNames: [1] }, '.enumNames[0]: expected a string, got 1'],
    [{ type: 'string', oneOf: [{ const: 'a' }] }, '.oneOf[0].title: expected a string, got nothing'],
    [{ type: 'integer', minimum: '0' }, '.minimum: expected a number, got "0"'],
    [{ type: 'number', default: '0' }, '.default: expected a number, got "0"'],
    [{ type: 'boolean', default: 'yes' }, '.default: expected a boolean, got "yes"'],
    [{ type: 'array' }, '.items: expected an object, got nothing'],
    [{ type: 'array', items: { type: 'string' } }, '.items.enum: expected an array, got nothing'],
    [
      { type: 'array', items: { type: 'number', enum: ['a'] } },
      '.items.type: expected "string", got "number"',
    ],
    [
      { type: 'array', items: { anyOf: [{ title: 'A' }] } },
      '.items.anyOf[0].const: expected a string, got nothing',
    ],
    [
      { type: 'array', items: { type: 'string', enum: ['a'] }, minItems: 0.5 },
      '.minItems: expected an integer of 0 or more, got 0.5',
    ],
    [
      { type: 'array', items: { type: 'string', enum: ['a'] }, default: 'a' },
      '.default: expected an array, got "a"',
    ],
  ])('complains about a field %j', (field, complaint) => {
    expect(saidOfField(field)).toEqual([`params.requestedSchema.properties.f${complaint}`]);
  });

  it('choices of several, and titles, came with 2025-11-25', () => {
    const several = { type: 'array', items: { type: 'string', enum: ['a'] }, minItems: 1, default: ['a'] };
    const titled = { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } };
    const one = { type: 'string', oneOf: [{ const: 'a', title: 'A' }], default: 'a' };
    for (const field of [several, titled, one]) expect(saidOfField(field)).toEqual([]);
    expect(saidOfField(several, '2025-06-18')).toEqual([
      'params.requestedSchema.properties.f.type: expected "string", "number", "integer" or "boolean", got "array"',
    ]);
    expect(saidOfField({ type: 'string', oneOf: 'unknown yet', default: 5 }, '2025-06-18')).toEqual([]);
  });
});

describe('visits (ELIC-007)', () => {
  const visit = { mode: 'url', message: 'Sign in', url: 'https://example.com/in', elicitationId: 'e1' };

  it('need an id in 2025-11-25 alone', () => {
    const { elicitationId, ...bare } = visit;
    expect(saidOf(visit)).toEqual([]);
    expect(saidOf(bare)).toEqual(['params.elicitationId: expected a string, got nothing']);
    const inputRequests = { a: { method: 'elicitation/create', params: bare } };
    expect(
      said(judgeResult('tools/call', { resultType: 'input_required', inputRequests }, '2026-07-28')),
    ).toEqual([]);
  });

  it('go to a URL', () => {
    expect(saidOf({ ...visit, url: 'example.com' })).toEqual([
      'params.url: expected a URI (RFC 3986), got "example.com"',
    ]);
    expect(saidOf({ ...visit, message: 1 })).toEqual(['params.message: expected a string, got 1']);
  });
});
