/** Forms on a terminal: what is asked, what is taken, and what is asked again. */
import { PassThrough } from 'node:stream';
import type { ElicitFormParams, PrimitiveSchema } from '@isthmus/sdk/internal/wire/model.js';
import { describe, expect, it } from 'vitest';
import { askForm, askUrl, createPrompter, fillForm } from '../../src/terminal/ask-form.js';
import { formFields } from '../../src/terminal/form-field.js';
import { createStyle } from '../../src/terminal/terminal.js';

const TITLED = [
  { const: 'r', title: 'Red' },
  { const: 'g', title: 'Green' },
];

describe('a field', () => {
  it.each<{ schema: PrimitiveSchema; takes: [string, unknown][]; refuses: string[] }>([
    {
      schema: { type: 'string', minLength: 2, maxLength: 4 },
      takes: [
        ['abc', 'abc'],
        ['😀😀', '😀😀'],
      ],
      refuses: ['a', 'abcde'],
    },
    { schema: { type: 'string', format: 'email' }, takes: [['a@b.c', 'a@b.c']], refuses: ['a', 'a b@c'] },
    { schema: { type: 'string', format: 'uri' }, takes: [['x:y', 'x:y']], refuses: ['example.com/x'] },
    {
      schema: { type: 'string', format: 'date' },
      takes: [['2024-02-29', '2024-02-29']],
      refuses: ['2023-02-29', '1.2.2024', '2024-13-01'],
    },
    {
      schema: { type: 'string', format: 'date-time' },
      takes: [['2024-02-29T10:00:00Z', '2024-02-29T10:00:00Z']],
      refuses: ['2024-02-29', '2024-02-29T10:00:00', '2024-02-29T25:00:00Z'],
    },
    {
      schema: { type: 'integer', minimum: 1, maximum: 10 },
      takes: [['7', 7]],
      refuses: ['0', '11', '1.5', 'x'],
    },
    { schema: { type: 'number', maximum: 1 }, takes: [['-0.5', -0.5]], refuses: ['1.1', 'Infinity', 'x'] },
    {
      schema: { type: 'boolean' },
      takes: [
        ['y', true],
        ['No', false],
        ['true', true],
      ],
      refuses: ['maybe', '1'],
    },
    {
      schema: { type: 'string', enum: ['a', 'b'] },
      takes: [
        ['b', 'b'],
        ['1', 'a'],
      ],
      refuses: ['c', '0', '3'],
    },
    {
      schema: { type: 'string', enum: ['2', '1'] },
      takes: [
        ['2', '2'],
        ['1', '1'],
      ],
      refuses: ['3'],
    },
    {
      schema: { type: 'string', oneOf: TITLED },
      takes: [
        ['red', 'r'],
        ['g', 'g'],
        ['2', 'g'],
      ],
      refuses: ['x'],
    },
    {
      schema: { type: 'string', enum: ['x', 'y'], enumNames: ['Ex', 'Why'] },
      takes: [
        ['why', 'y'],
        ['x', 'x'],
      ],
      refuses: ['z'],
    },
    {
      schema: { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string', enum: ['a', 'b', 'c'] } },
      takes: [
        ['a', ['a']],
        ['1, c', ['a', 'c']],
        ['b,b', ['b']],
      ],
      refuses: ['', 'a,b,c', 'd'],
    },
    { schema: { type: 'array', items: { anyOf: TITLED } }, takes: [['Green,r', ['g', 'r']]], refuses: ['x'] },
  ])('$schema', ({ schema, takes, refuses }) => {
    const [field] = formFields({ type: 'object', properties: { f: schema } });
    for (const [text, value] of takes) expect(field!.parse(text)).toEqual({ ok: true, value });
    for (const text of refuses) expect(field!.parse(text).ok, text).toBe(false);
  });
});

const FORM: ElicitFormParams = {
  message: 'Who are you?\u001b[2J',
  requestedSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Your name' },
      age: { type: 'integer', minimum: 0, description: 'In years' },
      colour: { type: 'string', oneOf: TITLED, default: 'g' },
      news: { type: 'boolean' },
    },
    required: ['name'],
  },
};

