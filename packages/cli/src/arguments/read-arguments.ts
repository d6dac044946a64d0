import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Tool } from '@isthmus/sdk/internal/wire/model.js';
import { type CliError, usageError } from '../cli-error.js';
import { table } from '../terminal/table.js';
import { oneLine } from '../terminal/text.js';
import { choicesOf, resolve, toolArguments, typesOf } from './describe-schema.js';
import { suggest } from './suggest.js';

/** `key=value`, or `key:=json`. */
export interface Assignment {
  readonly key: string;
  readonly text: string;
  readonly isJson: boolean;
}

export function toAssignment(argument: string): Assignment {
  const match = /^(.+?)(:?=)(.*)$/s.exec(argument);
  if (!match) {
    throw usageError(
      `"${argument}" is not an argument: it has no =`,
      'Write key=value, key:=JSON, or all of them at once with --args JSON',
    );
  }
  return { key: match[1]!, text: match[3]!, isJson: match[2] === ':=' };
}

/** Parses the value of `--args`. */
export function fromJson(text: string): JsonObject {
  const parsed = jsonValue(text);
  if (parsed.ok && isJsonObject(parsed.value)) return parsed.value;
  throw usageError(
    `--args ${parsed.ok ? 'must be a JSON object' : 'is not JSON'}: ${text}`,
    `--args '{"key": "value"}'`,
  );
}

/** The arguments of a call. The schema of the tool, if it is known, decides their types. */
export function readArguments(assignments: readonly Assignment[], tool: Tool | undefined): JsonObject {
  const root: JsonObject = isJsonObject(tool?.inputSchema) ? tool.inputSchema : {};
  const known = new Map(toolArguments(root).map((argument) => [argument.name, argument]));
  const values = new Map<string, unknown>();
  for (const { key, text, isJson } of assignments) {
    const argument = known.get(key);
    if (tool && !argument && root['additionalProperties'] === false) {
      const meant = suggest(key, [...known.keys()]);
      const then = meant === undefined ? '' : `; did you mean ${meant}?`;
      throw withArguments(tool, `${tool.name} has no argument "${key}"${then}`);
    }
    const typed = isJson ? jsonValue(text) : typedValue(text, argument?.schema ?? {}, root);
    if (!typed.ok) {
      const problem = `The argument ${key} ${typed.problem}`;
      throw tool ? withArguments(tool, problem) : usageError(problem);
    }
    const before = values.get(key);
    if (values.has(key) && !(Array.isArray(before) && Array.isArray(typed.value))) {
      throw usageError(`The argument ${key} is given twice`, 'For a list write key:=JSON');
    }
    values.set(key, Array.isArray(before) ? [...before, ...(typed.value as unknown[])] : typed.value);
  }
  const missing = [...known.values()].filter(({ name, required }) => required && !values.has(name));
  if (tool && missing.length > 0) {
    const names = missing.map(({ name, type }) => `${name} (${type})`).join(', ');
    const unknown = [...values.keys()].filter((key) => !known.has(key)).map((key) => `"${key}"`);
    const more = unknown.length === 0 ? '' : `; it has no argument ${unknown.join(', ')}`;
    throw withArguments(tool, `${tool.name} needs ${names}${more}`);
  }
  return Object.fromEntries(values);
}

/** Warnings about arguments that the schema of the tool does not have. Most servers ignore them without a word. */
export function unknownArguments(values: JsonObject, tool: Tool): string[] {
  const root: JsonObject = isJsonObject(tool.inputSchema) ? tool.inputSchema : {};
  const known = toolArguments(root).map(({ name }) => name);
  const patterns = isJsonObject(root['patternProperties']) ? Object.keys(root['patternProperties']) : [];
  const isOpen = isJsonObject(root['additionalProperties']) || patterns.length > 0;
  // A schema with other keywords may allow arguments that `properties` does not show.
  if (isOpen || COMPOSED.some((keyword) => keyword in root)) return [];
  return Object.keys(values)
    .filter((key) => !known.includes(key))
    .map((key) => {
      const meant = suggest(key, known);
      const then =
        meant !== undefined
          ? `did you mean ${oneLine(meant)}?`
          : known.length > 0
            ? `it has ${known.map(oneLine).join(', ')}`
            : 'it takes no arguments';
      return `${oneLine(tool.name)} has no argument "${oneLine(key)}" in its schema; ${then}`;
    });
}

const COMPOSED = ['allOf', 'anyOf', 'oneOf', 'if', '$ref', 'dependentSchemas', 'not'];

/** A usage error that lists the arguments of the tool. */
function withArguments(tool: Tool, problem: string): CliError {
  const rows = toolArguments(tool.inputSchema).map(({ name, type, required, description }) => [
    oneLine(name),
    oneLine(type),
    required ? 'required' : 'optional',
    description ?? '',
  ]);
  return usageError(
    oneLine(problem),
    'Write key=value, key:=JSON, or all of them at once with --args JSON',
    rows.length > 0
      ? [
          `arguments of ${oneLine(tool.name)}:`,
          ...table(rows, { width: 100, indent: '  ' }).trimEnd().split('\n'),
        ]
      : [`${oneLine(tool.name)} takes no arguments`],
  );
}

export type TypedValue =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

/**
 * Converts a text of the command line to the type of the argument. If the schema allows a string, or has no type, the text
 * stays a string; `key:=json` sets any other value.
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

/** Parses JSON without regard to the schema. */
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

/** A JSON array, or a single item: `path=a` for `["a"]`. */
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
