import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cpuMsOf } from '../../../../test/support/cpu-time.js';
import { recoverId, recoverIdFromEnds } from '../../src/wire/recover-id.js';

describe('the id of a broken request is recovered (ERR-018)', () => {
  it.each([
    ['a value that JSON lacks', '{"jsonrpc":"2.0","id":7,"method":"x","params":{"price":Infinity}}', 7],
    ['a value that JSON lacks before the id', '{"jsonrpc":"2.0","method":"x","params":{"a":NaN},"id":7}', 7],
    ['a top-level value that JSON lacks', '{"jsonrpc":"2.0","extra":undefined,"id":7,"method":"x"}', 7],
    ['a missing value', '{"jsonrpc":"2.0","extra":,"id":7,"method":"x"}', 7],
    ['a missing comma behind the id', '{"jsonrpc":"2.0","id":7"method":"x"}', 7],
    ['a missing comma before the id', '{"jsonrpc":"2.0" "id":7,"method":"x"}', 7],
    ['a missing comma inside params', '{"jsonrpc":"2.0","method":"x","params":{"a":1 "b":2},"id":7}', 7],
    ['a trailing comma', '{"jsonrpc":"2.0","method":"x","id":7,}', 7],
    ['a closing brace too many', '{"jsonrpc":"2.0","id":7,"method":"x","params":{}}}', 7],
    ['a closing brace too many right behind the id', '{"jsonrpc":"2.0","method":"x","id":7}}', 7],
    ['a missing closing brace', '{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":1}', 7],
    ['trailing garbage', '{"jsonrpc":"2.0","method":"x","params":{},"id":7} trailing', 7],
    ['a second message glued to it', '{"jsonrpc":"2.0","id":7,"method":"x"}{"jsonrpc":"2.0","id":8}', 7],
    [
      'a message of another writer inside it',
      '{"id":7,"method":"x","params":{"a":"b{"id":8,"method":"y"}',
      7,
    ],
    ['an unescaped quote', '{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"say "hi" now"}}', 7],
    ['a raw tab in a string', '{"jsonrpc":"2.0","method":"x","params":{"a":"\t"},"id":7}', 7],
    ['a bad escape in a string', '{"jsonrpc":"2.0","method":"x","params":{"a":"\\x"},"id":7}', 7],
    ['a nested id lifted by a bracket', '{"id":7,"method":"x","params":{]"a":1,"id":8},"b":2}', 7],
    ['a nested id lifted and broken', '{"id":7,"method":"x","params":{]"a":1,"id":8 9},"b":2}', 7],
    ['white space all over', ' { "id" : 7 , "method" : "x" , "params" : { ', 7],
  ])('from text with %s', (_, text, id) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(recoverId(text)).toBe(id);
  });

  it.each([
    ['{"id":0,"method":"x",', 0],
    ['{"id":-12,"method":"x",', -12],
    ['{"id":9007199254740991,"method":"x",', 9007199254740991],
    ['{"id":"","method":"x",', ''],
    ['{"id":"7","method":"x",', '7'],
    ['{"id":"a\\"b\\\\","method":"x",', 'a"b\\'],
    ['{"id":"\\u00e9é🚀","method":"x",', 'éé🚀'],
    ['{"id":"id","method":"x",', 'id'],
  ])('with its value and type: %s (JRPC-002, JRPC-006)', (text, id) => {
    expect(recoverId(text)).toBe(id);
  });

  it('from truncated text once the id is complete', () => {
    const text = '{"jsonrpc":"2.0","id":712,"method":"x","params":{"id":9,"list":[{"id":8}]}}';
    const complete = text.indexOf('712') + 4;
    for (let length = 0; length < text.length; length++) {
      expect(recoverId(text.slice(0, length))).toBe(length < complete ? undefined : 712);
    }
  });
});

