import { useId } from 'preact/hooks';
import { plain, Text } from '../parts/text.js';
import { ArrayField } from './array-field.js';
import { ABSENT, type Draft, firstDraft, NULL } from './draft.js';
import { ObjectField } from './object-field.js';
import { RawField } from './raw-field.js';
import { ChoiceField, ScalarField } from './scalar-field.js';
import { type FormSchema, numberOf, textOf } from './schema.js';
import { type FieldShape, shapeOf } from './shape.js';

/** What all fields of a form share. */
export interface FormContext {
  readonly root: FormSchema;
  readonly advice: ReadonlyMap<string, string>;
  /** Suggestions for the members of the top level: what was sent before, or what the server completes. */
  readonly suggestions?: ((name: string) => readonly string[]) | undefined;
  /** Draws the values that the server fills from request headers, and so on. */
  readonly isDisabled?: boolean;
}

export interface FieldProps {
  readonly form: FormContext;
  readonly schema: unknown;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  readonly path: string;
  readonly depth: number;
}

/** One named value: its name, its state, its control, and what is said about it. */
export function Field(
  props: FieldProps & { readonly name: string; readonly isRequired: boolean; readonly onRemove?: () => void },
) {
  const { form, schema, draft, name, isRequired, path } = props;
  const shape = shapeOf(form.root, schema);
  const id = useId();
  const advice = form.advice.get(path);
  const about = textOf(shape.schema, 'description');
  const isGroup = isWide(shape, draft);
  const title = textOf(shape.schema, 'title');
  const words = (
    <span class="field-name">
      <code>{plain(name)}</code>
      {isRequired && (
        <span class="required" title="required">
          *<span class="unseen"> required</span>
        </span>
      )}
      {title !== undefined && title !== name && <span class="soft">{plain(title)}</span>}
    </span>
  );
  return (
    <div class={`field ${isGroup ? 'wide' : ''} ${draft.kind === 'absent' ? 'absent' : ''}`}>
      <div class="field-head">
        {isGroup ? (
          <span id={`${id}-name`}>{words}</span>
        ) : (
          <label id={`${id}-name`} for={id}>
            {words}
          </label>
        )}
        <span class="field-type">{typeWords(shape)}</span>
      </div>
      <div class="field-body">
        <div class="field-control">
          <Control {...props} shape={shape} id={id} label={name} describedBy={`${id}-about`} />
          <StateSelect {...props} shape={shape} label={name} />
          {props.onRemove && (
            <button type="button" class="quiet" onClick={props.onRemove}>
              Remove<span class="unseen"> {plain(name)}</span>
            </button>
          )}
        </div>
        <div id={`${id}-about`} class="field-about">
          {advice && <p class="field-advice">{advice}</p>}
          {draft.kind === 'string' && draft.text === '' && <p class="soft">an empty text is sent</p>}
          {about !== undefined && (
            <p class="soft">
              <Text of={about} max={600} />
            </p>
          )}
        </div>
      </div>
    </div>
  );
}

