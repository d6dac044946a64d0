import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Tool } from '@isthmus/sdk/internal/wire/model.js';
import { type CliError, usageError } from '../cli-error.js';
import { table } from '../terminal/table.js';
import { oneLine } from '../terminal/text.js';
import { toolArguments } from './describe-schema.js';
import { jsonValue, typedValue } from './typed-value.js';

/** `key=value`, or `key:=json`. */
export interface Assignment {
  readonly key: string;
  readonly text: string;
  readonly isJson: boolean;
}

export function toAssignment(word: string): Assignment {
  const match = /^(.+?)(:?=)(.*)$/s.exec(word);
  if (!match) {
    throw usageError(
      `"${word}" is no argument`,
      'Write key=value, key:=JSON, or all of them at once with --args JSON',
    );
  }
  return { key: match[1]!, text: match[3]!, isJson: match[2] === ':=' };
}

/** The object that `--args` holds. */
export function fromJson(text: string): JsonObject {
  const parsed = jsonValue(text);
  if (parsed.ok && isJsonObject(parsed.value)) return parsed.value;
  throw usageError(
    `--args ${parsed.ok ? 'must be a JSON object' : 'is not JSON'}: ${text}`,
    `--args '{"key": "value"}'`,
  );
}

/** The arguments of a call, typed by the tool's schema when it is known. */
export function readArguments(assignments: readonly Assignment[], tool: Tool | undefined): JsonObject {
  const root: JsonObject = isJsonObject(tool?.inputSchema) ? tool.inputSchema : {};
  const known = new Map(toolArguments(root).map((argument) => [argument.name, argument]));
  const values = new Map<string, unknown>();
  for (const { key, text, isJson } of assignments) {
    const argument = known.get(key);
    if (tool && !argument && root['additionalProperties'] === false) {
      throw withArguments(tool, `${tool.name} has no argument "${key}"`);
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
    throw withArguments(tool, `${tool.name} needs ${names}`);
  }
  return Object.fromEntries(values);
}

/** A usage error that shows what the tool takes. */
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
