import { describe, expect, it } from 'vitest';
import { BareNames } from '../../src/aggregate/bare-names.js';

const names = (count: number, start: string) => Array.from({ length: count }, (_, at) => `${start}${at}`);

describe('the tools by their own names', () => {
  const ada = (...scopes: string[]) => ({ principal: 'ada', scopes });

  it('belong to the token that has seen them, in whatever order its scopes are', () => {
    const bare = new BareNames();
    bare.learn(ada('a', 'b'), 'files', ['read'], true);
    bare.learn(ada('a'), 'mail', ['send'], true);
    expect([bare.of(ada('b', 'a'), 'read'), bare.of(ada('a'), 'read')]).toEqual([['files'], []]);
    expect(bare.of({ principal: 'bob', scopes: ['a', 'b'] }, 'read')).toEqual([]);
    expect([bare.ofAny('ada', 'read'), bare.ofAny('ada', 'send')]).toEqual([['files'], ['mail']]);
    bare.forget('files');
    expect([bare.isEmpty(ada('a', 'b')), bare.isEmpty(ada('a'))]).toEqual([true, false]);
  });

  it('are at most 2000 of one person, of 8 tokens: what was used last stays', () => {
    const bare = new BareNames();
    for (let at = 0; at < 9; at += 1) bare.learn(ada(`scope-${at}`), 'files', ['read'], true);
    expect([bare.isEmpty(ada('scope-0')), bare.isEmpty(ada('scope-1'))]).toEqual([true, false]);
    bare.learn(ada('scope-8'), 'files', names(1993, 'tool-'), false);
    expect([bare.isEmpty(ada('scope-1')), bare.isEmpty(ada('scope-2'))]).toEqual([true, false]);
    bare.learn(ada('all'), 'files', names(2001, 'tool-'), true);
    expect(bare.isEmpty(ada('scope-8'))).toBe(true);
    expect([bare.of(ada('all'), 'tool-0'), bare.of(ada('all'), 'tool-2000')]).toEqual([[], ['files']]);
  });
});