describe('no id is taken', () => {
  it.each([
    ['from a nested object', '{"method":"x","params":{"id":7,"a":Infinity}}'],
    ['from an object in an array', '{"method":"x","params":[{"id":7},'],
    ['from inside a string', '{"method":"\\"id\\":7,","params":{'],
    ['from a string value', '{"method":"id":7,"params":{'],
    ['from a number cut off by the end of the text', '{"method":"x","id":7'],
    ['from a string cut off by the end of the text', '{"method":"x","id":"abc'],
    ['from a string cut off inside an escape', '{"method":"x","id":"abc\\"'],
    ['from a string with an escape that JSON lacks', '{"method":"x","id":"\\x41","params":{'],
    ['from a number broken in two', '{"method":"x","id":7 3,"params":{'],
    ['from a number with a decimal comma', '{"method":"x","id":7,3,"params":{'],
    ['from a string that lost bytes', '{"method":"x","id":"a\uFFFD","params":{'],
    ['when it is null', '{"method":"x","id":null,"params":{'],
    ['when it is a fraction', '{"method":"x","id":1.5,"params":{'],
    ['when it is an exponent', '{"method":"x","id":1e3,"params":{'],
    ['when it is an unsafe integer', '{"method":"x","id":9007199254740993,"params":{'],
    ['when it has hundreds of digits', `{"method":"x","id":${'1'.repeat(400)},"params":{`],
    ['when it has leading zeros', '{"method":"x","id":007,"params":{'],
    ['when it is a boolean', '{"method":"x","id":true,"params":{'],
    ['when it is an object', '{"method":"x","id":{"id":7},"params":{'],
    ['when there are two', '{"id":1,"method":"x","id":2,"params":{'],
    ['under another spelling', '{"ID":7,"Id":8,"method":"x","params":{'],
    ['without quotes around the key', '{id:7,"method":"x"}'],
    ['from an array', '[{"id":7,"method":"x"}'],
    ['from text with something in front', 'log: {"id":7,"method":"x"}'],
    ['when an opening brace is missing', '{"method":"x","params":"a":1,"id":7},"id":8}'],
    ['when a number replaced an opening brace', '{"method":"x","a":3"b":1,"id":7},"id":8}'],
    ['when a comma replaced an opening brace', '{"method":"x","a":,"b":1,"id":7},"id":8}'],
    ['when a closing brace too many came first', '{"method":"x","params":{"a":1},"id":7},"id":8}'],
    ['when a closing brace too many ends the text', '{"method":"x","params":{"a":1},"id":7}}'],
    ['when a quote too many came first', '{"method":"x","params":{"a":"say "},"id":9,"b":"done"},"id":8}'],
    ['when a backslash stands outside a string', '{"method":"x","params":{"a":\\"b"},"id":7}'],
    ['from an empty text', ''],
    ['from white space', '  '],
    ['from a lone brace', '{'],
    ['from a scalar', '7'],
  ])('%s', (_, text) => {
    expect(recoverId(text)).toBeUndefined();
  });

  it.each([
    ['a result', '{"jsonrpc":"2.0","id":7,"result":{"price":Infinity}}'],
    ['an error', '{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"x",}}'],
    ['a result before the id', '{"jsonrpc":"2.0","result":{"price":NaN},"id":7}'],
    ['a result with a nested method', '{"jsonrpc":"2.0","id":7,"result":{"method":"x",}}'],
    ['a result behind the damage', '{"jsonrpc":"2.0","id":7 oops,"result":{}}'],
    ['an error behind a closing brace too many', '{"jsonrpc":"2.0","id":7},"error":{"code":1}}'],
  ])('from %s: the peer could mistake it for an answer to its own request', (_, text) => {
    expect(recoverId(text)).toBeUndefined();
  });

  it('from a result does not hide a request that carries one', () => {
    expect(recoverId('{"id":7,"method":"x","result":{},"params":{')).toBe(7);
  });
});

