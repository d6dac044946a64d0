/** What key=value means for a tool. */

import type { Tool } from '@isthmus/sdk/internal/wire/model.js';
import { describe, expect, it } from 'vitest';
import { signature } from '../../src/arguments/describe-schema.js';
import { fromJson, readArguments, toAssignment } from '../../src/arguments/read-arguments.js';
import { suggest } from '../../src/arguments/suggest.js';

const tool: Tool = {
  name: 'mix',
  inputSchema: {
    type: 'object',
    $defs: { Level: { enum: [1, 2, 'max'] } },
    properties: {
      text: { type: 'string', description: 'What to say' },
      n: { type: 'number' },
      count: { type: 'integer' },
      on: { type: 'boolean' },
      maybe: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      either: { type: ['string', 'number'] },
      tags: { type: 'array', items: { type: 'string' } },
      sizes: { type: 'array', items: { type: 'integer' } },
      things: { type: 'array' },
      where: { type: 'object' },
      level: { $ref: '#/$defs/Level' },
      free: {},
    },
    required: ['text'],
  },
};

function values(...words: string[]) {
  return readArguments(['text=t', ...words].map(toAssignment), tool);
}

describe('arguments', () => {
  it.each([
    { words: ['n=1.5'], gives: { n: 1.5 } },
    { words: ['n=-2e3'], gives: { n: -2000 } },
    { words: ['count=3'], gives: { count: 3 } },
    { words: ['on=true'], gives: { on: true } },
    { words: ['on=false'], gives: { on: false } },
    { words: ['maybe=7'], gives: { maybe: 7 } },
    { words: ['maybe=null'], gives: { maybe: null } },
    { words: ['either=5'], gives: { either: '5' } },
    { words: ['either:=5'], gives: { either: 5 } },
    { words: ['tags=a', 'tags=b,c'], gives: { tags: ['a', 'b,c'] } },
    { words: ['tags=["a","b"]'], gives: { tags: ['a', 'b'] } },
    { words: ['sizes=1', 'sizes=2'], gives: { sizes: [1, 2] } },
    { words: ['things=[1,"a"]'], gives: { things: [1, 'a'] } },
    { words: ['where={"a":{"b":1}}'], gives: { where: { a: { b: 1 } } } },
    { words: ['level=2'], gives: { level: 2 } },
    { words: ['level=max'], gives: { level: 'max' } },
    { words: ['free=5'], gives: { free: '5' } },
    { words: ['other=5'], gives: { other: '5' } },
    { words: ['other:={"a":[1]}'], gives: { other: { a: [1] } } },
    { words: ['free=a=b:=c'], gives: { free: 'a=b:=c' } },
    { words: ['free='], gives: { free: '' } },
  ])('$words are typed by the schema', ({ words, gives }) => {
    expect(values(...words)).toEqual({ text: 't', ...gives });
  });

  it.each([
    { word: 'n=abc', says: 'The argument n must be a number, got "abc"' },
    { word: 'n=', says: 'The argument n must be a number, got ""' },
    { word: 'count=1.5', says: 'The argument count must be a whole number, got "1.5"' },
    { word: 'on=yes', says: 'The argument on must be true or false, got "yes"' },
    { word: 'where=x', says: 'The argument where must be a JSON object, got "x"' },
    { word: 'things=x', says: 'The argument things must be a JSON array, got "x"' },
    { word: 'level=3', says: 'The argument level must be one of 1, 2, max, got "3"' },
    { word: 'free:={', says: 'The argument free must be JSON, got "{"' },
    { word: 'text=again', says: 'The argument text is given twice' },
  ])('$word is a usage error', ({ word, says }) => {
    expect(() => values(word)).toThrow(expect.objectContaining({ exitCode: 2, message: says }));
  });

  it('that are missing are named, with all that the tool takes', () => {
    expect(() => readArguments([], tool)).toThrow(
      expect.objectContaining({
        exitCode: 2,
        message: 'mix needs text (string)',
        evidence: expect.arrayContaining([
          expect.stringMatching(/^ {2}text +string +required +What to say$/),
        ]),
      }),
    );
  });

  it('that the schema forbids are refused; without a schema all are texts', () => {
    const strict: Tool = { name: 's', inputSchema: { type: 'object', additionalProperties: false } };
    expect(() => readArguments([toAssignment('a=1')], strict)).toThrow('s has no argument "a"');
    expect(readArguments([toAssignment('a=1'), toAssignment('b:=1')], undefined)).toEqual({ a: '1', b: 1 });
  });

  it('come as one object with --args', () => {
    expect(fromJson('{"a":[1]}')).toEqual({ a: [1] });
    for (const text of ['[1]', 'null', '{', '"a"']) {
      expect(() => fromJson(text)).toThrow(expect.objectContaining({ exitCode: 2 }));
    }
  });

  it('__proto__ is a key like any other', () => {
    const read = readArguments([toAssignment('__proto__:={"a":1}')], undefined);
    expect(Object.keys(read)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
  });

  it('a schema that refers to itself ends', () => {
    const loop = { type: 'object', properties: { a: { $ref: '#/properties/a' } } } as const;
    expect(signature(loop)).toBe('[a:any]');
  });

  it('are summed up in one line', () => {
    expect(signature(tool.inputSchema)).toBe(
      'text:string [n:number] [count:integer] [on:boolean] [maybe:integer|null] [either:string|number] ' +
        '[tags:string[]] [sizes:integer[]] [things:array] [where:object] [level:1|2|max] [free:any]',
    );
  });
});

describe('a misspelt tool', () => {
  it.each([
    { name: 'ehco', meant: 'echo' },
    { name: 'ECHO', meant: 'echo' },
    { name: 'long-running', meant: 'trigger-long-running' },
    { name: 'zzz', meant: undefined },
  ])('$name: $meant', ({ name, meant }) => {
    expect(suggest(name, ['add', 'echo', 'trigger-long-running'])).toBe(meant);
  });
});
