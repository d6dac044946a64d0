import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loginChallenge, parseChallenges, scopesOf } from '../../../src/oauth/discovery/challenge.js';

const plain = (header: string) =>
  parseChallenges(header).map(({ scheme, params }) => [scheme, Object.fromEntries(params)]);

describe('the parser of WWW-Authenticate (AUTH-C-010)', () => {
  it.each([
    ['a bare scheme', 'Bearer', [['bearer', {}]]],
    [
      'quoted and unquoted values',
      'Bearer realm="a b", error=invalid_token',
      [['bearer', { realm: ['a b'], error: ['invalid_token'] }]],
    ],
    ['escapes in quoted values', 'Bearer realm="a\\"b\\\\c"', [['bearer', { realm: ['a"b\\c'] }]]],
    [
      'a comma in a quoted value',
      'Bearer realm="a, b=c", x=y',
      [['bearer', { realm: ['a, b=c'], x: ['y'] }]],
    ],
    [
      'several schemes in any order',
      'Basic realm="x", Bearer scope="a", DPoP algs="ES256"',
      [
        ['basic', { realm: ['x'] }],
        ['bearer', { scope: ['a'] }],
        ['dpop', { algs: ['ES256'] }],
      ],
    ],
    [
      'an opaque value before another scheme',
      'Negotiate YWJjZA==, Bearer scope=a',
      [
        ['negotiate', {}],
        ['bearer', { scope: ['a'] }],
      ],
    ],
    ['spaces around the equals sign', 'Bearer scope = "a b"', [['bearer', { scope: ['a b'] }]]],
    ['names and schemes of any case', 'BEARER Scope="a"', [['bearer', { scope: ['a'] }]]],
    ['a name that is repeated', 'Bearer x=1, x=2', [['bearer', { x: ['1', '2'] }]]],
    ['a name that only ends like another', 'Bearer x_scope="no"', [['bearer', { x_scope: ['no'] }]]],
    ['a quote that is never closed', 'Bearer scope="a', [['bearer', {}]]],
    ['nothing', '', []],
    ['only separators', ' , ,', []],
  ])('reads %s', (_, header, expected) => {
    expect(plain(header)).toEqual(expected);
  });

  it('reads back what was written, whatever the values are', () => {
    const value = fc.string({ unit: fc.constantFrom(...'ab ,="\\;\t/é'), maxLength: 12 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('a', 'b', 'scope'), value), { maxLength: 5 }),
        (pairs) => {
          const written = pairs.map(([name, text]) => `${name}="${text.replace(/["\\]/g, '\\$&')}"`);
          const [challenge] = parseChallenges(`Bearer ${written.join(', ')}`);
          for (const name of ['a', 'b', 'scope']) {
            const wanted = pairs.filter(([each]) => each === name).map(([, text]) => text);
            expect(challenge!.params.get(name) ?? []).toEqual(wanted);
          }
        },
      ),
    );
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.string({ maxLength: 200 }), (text) => Array.isArray(parseChallenges(text))));
  });

  it.each(['=', '"', '\\', ',', 'a=', 'a ', 'Bearer a="\\'])(
    'takes linear time for a megabyte of %j',
    (part) => {
      const started = performance.now();
      parseChallenges(part.repeat(1024 * 1024));
      expect(performance.now() - started).toBeLessThan(2000);
    },
  );
});

describe('the challenge of a login', () => {
  it('joins Bearer and DPoP, and keeps every address of metadata once and in order', () => {
    const header =
      'Basic realm="x", Bearer scope="a b a", resource_metadata="https://a/1", resource_metadata="https://a/2", ' +
      'DPoP resource_metadata="https://a/1"';
    expect(loginChallenge(header)).toEqual({
      resourceMetadata: ['https://a/1', 'https://a/2'],
      scopes: ['a', 'b'],
      error: undefined,
    });
  });

  it('is missing where no scheme is for a login', () => {
    expect(loginChallenge('Basic realm="x"')).toBeUndefined();
    expect(loginChallenge(undefined)).toBeUndefined();
  });

  it('splits scopes at spaces', () => {
    expect(scopesOf(' a  b a ')).toEqual(['a', 'b']);
    expect(scopesOf(undefined)).toEqual([]);
  });
});