describe('a form', () => {
  it('asks field by field, asks again, takes defaults and skips what is optional', async () => {
    const { result, shown } = await ask(FORM, ['', 'Ada', 'old', '36', '', '', '']);
    expect(result).toEqual({ action: 'accept', content: { name: 'Ada', age: 36, colour: 'g' } });
    for (const text of [
      'somebody asks: Who are you?',
      '(text; required)',
      'An answer is required',
      'In years (whole number, at least 0; optional)',
      'Enter a whole number',
      '  1  Red  r\n  2  Green  g\n',
      'colour [g]: ',
    ]) {
      expect(shown).toContain(text);
    }
    expect(shown).not.toContain('\u001b');
  });

  it('is declined at the end, and cancelled by the end of input', async () => {
    expect((await ask(FORM, ['Ada', '', '', '', 'n'])).result).toEqual({ action: 'decline' });
    expect((await ask(FORM, ['Ada'])).result).toEqual({ action: 'cancel' });
    expect((await ask(FORM, ['Ada', '', '', ''])).result).toEqual({ action: 'cancel' });
  });

  it('does not ask what was answered beforehand, unless that does not fit', async () => {
    const given = new Map([
      ['name', 'Ada'],
      ['age', 'old'],
    ]);
    const { result } = await ask(FORM, ['36', 'red', 'y', 'y'], given);
    expect(result).toEqual({ action: 'accept', content: { name: 'Ada', age: 36, colour: 'r', news: true } });
  });

  it('without fields is a question to accept', async () => {
    const empty: ElicitFormParams = { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } };
    expect((await ask(empty, [''])).result).toEqual({ action: 'accept', content: {} });
    expect((await ask(empty, ['no'])).result).toEqual({ action: 'decline' });
  });

  it('ends when nobody waits for the answer any more', async () => {
    const { options, abort } = setUp([]);
    const asked = askForm(FORM, options);
    abort();
    expect(await asked).toEqual({ action: 'cancel' });
  });

  it('is filled in from answers given beforehand and defaults, or says what is wrong', () => {
    expect(
      fillForm(
        FORM,
        new Map([
          ['name', 'Ada'],
          ['news', 'no'],
        ]),
      ),
    ).toEqual({
      content: { name: 'Ada', colour: 'g', news: false },
      problems: [],
    });
    expect(fillForm(FORM, new Map([['age', 'x']])).problems).toEqual([
      'name is missing (text)',
      'age: Enter a whole number',
    ]);
  });
});

describe('a URL', () => {
  const question = { mode: 'url', message: 'Sign in', url: 'https://example.com/x' } as const;

  it('is shown with its host, and a mere Enter agrees to nothing', async () => {
    const { options, output } = setUp(['', 'y']);
    expect(await askUrl(question, options)).toEqual({ action: 'accept' });
    expect(output()).toContain('https://example.com/x\n  It leads to example.com.');
  });

  it('is declined, or cancelled by the end of input', async () => {
    expect(await askUrl(question, setUp(['n']).options)).toEqual({ action: 'decline' });
    expect(await askUrl(question, setUp([], true).options)).toEqual({ action: 'cancel' });
  });
});

async function ask(form: ElicitFormParams, lines: string[], given?: ReadonlyMap<string, string>) {
  const { options, output } = setUp(lines, true, given);
  return { result: await askForm(form, options), shown: output() };
}

/** Types a line whenever there is a prompt, then ends the input. */
function setUp(lines: string[], ends = false, given: ReadonlyMap<string, string> = new Map()) {
  const input = new PassThrough();
  const output = new PassThrough();
  let shown = '';
  const waiting = [...lines];
  output.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    if (!/(: |\] )$/.test(text)) return;
    const line = waiting.shift();
    if (line !== undefined) input.write(`${line}\n`);
    else if (ends) input.end();
  });
  const over = new AbortController();
  const options = {
    prompter: createPrompter(input, output, { terminal: false, onInterrupt: () => {} }),
    style: createStyle(false, {}),
    asker: 'somebody',
    given,
    signal: over.signal,
  };
  return { options, output: () => shown, abort: () => over.abort() };
}
