import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { oneLine } from '../terminal/text.js';

/** One argument of a tool, according to its schema. */
export interface ToolArgument {
  readonly name: string;
  readonly required: boolean;
  readonly schema: JsonObject;
  /** `number`, `string[]`, `"a"|"b"`. */
  readonly type: string;
  readonly description: string | undefined;
}

/** The arguments of a tool in the order of its schema. Required arguments without a description come last. */
export function toolArguments(inputSchema: unknown): ToolArgument[] {
  const root = isJsonObject(inputSchema) ? inputSchema : {};
  const properties = isJsonObject(root['properties']) ? root['properties'] : {};
  const required = (Array.isArray(root['required']) ? root['required'] : []).filter(
    (name): name is string => typeof name === 'string',
  );
  const names = [...new Set([...Object.keys(properties), ...required])];
  return names.map((name) => {
    const schema = resolve(root, Object.hasOwn(properties, name) ? properties[name] : {});
    const description = schema['description'];
    return {
      name,
      required: required.includes(name),
      schema,
      type: describeType(root, schema),
      description: typeof description === 'string' && description !== '' ? oneLine(description) : undefined,
    };
  });
}

/** `text:string [n:integer]` */
export function signature(inputSchema: unknown): string {
  return toolArguments(inputSchema)
    .map(({ name, type, required }) => oneLine(required ? `${name}:${type}` : `[${name}:${type}]`))
    .join(' ');
}

/** Follows references within the schema (`#/$defs/…`). */
export function resolve(root: JsonObject, schema: unknown, depth = 0): JsonObject {
  if (!isJsonObject(schema)) return {};
  const reference = schema['$ref'];
  if (typeof reference !== 'string' || !reference.startsWith('#') || depth > MAX_DEPTH) return schema;
  let found: unknown = root;
  for (const part of reference.slice(1).split('/').filter(Boolean)) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    found = isJsonObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return resolve(root, found, depth + 1);
}

/** The JSON types that a schema allows. Empty: it does not restrict them. */
export function typesOf(root: JsonObject, schema: JsonObject, depth = 0): string[] {
  const { type, anyOf, oneOf } = schema;
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type.filter((each) => typeof each === 'string');
  const variants = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : [];
  if (variants.length > 0 && depth < MAX_DEPTH) {
    return [...new Set(variants.flatMap((each) => typesOf(root, resolve(root, each), depth + 1)))];
  }
  return [...new Set(choicesOf(schema).map(jsonType))];
}

export function choicesOf(schema: JsonObject): readonly unknown[] {
  if (Array.isArray(schema['enum'])) return schema['enum'];
  return 'const' in schema ? [schema['const']] : [];
}

const MAX_DEPTH = 16;

function describeType(root: JsonObject, schema: JsonObject): string {
  const choices = choicesOf(schema);
  if (choices.length > 0 && choices.length <= 8) return choices.map(String).join('|');
  const types = typesOf(root, schema);
  if (types.length === 0) return 'any';
  return types
    .map((type) => {
      if (type !== 'array') return type;
      const items = typesOf(root, resolve(root, schema['items']));
      return items.length === 1 ? `${items[0]}[]` : 'array';
    })
    .join('|');
}

function jsonType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}
