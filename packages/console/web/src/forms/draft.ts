import { compact, hasRepeatedKeys, pretty } from '../json/print.js';
import { type Raw, tryRaw } from '../json/raw.js';
import { asNames, type FormSchema, isRecord } from './schema.js';
import { constantOf, type FieldShape, shapeOf } from './shape.js';

/**
 * What a person has typed. It is the truth: values are read from it, and never written back into it. Absent, `null` and
 * empty are different drafts.
 */
export type Draft =
  | { readonly kind: 'absent' }
  | { readonly kind: 'string'; readonly text: string }
  | { readonly kind: 'number'; readonly text: string }
  /** JSON as it is: true, null, one of an enum, or what does not fit the schema. */
  | { readonly kind: 'json'; readonly text: string }
  | { readonly kind: 'object'; readonly members: readonly (readonly [string, Draft])[] }
  | { readonly kind: 'array'; readonly items: readonly Draft[] }
  | { readonly kind: 'variant'; readonly at: number; readonly draft: Draft };

export const ABSENT: Draft = { kind: 'absent' };
export const NULL: Draft = { kind: 'json', text: 'null' };

/** Where a form begins: objects that are needed are there, and values that the schema fixes. */
export function firstDraft(root: FormSchema, schema: unknown, isRequired: boolean, depth = 0): Draft {
  if (!isRequired || depth > MAX_DEPTH) return ABSENT;
  const shape = shapeOf(root, schema);
  if ('default' in shape.schema) return draftOf(root, schema, rawOfValue(shape.schema['default']));
  if (shape.kind === 'choices' && shape.choices.length === 1 && !shape.isNullable)
    return { kind: 'json', text: shape.choices[0]!.text };
  if (shape.kind === 'array') return { kind: 'array', items: [] };
  if (shape.kind === 'variants')
    return { kind: 'variant', at: 0, draft: firstDraft(root, shape.variants[0]?.schema, true, depth + 1) };
  if (shape.kind !== 'object') return ABSENT;
  return { kind: 'object', members: requiredMembers(root, shape, depth) };
}

function requiredMembers(
  root: FormSchema,
  { schema }: FieldShape,
  depth: number,
): readonly (readonly [string, Draft])[] {
  const required = new Set(asNames(schema['required']));
  const { properties } = schema;
  if (!isRecord(properties)) return [];
  return Object.entries(properties)
    .filter(([name]) => required.has(name))
    .map(([name, each]) => [name, firstDraft(root, each, true, depth + 1)] as const)
    .filter(([, draft]) => draft.kind !== 'absent');
}

/** The value of a draft. Undefined: it is absent. A number that is not one is sent as a text: this is a debugger. */
export function rawOf(draft: Draft): Raw | undefined {
  switch (draft.kind) {
    case 'absent':
      return undefined;
    case 'string':
      return { kind: 'string', value: draft.text };
    case 'number':
    case 'json':
      return tryRaw(draft.text.trim()) ?? { kind: 'string', value: draft.text };
    case 'variant':
      return rawOf(draft.draft);
    case 'array':
      return { kind: 'array', items: draft.items.flatMap((item) => rawOf(item) ?? []) };
    case 'object':
      return {
        kind: 'object',
        members: draft.members.flatMap(([name, member]) => {
          const raw = rawOf(member);
          return raw ? [[name, raw] as const] : [];
        }),
      };
  }
}

/** The draft for a value. What does not fit the schema is kept as JSON. */
export function draftOf(root: FormSchema, schema: unknown, raw: Raw, depth = 0): Draft {
  const shape = shapeOf(root, schema);
  if (depth > MAX_DEPTH || hasRepeatedKeys(raw)) return { kind: 'json', text: pretty(raw) };
  if (raw.kind === 'word' && raw.text === 'null') return NULL;
  if (shape.kind === 'string' && raw.kind === 'string') return { kind: 'string', text: raw.value };
  if ((shape.kind === 'number' || shape.kind === 'integer') && raw.kind === 'number')
    return { kind: 'number', text: raw.text };
  if (shape.kind === 'variants') {
    const at = variantFor(root, shape, raw);
    return { kind: 'variant', at, draft: draftOf(root, shape.variants[at]?.schema, raw, depth + 1) };
  }
  if (shape.kind === 'object' && raw.kind === 'object')
    return {
      kind: 'object',
      members: raw.members.map(([name, value]) => [
        name,
        draftOf(root, memberSchema(shape.schema, name), value, depth + 1),
      ]),
    };
  if (shape.kind === 'array' && raw.kind === 'array')
    return {
      kind: 'array',
      items: raw.items.map((item, at) => draftOf(root, itemSchema(shape.schema, at), item, depth + 1)),
    };
  return { kind: 'json', text: shape.kind === 'choices' ? compact(raw) : pretty(raw) };
}

/** By the constant that tells variants apart, then by type. */
function variantFor(root: FormSchema, { variants }: FieldShape, raw: Raw): number {
  const byConstant = variants.findIndex(({ schema }) => {
    const constant = constantOf(root, schema);
    if (!constant || raw.kind !== 'object') return false;
    const value = raw.members.find(([name]) => name === constant[0])?.[1];
    return value !== undefined && (value.kind === 'string' ? value.value : compact(value)) === constant[1];
  });
  if (byConstant >= 0) return byConstant;
  const fits = variants.findIndex(({ schema }) => {
    const { kind, schema: known } = shapeOf(root, schema);
    if (kind === 'integer') return raw.kind === 'number';
    if (kind === 'boolean') return raw.kind === 'word';
    if (kind !== 'object' || raw.kind !== 'object') return kind === raw.kind;
    return asNames(known['required']).every((name) => raw.members.some(([each]) => each === name));
  });
  return Math.max(0, fits);
}

/** The schema of a member: of its property, of its pattern, or of all others. */
export function memberSchema(schema: FormSchema, name: string): unknown {
  const { properties, additionalProperties } = schema;
  if (isRecord(properties) && Object.hasOwn(properties, name)) return properties[name];
  return isRecord(additionalProperties) ? additionalProperties : patternSchema(schema);
}

/** Patterns are not matched here, since a hostile one can take for ever. One pattern is the usual case. */
function patternSchema({ patternProperties }: FormSchema): unknown {
  const patterns = isRecord(patternProperties) ? Object.values(patternProperties) : [];
  return patterns.length === 1 ? patterns[0] : {};
}

export function itemSchema(schema: FormSchema, at: number): unknown {
  const { prefixItems, items } = schema;
  if (Array.isArray(prefixItems) && at < prefixItems.length) return prefixItems[at];
  return resolveItems(items);
}

function resolveItems(items: unknown): unknown {
  return isRecord(items) ? items : {};
}

function rawOfValue(value: unknown): Raw {
  return tryRaw(JSON.stringify(value) ?? 'null') ?? { kind: 'word', text: 'null' };
}

const MAX_DEPTH = 32;
