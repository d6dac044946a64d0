import { useId, useState } from 'preact/hooks';
import { compact, hasRepeatedKeys, pretty } from '../json/print.js';
import { tryRaw } from '../json/raw.js';
import { Segments } from '../parts/controls.js';
import { plain } from '../parts/text.js';
import { adviceOn, MISSING } from './advice.js';
import { type Draft, draftOf, firstDraft, rawOf } from './draft.js';
import { Control, type FormContext } from './field.js';
import { jsonProblem } from './raw-field.js';
import { type FormSchema, isRecord } from './schema.js';
import { shapeOf } from './shape.js';

/** A form and its JSON view. The view that is seen has the truth; nothing is lost between them. */
export interface FormState {
  readonly view: 'form' | 'json';
  readonly draft: Draft;
  readonly text: string;
}

/** `withDefaults`: values of the schema are filled in, as a form for a person does it. A call leaves them to the server. */
export function firstState(schema: FormSchema, withDefaults = false): FormState {
  const draft = withDefaults ? defaultsIn(schema) : firstDraft(schema, schema, true);
  const { kind, variants } = shapeOf(schema, schema);
  const isForm =
    kind === 'object' ||
    (kind === 'variants' && variants.every((variant) => shapeOf(schema, variant.schema).kind === 'object'));
  return { view: isForm ? 'form' : 'json', draft, text: '{}' };
}

function defaultsIn(schema: FormSchema): Draft {
  const first = firstDraft(schema, schema, true);
  const { properties } = schema;
  if (first.kind !== 'object' || !isRecord(properties)) return first;
  const given = new Map(first.members);
  const members = Object.entries(properties).flatMap(([name, property]) => {
    const draft =
      given.get(name) ??
      (isRecord(property) && 'default' in property ? firstDraft(schema, property, true) : undefined);
    return draft ? [[name, draft] as const] : [];
  });
  return { kind: 'object', members };
}

/** The state for arguments that were sent before. */
export function stateFor(schema: FormSchema, text: string): FormState {
  const raw = tryRaw(text);
  if (raw?.kind !== 'object' || hasRepeatedKeys(raw)) return { ...firstState(schema), view: 'json', text };
  return { view: 'form', draft: draftOf(schema, schema, raw), text: pretty(raw) };
}

/** What is sent. */
export function textOfForm({ view, draft, text }: FormState): string {
  if (view === 'json') return text;
  const raw = rawOf(draft);
  return raw ? compact(raw) : '{}';
}

/** Undefined: it can be sent. */
export function formProblem(state: FormState): string | undefined {
  return state.view === 'json' ? jsonProblem(state.text) : undefined;
}

export interface SchemaFormProps {
  readonly schema: FormSchema;
  readonly state: FormState;
  readonly onChange: (state: FormState) => void;
  readonly label: string;
  readonly suggestions?: FormContext['suggestions'];
  /** It was sent before: what is missing is said from the beginning. */
  readonly wasSent?: boolean;
}

export function SchemaForm({
  schema,
  state,
  onChange: change,
  label,
  suggestions,
  wasSent = false,
}: SchemaFormProps) {
  const id = useId();
  const [isBegun, setBegun] = useState(wasSent);
  const onChange = (next: FormState) => {
    if (next.view === state.view) setBegun(true);
    change(next);
  };
  const advice = adviceOn(schema, schema, state.draft);
  const raw = tryRaw(state.text);
  const blocked =
    state.view === 'json' && (raw?.kind !== 'object' || hasRepeatedKeys(raw))
      ? !raw
        ? 'This is not JSON yet.'
        : raw.kind === 'object'
          ? 'A name is there twice. A form cannot show that; it is sent as it is.'
          : 'This is not an object, so the form cannot show it. It is sent as it is.'
      : undefined;
  const show = (view: FormState['view']) => {
    if (view === state.view) return;
    if (view === 'json')
      onChange({ ...state, view, text: pretty(rawOf(state.draft) ?? { kind: 'object', members: [] }) });
    else if (raw && !blocked) onChange({ ...state, view, draft: draftOf(schema, schema, raw) });
  };
  return (
    <div class="form">
      <div class="form-views">
        <Segments
          label={`View of ${plain(label)}`}
          value={state.view}
          choices={[
            { value: 'form', say: 'Form' },
            { value: 'json', say: 'JSON' },
          ]}
          onChange={show}
        />
        {blocked !== undefined && <span class="soft">{blocked}</span>}
      </div>
      {state.view === 'json' ? (
        <JsonView {...{ state, onChange, label }} />
      ) : (
        <Control
          form={{ root: schema, advice: isBegun || wasSent ? advice : withoutMissing(advice), suggestions }}
          schema={schema}
          shape={shapeOf(schema, schema)}
          draft={state.draft}
          id={id}
          label={label}
          path=""
          depth={0}
          onChange={(draft) =>
            onChange({ ...state, draft: draft.kind === 'absent' ? firstDraft(schema, schema, true) : draft })
          }
        />
      )}
    </div>
  );
}

/** A form that was just opened does not complain that it is empty: the star at a name says what is required. */
function withoutMissing(advice: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...advice].filter(([, say]) => say !== MISSING));
}

function JsonView({ state, onChange, label }: Pick<SchemaFormProps, 'state' | 'onChange' | 'label'>) {
  const problem = jsonProblem(state.text);
  return (
    <div class="stack">
      <textarea
        class="mono json"
        aria-label={`${plain(label)} as JSON`}
        aria-invalid={problem !== undefined || undefined}
        rows={Math.min(24, Math.max(6, state.text.split('\n').length + 1))}
        spellcheck={false}
        value={state.text}
        onInput={(event) => onChange({ ...state, text: event.currentTarget.value })}
      />
      <p class={problem === undefined ? 'soft' : 'field-advice'} role="status">
        {problem ?? 'It is sent exactly as you type it.'}
      </p>
    </div>
  );
}
