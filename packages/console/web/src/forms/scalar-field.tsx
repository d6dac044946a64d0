import { useState } from 'preact/hooks';
import { plain } from '../parts/text.js';
import { ABSENT, type Draft, NULL } from './draft.js';
import type { FieldProps } from './field.js';
import { numberOf, textOf } from './schema.js';
import type { FieldShape } from './shape.js';

interface ScalarProps extends FieldProps {
  readonly shape: FieldShape;
  readonly id: string;
  readonly label: string;
  readonly describedBy?: string;
}

/** A text or a number. What is typed stays as it is typed. */
export function ScalarField({ form, shape, draft, onChange, id, label, describedBy, path }: ScalarProps) {
  const { schema } = shape;
  const isNumber = shape.kind !== 'string';
  const text = draft.kind === 'string' || draft.kind === 'number' ? draft.text : '';
  const [wasLong] = useState(() => isLong(schema, text));
  const suggestions = suggestionsOf(form.suggestions?.(label) ?? [], schema['examples']);
  const type = (value: string) => {
    if (isNumber && value === '') onChange(ABSENT);
    else onChange({ kind: isNumber ? 'number' : 'string', text: value });
  };
  const shared = {
    id,
    'aria-describedby': describedBy,
    'aria-invalid': form.advice.has(path) || undefined,
    placeholder: draft.kind === 'absent' ? placeholderOf(schema['default']) : '',
    spellcheck: false,
    disabled: form.isDisabled === true,
  };
  if (!isNumber && schema['contentEncoding'] === 'base64')
    return (
      <div class="stack">
        <textarea {...shared} rows={2} value={text} onInput={(event) => type(event.currentTarget.value)} />
        <input
          type="file"
          aria-label={`file for ${plain(label)}`}
          onChange={(event) => void readFile(event.currentTarget, type)}
        />
      </div>
    );
  // The element does not change while a person types, so that the focus stays.
  if (!isNumber && (wasLong || text.includes('\n')))
    return (
      <textarea
        {...shared}
        class="grows"
        rows={Math.min(12, Math.max(2, text.split('\n').length))}
        value={text}
        onInput={(event) => type(event.currentTarget.value)}
      />
    );
  return (
    <>
      <input
        {...shared}
        type="text"
        class={isNumber ? 'number' : ''}
        inputMode={isNumber ? 'decimal' : undefined}
        list={suggestions.length > 0 ? `${id}-list` : undefined}
        autocomplete="off"
        value={text}
        onInput={(event) => type(event.currentTarget.value)}
        onPaste={(event) => {
          const pasted = event.clipboardData?.getData('text/plain') ?? '';
          if (isNumber || !pasted.includes('\n')) return;
          // This element would leave the line breaks out. Another one takes its place.
          event.preventDefault();
          const { selectionStart, selectionEnd } = event.currentTarget;
          type(text.slice(0, selectionStart ?? 0) + pasted + text.slice(selectionEnd ?? text.length));
          setTimeout(() => document.getElementById(id)?.focus());
        }}
      />
      {suggestions.length > 0 && (
        <datalist id={`${id}-list`}>
          {suggestions.map((value) => (
            <option key={value} value={value} />
          ))}
        </datalist>
      )}
    </>
  );
}

/** One of a few values: of an enum, or true and false. Absent and null are among them. */
export function ChoiceField({ shape, draft, onChange, id, describedBy, form, path }: ScalarProps) {
  const choices =
    shape.kind === 'boolean'
      ? ['true', 'false'].map((text) => ({ text, say: text }))
      : shape.kind === 'null'
        ? []
        : shape.choices;
  const value = draft.kind === 'json' ? draft.text : '';
  const isKnown = value === '' || value === 'null' || choices.some(({ text }) => text === value);
  const choose = (text: string) =>
    onChange(text === '' ? ABSENT : text === 'null' ? NULL : ({ kind: 'json', text } as Draft));
  return (
    <select
      id={id}
      aria-describedby={describedBy}
      aria-invalid={form.advice.has(path) || undefined}
      disabled={form.isDisabled === true}
      value={value}
      onChange={(event) => choose(event.currentTarget.value)}
    >
      <option value="">— absent —</option>
      {choices.map(({ text, say }) => (
        <option key={text} value={text}>
          {plain(say, 100)}
        </option>
      ))}
      {!isKnown && <option value={value}>{plain(value, 100)}</option>}
      <option value="null">null</option>
    </select>
  );
}

function suggestionsOf(given: readonly string[], examples: unknown): readonly string[] {
  const shown = Array.isArray(examples)
    ? examples.slice(0, 20).map((each) => (typeof each === 'string' ? each : (JSON.stringify(each) ?? '')))
    : [];
  return [...new Set([...given, ...shown])].filter((each) => each !== '').slice(0, 100);
}

function placeholderOf(value: unknown): string {
  return value === undefined
    ? 'absent'
    : `absent, the server takes ${plain(JSON.stringify(value) ?? '', 60)}`;
}

function isLong(schema: FieldShape['schema'], text: string): boolean {
  const isText = textOf(schema, 'contentMediaType') !== undefined;
  return isText || (numberOf(schema, 'maxLength') ?? 0) > 500 || text.length > 120;
}

async function readFile({ files }: HTMLInputElement, type: (text: string) => void): Promise<void> {
  const file = files?.[0];
  if (!file) return;
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = '';
  for (let at = 0; at < bytes.length; at += 8190)
    text += btoa(String.fromCharCode(...bytes.subarray(at, at + 8190)));
  type(text);
}