describe('recovering', () => {
  it('never returns anything but the top-level id, however the text is cut or damaged in one place', () => {
    fc.assert(
      fc.property(message, damage, (members, how) => {
        const { text, idStart, idEnd } = write(members);
        const id = members.find(([key]) => key === 'id')?.[1];
        const damaged = apply(how, text, idStart, idEnd);
        expect([undefined, id]).toContain(recoverId(damaged));
      }),
      { numRuns: 5000 },
    );
  });

  it('always finds an id that stands before the damage and before any object', () => {
    fc.assert(
      fc.property(message, damage, fc.oneof(fc.integer(), fc.string()), (members, how, id) => {
        const opening = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"x",`;
        const rest = write(members.filter(([key]) => key !== 'id' && key !== 'method')).text.slice(1);
        expect(recoverId(opening + apply(how, rest, 0, 0))).toBe(id);
      }),
      { numRuns: 2000 },
    );
  });

  it('never throws', () => {
    const soup = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      '\\',
      ':',
      ',',
      ' ',
      '"id"',
      '"id":1',
      '"method"',
      '1',
      'é',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(soup).map((parts) => parts.join('')),
          fc.string(),
        ),
        (text) => {
          for (const candidate of [text, `{${text}`, `{"id":1,${text}`]) {
            recoverId(candidate);
            recoverIdFromEnds(candidate, text);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['opening braces', '{"a":'],
    ['opening brackets', '['],
    ['backslashes', '\\'],
    ['quotes', '"'],
    ['members', '"a":1,'],
    ['keys', '"a"'],
    ['digits', '1'],
    ['spaces', ' '],
  ])('takes linear time for megabytes of %s', (_, unit) => {
    const text = `{"method":"x","a":"${unit.repeat(2_000_000 / unit.length)}`;
    const bare = `{"method":"x","a":${unit.repeat(2_000_000 / unit.length)}`;
    const took = cpuMsOf(() => {
      recoverId(text);
      recoverId(bare);
      recoverId(`{${bare.slice(18)}`);
    });
    expect(took).toBeLessThan(2000);
  });
});

describe('the id of a line too long to keep', () => {
  const request = '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo","text":"aaaa';

  it('is found in its head', () => {
    expect(recoverIdFromEnds('{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"aaa', 'aaa"}}')).toBe(7);
  });

  it('is found at its very end', () => {
    expect(recoverIdFromEnds(request, 'aaaa"},"id":7}')).toBe(7);
    expect(recoverIdFromEnds(request, 'aaaa"} , "id" : "seven" }\r')).toBe('seven');
  });

  it('is found near its end when only top-level members follow', () => {
    expect(recoverIdFromEnds('{"params":{"a":"aaa', 'aaa"},"id":7,"jsonrpc":"2.0","method":"x"}')).toBe(7);
    expect(recoverIdFromEnds('{"blob":"aaa', 'aaa","id":7,"jsonrpc":"2.0","method":"x"}')).toBe(7);
  });

  it.each([
    ['is nested', request, 'aaa","id":7}}'],
    ['is an object', request, 'aaa"},"id":{"id":7}}'],
    ['is not a valid id', request, 'aaa"},"id":7.5}'],
    ['stands in an unfinished string', request, 'aaa,\\"id\\":7}'],
    ['stands in an object that the line leaves open', request, '{"id":7}'],
    ['lost bytes', request, 'aaa"},"id":"\uFFFD"}'],
    ['has something behind it', request, 'aaa"},"id":7} '.concat('x')],
    ['is the id of a result', '{"jsonrpc":"2.0","result":{"a":"aaa', 'aaa"},"id":7}'],
    ['is the id of an error', '{"jsonrpc":"2.0","error":{"code":1,"message":"aaa', 'aaa"},"id":7}'],
    ['is the id of a result whose kind shows at the end', '{"blob":"aaa', 'aaa","id":7,"result":{}}'],
    ['has nothing that shows a request', '{"blob":"aaa', 'aaa","id":7}'],
    ['follows a head that is no object', 'aaaa', 'aaa","id":7}'],
    ['follows a head that is broken', '{"method":"x", oops "a', 'aaa","id":7}'],
    ['is missing', request, 'aaa"}}'],
  ])('is not taken when it %s', (_, head, tail) => {
    expect(recoverIdFromEnds(head, tail)).toBeUndefined();
  });
});

type Member = readonly [key: string, value: unknown];

/** Keys two edits away from `id`, so that one damage cannot make a new one. */
const otherKey = fc.constantFrom('jsonrpc', 'params', 'name', 'text', '', 'a"b', '\\', '{', '"id":1');
const trickyText = fc.oneof(
  fc.constantFrom(
    '"id":5',
    ',"id":5,',
    '"},"id":5,"a":{"',
    '\\',
    '"',
    '\\"',
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    'id',
  ),
  fc.string({ maxLength: 6 }),
);
const idValue = fc.oneof(fc.integer(), fc.maxSafeInteger(), trickyText);

const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(fc.integer(), trickyText, fc.constantFrom(null, true, 1.5)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc
      .uniqueArray(fc.tuple(fc.oneof(fc.constantFrom('id', 'method'), otherKey), tie('value')), {
        selector: ([key]) => key,
        maxLength: 4,
      })
      .map((entries) => Object.fromEntries(entries)),
  ),
}));

/** The members of a request, in any order, often with an id. */
const message: fc.Arbitrary<Member[]> = fc
  .tuple(
    fc.option(idValue.map((value): Member => ['id', value])),
    fc.uniqueArray(fc.tuple(otherKey, anyValue), { selector: ([key]) => key, maxLength: 4 }),
  )
  .map(([id, others]): Member[] => [['method', 'x'], ...others, ...(id === null ? [] : [id])])
  .chain((members) => fc.shuffledSubarray(members, { minLength: members.length }));

interface Damage {
  readonly kind: 'cut' | 'delete' | 'insert' | 'replace';
  /** Where, as a fraction of the text. */
  readonly place: number;
  readonly char: string;
}

const damage: fc.Arbitrary<Damage> = fc.record({
  kind: fc.constantFrom('cut', 'delete', 'insert', 'replace'),
  place: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  char: fc.constantFrom('"', '\\', '{', '}', '[', ']', ':', ',', ' ', '1', 'x'),
});

function write(members: readonly Member[]): { text: string; idStart: number; idEnd: number } {
  let text = '{';
  let idStart = -1;
  let idEnd = -1;
  for (const [key, value] of members) {
    if (text.length > 1) text += ',';
    if (key === 'id') idStart = text.length;
    text += `${JSON.stringify(key)}:${JSON.stringify(value)}`;
    if (key === 'id') idEnd = text.length;
  }
  return { text: `${text}}`, idStart, idEnd };
}

/** Damage to the id itself, or to what ends it, cannot be told from another id: it is cut there instead. */
function apply({ kind, place, char }: Damage, text: string, idStart: number, idEnd: number): string {
  const at = Math.floor(place * text.length);
  if (kind === 'cut' || (idStart <= at && at <= idEnd)) return text.slice(0, at);
  const before = text.slice(0, at);
  if (kind === 'delete') return before + text.slice(at + 1);
  return before + char + text.slice(kind === 'insert' ? at : at + 1);
}
