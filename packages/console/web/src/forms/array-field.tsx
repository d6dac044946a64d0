import { useId } from 'preact/hooks';
import { plain } from '../parts/text.js';
import { under } from './advice.js';
import { ABSENT, type Draft, firstDraft, itemSchema } from './draft.js';
import { Control, type FieldProps } from './field.js';
import { type FieldShape, shapeOf } from './shape.js';

/** A list: items one below the other. A list of choices is a row of check boxes. */
export function ArrayField(
  props: Omit<FieldProps, 'draft'> & {
    readonly draft: Extract<Draft, { kind: 'array' }>;
    readonly shape: FieldShape;
    readonly label: string;
  },
) {
  const { form, shape, draft, onChange, path, depth, label } = props;
  const id = useId();
  const set = (items: readonly Draft[]) => onChange({ kind: 'array', items });
  const of = shapeOf(form.root, itemSchema(shape.schema, draft.items.length));
  if (of.kind === 'choices' && isSet(of, draft.items)) return <Choices {...{ of, draft, set, label }} />;
  return (
    <div class="fields nested" role="group" aria-label={plain(label)}>
      {draft.items.slice(0, MAX_ITEMS).map((item, at) => {
        const schema = itemSchema(shape.schema, at);
        return (
          <div class="item" key={at}>
            <label class="soft item-number" for={`${id}-${at}`}>
              {at}
            </label>
            <Control
              form={form}
              schema={schema}
              shape={shapeOf(form.root, schema)}
              draft={item}
              id={`${id}-${at}`}
              label={`${label} ${at}`}
              path={under(path, at)}
              depth={depth + 1}
              onChange={(next) => set(draft.items.map((each, index) => (index === at ? next : each)))}
            />
            <button
              type="button"
              class="quiet"
              onClick={() => set(draft.items.filter((_, index) => index !== at))}
            >
              Remove<span class="unseen"> {`${plain(label)} ${at}`}</span>
            </button>
          </div>
        );
      })}
      <div>
        <button type="button" class="quiet" onClick={() => set([...draft.items, itemDraft(props)])}>
          Add an item<span class="unseen"> to {plain(label)}</span>
        </button>
      </div>
    </div>
  );
}

function Choices({
  of,
  draft,
  set,
  label,
}: {
  readonly of: FieldShape;
  readonly draft: Extract<Draft, { kind: 'array' }>;
  readonly set: (items: readonly Draft[]) => void;
  readonly label: string;
}) {
  const chosen = new Set(draft.items.map((item) => (item.kind === 'json' ? item.text : '')));
  return (
    <div class="choices" role="group" aria-label={plain(label)}>
      {of.choices.map(({ text, say }) => (
        <label class="check" key={text}>
          <input
            type="checkbox"
            checked={chosen.has(text)}
            onChange={({ currentTarget }) =>
              set(
                currentTarget.checked
                  ? [...draft.items, { kind: 'json', text }]
                  : draft.items.filter((item) => item.kind !== 'json' || item.text !== text),
              )
            }
          />
          <span>{plain(say, 100)}</span>
        </label>
      ))}
    </div>
  );
}

/** Each item is one of the choices, and none of them twice: check boxes lose nothing then. */
function isSet({ choices }: FieldShape, items: readonly Draft[]): boolean {
  const texts = items.map((item) => (item.kind === 'json' ? item.text : ''));
  return (
    new Set(texts).size === texts.length && texts.every((text) => choices.some((each) => each.text === text))
  );
}

/** An item of a list is there, so a text begins empty. */
function itemDraft({
  form,
  shape,
  draft,
}: Pick<Parameters<typeof ArrayField>[0], 'form' | 'shape' | 'draft'>): Draft {
  const schema = itemSchema(shape.schema, draft.items.length);
  const first = firstDraft(form.root, schema, true);
  if (first !== ABSENT) return first;
  const { kind, choices } = shapeOf(form.root, schema);
  if (kind === 'number' || kind === 'integer') return { kind: 'number', text: '' };
  if (kind === 'choices') return { kind: 'json', text: choices[0]?.text ?? 'null' };
  if (kind === 'boolean') return { kind: 'json', text: 'false' };
  return kind === 'string' ? { kind: 'string', text: '' } : { kind: 'json', text: '""' };
}

const MAX_ITEMS = 500;
