/** The line of a key in TOML, which the parser does not tell. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { findTomlOffsets } from '../../../src/config/documents/parse-toml.js';

function linesOf(text: string): Record<string, number> {
  return Object.fromEntries(
    [...findTomlOffsets(text)].map(([path, offset]) => [
      (JSON.parse(path) as string[]).join('.'),
      text.slice(0, offset).split('\n').length,
    ]),
  );
}

it('finds tables and keys, and is not misled by what is inside of values', () => {
  const text = [
    'top = 1 # [no]',
    'lists = [',
    '  ["a]"],',
    '  [ # ]',
    '    { x = 1 } ],',
    ']',
    'after = """',
    '[fake]',
    'key = \\"""',
    '"""',
    "raw = '''",
    "[fake]'''",
    'quote = "a\\"[b"',
    "[ a . 'b c' ]",
    'd.e = 1',
    '"f\\u0067" = 2',
    '[[many]]',
    'x = 1',
  ].join('\r\n');
  expect(linesOf(text)).toEqual({
    top: 1,
    lists: 2,
    after: 7,
    raw: 11,
    quote: 13,
    a: 14,
    'a.b c': 14,
    'a.b c.d': 15,
    'a.b c.d.e': 15,
    'a.b c.fg': 16,
    many: 17,
    'many.x': 18,
  });
});

it('comes to an end whatever the text', () => {
  const piece = fc.constantFrom('[', ']', '"', '"""', "'''", '\\', '=', '.', '#', '\n', 'a', '{', '}', ' ');
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(piece).map((parts) => parts.join('')),
      ),
      (text) => {
        findTomlOffsets(text);
      },
    ),
  );
});
