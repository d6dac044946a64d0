import { asNames, type FormSchema, isRecord, merge, resolveSchema, textOf } from './schema.js';

/** What a field looks like. */
export interface FieldShape {
  readonly kind:
    | 'choices'
    | 'string'
    | 'number'
    | 'integer'
    | 'boolean'
    | 'object'
    | 'array'
    | 'variants'
    | 'null'
    | 'any';
  /** With references followed. */
  readonly schema: FormSchema;
  readonly isNullable: boolean;
  /** Of `choices`: each value as JSON. */
  readonly choices: readonly { readonly text: string; readonly say: string }[];
  readonly variants: readonly { readonly say: string; readonly schema: FormSchema }[];
}

export function shapeOf(root: FormSchema, given: unknown): FieldShape {
  const schema = resolveSchema(root, given);
  const nothing = { schema, isNullable: false, choices: [], variants: [] };
  const choices = choicesOf(root, schema);
  if (choices)
    return {
      ...{ ...nothing, kind: 'choices', choices: choices.filter(({ text }) => text !== 'null') },
      isNullable: choices.some(({ text }) => text === 'null'),
    };
  const options = [schema['anyOf'], schema['oneOf']].find((each) => Array.isArray(each) && each.length > 0);
  if (Array.isArray(options)) return variantsOf(root, schema, options);
  const types = Array.isArray(schema['type']) ? asNames(schema['type']) : asNames([schema['type']]);
  const others = types.filter((type) => type !== 'null');
  const isNullable = types.includes('null');
  if (others.length > 1)
    return {
      ...{ ...nothing, kind: 'variants', isNullable },
      variants: others.map((type) => ({ say: type, schema: { ...schema, type } })),
    };
  return {
    ...nothing,
    isNullable: isNullable && others.length > 0,
    kind: kindOf(others[0] ?? types[0], schema),
  };
}

const KINDS = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);

function kindOf(type: string | undefined, schema: FormSchema): FieldShape['kind'] {
  if (type !== undefined && KINDS.has(type)) return type as FieldShape['kind'];
  const has = (...names: string[]) => names.some((name) => name in schema);
  if (has('properties', 'patternProperties', 'required')) return 'object';
  if (has('items', 'prefixItems')) return 'array';
  if (has('minLength', 'maxLength', 'pattern', 'format', 'contentEncoding')) return 'string';
  return has('minimum', 'maximum', 'multipleOf') ? 'number' : 'any';
}

function choicesOf(root: FormSchema, schema: FormSchema): FieldShape['choices'] | undefined {
  if ('const' in schema) return [choiceOf(schema['const'])];
  if (Array.isArray(schema['enum'])) {
    const names = asNames(schema['enumNames']);
    return schema['enum'].slice(0, MAX_CHOICES).map((value, at) => choiceOf(value, names[at]));
  }
  for (const options of [schema['oneOf'], schema['anyOf']]) {
    if (!Array.isArray(options) || options.length === 0) continue;
    const resolved = options.slice(0, MAX_CHOICES).map((option) => resolveSchema(root, option));
    if (resolved.every((option) => 'const' in option || option['type'] === 'null'))
      return resolved.map((option) =>
        choiceOf('const' in option ? option['const'] : null, textOf(option, 'title')),
      );
  }
  return undefined;
}

function choiceOf(value: unknown, title?: string): FieldShape['choices'][number] {
  const text = JSON.stringify(value) ?? 'null';
  const name = typeof value === 'string' ? value : text;
  return { text, say: title === undefined || title === name ? name : `${title} (${name})` };
}

function variantsOf(root: FormSchema, schema: FormSchema, options: readonly unknown[]): FieldShape {
  const { anyOf: _anyOf, oneOf: _oneOf, ...base } = schema;
  const resolved = options.slice(0, MAX_CHOICES).map((option) => resolveSchema(root, option));
  const given = resolved.filter((option) => option['type'] !== 'null');
  const isNullable = given.length < resolved.length;
  if (given.length === 1) return { ...shapeOf(root, merge(base, given[0]!)), isNullable: true };
  return {
    ...{ kind: 'variants', schema, isNullable, choices: [] },
    variants: given.map((option, at) => ({ say: nameOf(root, option, at), schema: merge(base, option) })),
  };
}

/** The title, or the constant that tells it apart, or its properties, or the type. */
function nameOf(root: FormSchema, option: FormSchema, at: number): string {
  const title = textOf(option, 'title');
  if (title !== undefined) return title;
  const constant = constantOf(root, option);
  if (constant) return constant.join(': ');
  const { properties, type, required } = option;
  const all = isRecord(properties) ? Object.keys(properties) : asNames(required);
  const names = all.slice(0, 4).join(', ');
  return names === '' ? (typeof type === 'string' ? type : `variant ${at + 1}`) : names;
}

/** The first property that can have one value only: by it variants are told apart. */
export function constantOf(root: FormSchema, schema: FormSchema): readonly [string, string] | undefined {
  const { properties } = schema;
  if (!isRecord(properties)) return undefined;
  for (const [name, property] of Object.entries(properties).slice(0, 100)) {
    const resolved = resolveSchema(root, property);
    const only =
      Array.isArray(resolved['enum']) && resolved['enum'].length === 1
        ? resolved['enum'][0]
        : resolved['const'];
    if (only !== undefined) return [name, typeof only === 'string' ? only : JSON.stringify(only)];
  }
  return undefined;
}

/** Keywords that the form does not show. The JSON view takes them all. */
export function unseenKeywords(schema: FormSchema): readonly string[] {
  return ['not', 'if', 'dependentSchemas', 'dependentRequired', 'propertyNames', 'contains'].filter(
    (name) => name in schema,
  );
}

const MAX_CHOICES = 1000;
