import { JsonProblem, parseRaw } from '../json/raw.js';
import { plain } from '../parts/text.js';
import { ABSENT } from './draft.js';
import type { FieldProps } from './field.js';
import type { FieldShape } from './shape.js';

/** A value as JSON: where the schema says nothing of it, or the value does not fit. */
export function RawField({
  draft,
  onChange,
  id,
  label,
  shape,
  describedBy,
  form,
}: FieldProps & {
  readonly id: string;
  readonly label: string;
  readonly shape: FieldShape;
  readonly describedBy?: string;
}) {
  const text = draft.kind === 'json' ? draft.text : '';
  return (
    <div class="stack">
      <textarea
        id={id}
        class="mono"
        rows={Math.min(10, Math.max(1, text.split('\n').length))}
        aria-label={`${plain(label)} as JSON`}
        aria-describedby={describedBy}
        placeholder="absent; JSON such as &quot;text&quot;, 1 or {}"
        spellcheck={false}
        disabled={form.isDisabled === true}
        value={text}
        onInput={(event) => {
          const { value } = event.currentTarget;
          onChange(value === '' ? ABSENT : { kind: 'json', text: value });
        }}
      />
      {shape.kind !== 'any' && draft.kind === 'json' && (
        <p class="soft">
          This value does not fit the schema, so it is shown as JSON.{' '}
          <button type="button" class="plain" onClick={() => onChange(ABSENT)}>
            Begin again
          </button>
        </p>
      )}
    </div>
  );
}

/** Undefined: the text is JSON. Otherwise why it is not, with line and column. */
export function jsonProblem(text: string): string | undefined {
  try {
    parseRaw(text);
    return undefined;
  } catch (error) {
    if (!(error instanceof JsonProblem)) return String(error);
    const before = text.slice(0, error.at).split('\n');
    return `Line ${before.length}, column ${before.at(-1)!.length + 1}: ${error.message}`;
  }
}
