import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { choicesOf, resolve, typesOf } from './describe-schema.js';

export type TypedValue =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

/**
 * What a text on the command line means, by the schema of the argument. Where the schema allows a string, or says
 * nothing, it is that string: `key:=json` is for those who mean something else.
 */
export function typedValue(text: string, schema: JsonObject, root: JsonObject): TypedValue {
  const choices = choicesOf(schema);
  if (choices.length > 0) {
    const found = choices.find((choice) => String(choice) === text);
    return found === undefined ? bad(`one of ${choices.map(String).join(', ')}`, text) : good(found);
  }
  const types = typesOf(root, schema);
  if (types.length === 0 || types.includes('string')) return good(text);
  const tried = types.map((type) => ofType(text, type, schema, root));
  return tried.find(({ ok }) => ok) ?? tried[0]!;
}

/** JSON, whatever the schema says. */
export function jsonValue(text: string): TypedValue {
  try {
    return good(JSON.parse(text));
  } catch {
    return bad('JSON', text);
  }
}

function ofType(text: string, type: string, schema: JsonObject, root: JsonObject): TypedValue {
  switch (type) {
    case 'integer':
      return Number.isSafeInteger(toNumber(text)) ? good(toNumber(text)) : bad('a whole number', text);
    case 'number':
      return Number.isFinite(toNumber(text)) ? good(toNumber(text)) : bad('a number', text);
    case 'boolean':
      return text === 'true' || text === 'false' ? good(text === 'true') : bad('true or false', text);
    case 'null':
      return text === 'null' ? good(null) : bad('null', text);
    case 'object': {
      const parsed = jsonValue(text);
      return parsed.ok &&
        parsed.value !== null &&
        typeof parsed.value === 'object' &&
        !Array.isArray(parsed.value)
        ? parsed
        : bad('a JSON object', text);
    }
    case 'array':
      return ofArray(text, schema, root);
    default:
      return good(text);
  }
}

/** A JSON array, or one item alone: `path=a` for `["a"]`. */
function ofArray(text: string, schema: JsonObject, root: JsonObject): TypedValue {
  if (text.trimStart().startsWith('[')) {
    const parsed = jsonValue(text);
    return parsed.ok && Array.isArray(parsed.value) ? parsed : bad('a JSON array', text);
  }
  const items = resolve(root, schema['items']);
  if (typesOf(root, items).length === 0) return bad('a JSON array', text);
  const item = typedValue(text, items, root);
  return item.ok ? good([item.value]) : bad('a JSON array', text);
}

function toNumber(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text);
}

function good(value: unknown): TypedValue {
  return { ok: true, value };
}

function bad(wanted: string, text: string): TypedValue {
  return { ok: false, problem: `must be ${wanted}, got ${JSON.stringify(text)}` };
}
