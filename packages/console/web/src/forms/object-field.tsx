import { useState } from 'preact/hooks';
import { plain } from '../parts/text.js';
import { under } from './advice.js';
import { ABSENT, type Draft, memberSchema } from './draft.js';
import { Field, type FieldProps } from './field.js';
import { asNames, isRecord } from './schema.js';
import { type FieldShape, unseenKeywords } from './shape.js';

type ObjectDraft = Extract<Draft, { kind: 'object' }>;

/** The properties of the schema in its order, then what else was given, then a row for more. */
export function ObjectField({
  form,
  shape,
  draft,
  onChange,
  path,
  depth,
  label,
}: Omit<FieldProps, 'draft'> & {
  readonly draft: ObjectDraft;
  readonly shape: FieldShape;
  readonly label: string;
}) {
  const { schema } = shape;
  const names = isRecord(schema['properties']) ? Object.keys(schema['properties']).slice(0, MAX_FIELDS) : [];
  const required = new Set(asNames(schema['required']));
  const known = new Set(names);
  const given = new Map(draft.members);
  const extra = draft.members.map(([name]) => name).filter((name) => !known.has(name));
  const unseen = unseenKeywords(schema);
  const set = (name: string, member: Draft) =>
    onChange({ kind: 'object', members: replaced(draft, name, member) });
  const field = (name: string, isExtra: boolean) => (
    <Field
      key={name}
      form={depth === 0 ? form : { ...form, suggestions: undefined }}
      name={name}
      schema={memberSchema(schema, name)}
      draft={given.get(name) ?? ABSENT}
      isRequired={required.has(name)}
      path={under(path, name)}
      depth={depth + 1}
      onChange={(member) => set(name, member)}
      {...(isExtra && {
        onRemove: () =>
          onChange({ kind: 'object', members: draft.members.filter(([each]) => each !== name) }),
      })}
    />
  );
  const isOpen = schema['additionalProperties'] !== false || isRecord(schema['patternProperties']);
  return (
    <div class={depth === 0 ? 'fields' : 'fields nested'} role="group" aria-label={plain(label)}>
      {names.map((name) => field(name, false))}
      {extra.map((name) => field(name, true))}
      {unseen.length > 0 && (
        <p class="soft">{`The schema also has ${unseen.join(', ')}, which the form does not show.`}</p>
      )}
      {names.length === 0 && extra.length === 0 && depth === 0 && <p class="soft">It takes no arguments.</p>}
      {isOpen && OPEN.some((name) => name in schema) && (
        <AddMember taken={given} onAdd={(name) => set(name, { kind: 'json', text: '""' })} />
      )}
    </div>
  );
}

function AddMember({
  taken,
  onAdd,
}: {
  readonly taken: ReadonlyMap<string, Draft>;
  readonly onAdd: (name: string) => void;
}) {
  const [name, setName] = useState('');
  const add = () => {
    if (name === '' || taken.has(name)) return;
    onAdd(name);
    setName('');
  };
  return (
    <div class="add-member">
      <input
        type="text"
        aria-label="Name of another member"
        placeholder="another member"
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) add();
        }}
      />
      <button type="button" class="quiet" disabled={name === '' || taken.has(name)} onClick={add}>
        Add
      </button>
    </div>
  );
}

/** A member keeps its place; a new one comes last. An absent one is taken out. */
function replaced({ members }: ObjectDraft, name: string, member: Draft): ObjectDraft['members'] {
  const isKnown = members.some(([each]) => each === name);
  if (member.kind === 'absent') return members.filter(([each]) => each !== name);
  if (!isKnown) return [...members, [name, member]];
  return members.map((each) => (each[0] === name ? [name, member] : each));
}

const MAX_FIELDS = 2000;
/** A schema that says nothing of other members takes none in the form. The JSON view takes them. */
const OPEN = ['additionalProperties', 'patternProperties'];