/** The control for a value, without its name: also for the items of a list. */
export function Control(
  props: FieldProps & {
    readonly shape: FieldShape;
    readonly id: string;
    readonly label: string;
    readonly describedBy?: string;
  },
) {
  const { shape, draft, form, onChange, depth, path } = props;
  if (depth > 32) return <p class="soft">It is nested deeper than 32 levels. Use the JSON view.</p>;
  if (shape.kind === 'choices' || shape.kind === 'boolean' || shape.kind === 'null')
    return <ChoiceField {...props} />;
  if (draft.kind === 'json')
    return draft.text === 'null' && shape.kind !== 'any' ? (
      <code class="null">null</code>
    ) : (
      <RawField {...props} />
    );
  switch (shape.kind) {
    case 'any':
      return <RawField {...props} />;
    case 'object':
    case 'array':
    case 'variants':
      if (draft.kind === 'absent')
        return (
          <button type="button" onClick={() => onChange(firstDraft(form.root, props.schema, true))}>
            Add<span class="unseen"> {plain(props.label)}</span>
          </button>
        );
      if (shape.kind === 'object' && draft.kind === 'object') return <ObjectField {...props} draft={draft} />;
      if (shape.kind === 'array' && draft.kind === 'array') return <ArrayField {...props} draft={draft} />;
      if (draft.kind !== 'variant') return <RawField {...props} />;
      return (
        <div class="variant">
          <label class="inline">
            <span class="soft">variant</span>
            <select
              aria-label={`variant of ${plain(props.label)}`}
              value={String(draft.at)}
              onChange={(event) => {
                const at = Number(event.currentTarget.value);
                onChange({
                  kind: 'variant',
                  at,
                  draft: firstDraft(form.root, shape.variants[at]?.schema, true),
                });
              }}
            >
              {shape.variants.map(({ say }, at) => (
                <option key={at} value={String(at)}>
                  {plain(say, 80)}
                </option>
              ))}
            </select>
          </label>
          <Control
            {...props}
            shape={shapeOf(form.root, shape.variants[draft.at]?.schema)}
            schema={shape.variants[draft.at]?.schema}
            draft={draft.draft}
            depth={depth + 1}
            path={path}
            onChange={(inner) => onChange(inner.kind === 'absent' ? ABSENT : { ...draft, draft: inner })}
          />
        </div>
      );
    default:
      return <ScalarField {...props} />;
  }
}

/** Given, `null` or absent: three different things to send. */
function StateSelect({
  shape,
  draft,
  onChange,
  form,
  schema,
  label,
}: FieldProps & { readonly shape: FieldShape; readonly label: string }) {
  if (shape.kind === 'choices' || shape.kind === 'boolean' || shape.kind === 'null') return null;
  const state = draft.kind === 'absent' ? 'absent' : isNull(draft) ? 'null' : 'value';
  const choose = (next: string) => {
    if (next === 'absent') onChange(ABSENT);
    else if (next === 'null') onChange(NULL);
    else onChange(emptyDraft(form.root, schema, shape));
  };
  return (
    <select
      class="state"
      aria-label={`state of ${plain(label)}`}
      value={state}
      onChange={(event) => choose(event.currentTarget.value)}
    >
      <option value="value">value</option>
      <option value="null">null</option>
      <option value="absent">absent</option>
    </select>
  );
}

function emptyDraft(root: FormSchema, schema: unknown, { kind }: FieldShape): Draft {
  if (kind === 'string') return { kind: 'string', text: '' };
  if (kind === 'number' || kind === 'integer') return { kind: 'number', text: '' };
  return kind === 'any' ? { kind: 'json', text: '{}' } : firstDraft(root, schema, true);
}

function isNull(draft: Draft): boolean {
  return draft.kind === 'json' && draft.text === 'null';
}

function isWide({ kind }: FieldShape, draft: Draft): boolean {
  return (
    (kind === 'object' || kind === 'array' || kind === 'variants') &&
    draft.kind !== 'absent' &&
    !isNull(draft)
  );
}

function typeWords({ kind, schema, isNullable }: FieldShape): string {
  const [least, most] = [numberOf(schema, 'minimum'), numberOf(schema, 'maximum')];
  const bounds =
    least !== undefined && most !== undefined
      ? ` ${least} to ${most}`
      : least !== undefined
        ? ` from ${least}`
        : most !== undefined
          ? ` up to ${most}`
          : '';
  const words = kind === 'choices' ? 'one of' : kind === 'any' ? 'any JSON' : kind === 'variants' ? '' : kind;
  const format = textOf(schema, 'format') ?? (schema['contentEncoding'] === 'base64' ? 'base64' : undefined);
  const header = textOf(schema, 'x-mcp-header');
  return [
    words + bounds,
    format && plain(format, 40),
    isNullable && 'or null',
    'default' in schema && `default ${plain(JSON.stringify(schema['default']) ?? '', 40)}`,
    schema['deprecated'] === true && 'deprecated',
    schema['readOnly'] === true && 'read only',
    header && `→ Mcp-Param-${plain(header, 40)}`,
  ]
    .filter(Boolean)
    .join(' · ');
}
