// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the references of configuration files look like that.
/** References in the texts of a file. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expand, resolverOf } from '../../src/config/expand.js';
import { read, server } from '../support/config.js';

function expanded(text: string, env: Record<string, string | undefined> = {}) {
  const inputs = new Map([['id', 'given']]);
  const result = expand(text, resolverOf({ env, workspaceFolder: '/work/shop', home: '/home/ada', inputs }));
  return result.kind === 'text'
    ? result.text
    : `failed: ${result.failures.map(({ reason }) => reason).join('; ')}`;
}

describe('expansion', () => {
  it.each<[string, string]>([
    ['', ''],
    ['plain $A {B} $$ $', 'plain $A {B} $$ $'],
    ['${A}', 'a'],
    ['<${A}${A}>', '<aa>'],
    ['${env:A}', 'a'],
    ['${env:ProgramFiles(x86)}', 'C:\\x86'],
    ['${EMPTY}', ''],
    ['${EMPTY:-d}', 'd'],
    ['${A:-d}', 'a'],
    ['${NONE:-d}', 'd'],
    ['${NONE:-}', ''],
    ['${env:NONE:-a:-b}', 'a:-b'],
    ['${NONE:-two\nlines}', 'two\nlines'],
    ['${input:id}', 'given'],
    ['${workspaceFolder}', '/work/shop'],
    ['${workspaceFolderBasename}', 'shop'],
    ['${userHome}', '/home/ada'],
    ['${/}${pathSeparator}', '//'],
    // The escape, and what it does not touch.
    ['$${A}', '${A}'],
    ['$$${A}', '$${A}'],
    ['$$A', '$$A'],
    // Not ours: the expansions of a shell.
    ['${}', '${}'],
    ['${list[@]} ${#A} ${A:0:3} ${A:?x} ${A:=x} ${1}', '${list[@]} ${#A} ${A:0:3} ${A:?x} ${A:=x} ${1}'],
    ['${A', '${A'],
    // What comes out is not looked at again.
    ['${NESTED}', '${A} $${A}'],
    ['${DOLLAR}{A}', '${A}'],
    ['$${DOLLAR}', '${DOLLAR}'],
  ])('%j becomes %j', (text, result) => {
    const env = { A: 'a', EMPTY: '', NESTED: '${A} $${A}', DOLLAR: '$', 'ProgramFiles(x86)': 'C:\\x86' };
    expect(expanded(text, env)).toBe(result);
  });

  it.each<[string, string]>([
    ['${NONE}', 'failed: the variable NONE is not set'],
    ['${env:NONE}', 'failed: the variable NONE is not set'],
    ['${A}${NONE}${ALSO}', 'failed: the variable NONE is not set; the variable ALSO is not set'],
    [
      '${constructor}${__proto__}',
      'failed: the variable constructor is not set; the variable __proto__ is not set',
    ],
    ['${input:other}', 'failed: ${input:other} has no value: an editor would ask for it'],
    ['${command:pick.one}', 'failed: ${command:…} is a variable that only its own application can resolve'],
    ['${file:/run/token}', 'failed: ${file:…} is a variable that only its own application can resolve'],
    ['${A:-${B}}', 'failed: the default of A cannot contain a ${…}'],
  ])('%j fails', (text, reason) => {
    expect(expanded(text, { A: 'a' })).toBe(reason);
  });
});

const name = fc.stringMatching(/^[A-Z_]{1,3}$/);
/** Texts full of what matters. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom('$', '{', '}', '${', '$${', ':-', ':', 'env:', 'input:', '/', 'A', '~'),
      fc.string(),
    ),
  )
  .map((parts) => parts.join(''));

describe('expansion, whatever the text', () => {
  it('never throws, and gives back what has no reference in it', () => {
    fc.assert(
      fc.property(text, fc.dictionary(name, fc.option(text, { nil: undefined })), (given, env) => {
        const result = expanded(given, env);
        expect(typeof result).toBe('string');
        if (!given.includes('${')) expect(result).toBe(given);
      }),
    );
  });

  it('puts a value in as it is, however much it looks like a reference', () => {
    fc.assert(
      fc.property(text, (value) => {
        expect(expanded('<${A}|${env:A}>', { A: value, B: 'b' })).toBe(`<${value}|${value}>`);
      }),
    );
  });

  it('gives back what was escaped', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('${', 'A', '}', 'x', ' ')), (parts) => {
        const escaped = parts.map((part) => (part === '${' ? '$${' : part)).join('');
        expect(expanded(escaped, { A: 'a' })).toBe(parts.join(''));
      }),
    );
  });

  it('never shows a value in a problem', async () => {
    const secret = 'hunter2';
    await fc.assert(
      fc.asyncProperty(text, async (given) => {
        const value = {
          command: `${secret}${given}\${MISSING}`,
          args: [secret, `\${S}${given}`],
          type: secret,
        };
        const { problems } = await read(server(value), { env: { S: secret } });
        expect(problems.join('\n')).not.toContain(secret);
      }),
      { numRuns: 30 },
    );
  });
});
