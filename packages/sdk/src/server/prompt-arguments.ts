import { checkedOptions, invalidArgument, type OptionNames } from '../arguments.js';
import type { Checked } from '../schema/json-schema.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';
import type { Completer } from './completions.js';
import { defined } from './registry.js';
import { type AnySchema, compileSchema, invalidSchema, isStandardSchema } from './schema.js';

/** One argument of a prompt. */
export interface PromptArgumentDefinition {
  readonly title?: string;
  readonly description?: string;
  readonly required?: boolean;
  /** Suggests values while the user types. */
  readonly complete?: Completer;
}

/** The arguments of a prompt, in either form. */
export interface ReadArguments {
  /** As `prompts/list` has them. Undefined: the prompt has no arguments. */
  readonly listed: JsonObject[] | undefined;
  readonly complete: ReadonlyMap<string, Completer>;
  /** Undefined: the arguments have no schema. */
  readonly check: ((args: JsonObject) => Checked | Promise<Checked>) | undefined;
}

/** Reads the arguments that a definition has: a schema, or a list of arguments by name. */
export function readArguments(
  owner: string,
  given: unknown,
  complete: Readonly<Record<string, Completer>> | undefined,
): ReadArguments {
  if (isSchema(given)) return readSchema(owner, given, complete ?? {});
  if (complete !== undefined) {
    throw invalidArgument(`${owner}: complete goes with a schema; here, write it into each of the arguments`);
  }
  if (given === undefined) return NO_ARGUMENTS;
  return readList(owner, given as Readonly<Record<string, PromptArgumentDefinition>>);
}

const NO_ARGUMENTS: ReadArguments = { listed: undefined, complete: new Map(), check: undefined };

/** A prompt may have an argument named `type`, but its definition is an object. */
function isSchema(given: unknown): given is AnySchema {
  if (isStandardSchema(given)) return true;
  if (!isJsonObject(given)) return false;
  return given['type'] === 'object' || Object.values(given).some(isStandardSchema);
}

function readList(owner: string, given: Readonly<Record<string, PromptArgumentDefinition>>): ReadArguments {
  if (!isJsonObject(given)) throw invalidArgument(`${owner}: arguments must be an object or a schema`);
  const complete = new Map<string, Completer>();
  const listed = Object.entries(given).map(([name, definition]) => {
    const { complete: completer, ...rest } = checkedOptions(
      `${owner}: the argument ${name}`,
      definition,
      ARGUMENT_OPTIONS,
    );
    if (completer) complete.set(name, completer);
    return defined({ name, ...rest });
  });
  return { listed, complete, check: undefined };
}

const ARGUMENT_OPTIONS: OptionNames<PromptArgumentDefinition> = {
  title: true,
  description: true,
  required: true,
  complete: true,
};

function readSchema(
  owner: string,
  schema: AnySchema,
  completers: Readonly<Record<string, Completer>>,
): ReadArguments {
  const compiled = compileSchema(schema, 'input', `${owner} (arguments)`);
  const { json } = compiled;
  if (json['type'] !== 'object')
    throw invalidSchema(owner, 'the arguments must have type "object" at the root');
  const properties = isJsonObject(json['properties']) ? json['properties'] : {};
  const required = Array.isArray(json['required']) ? json['required'] : [];
  const complete = new Map(Object.entries(completers));
  const stranger = [...complete.keys()].find((name) => !Object.hasOwn(properties, name));
  if (stranger !== undefined) throw invalidArgument(`${owner} has no argument "${stranger}" to complete`);
  const listed = Object.entries(properties).map(([name, property]) => {
    const facts = isJsonObject(property) ? property : {};
    // A library may convert strings (z.coerce). Plain JSON Schema cannot.
    if (!isStandardSchema(schema) && !acceptsStrings(facts)) {
      throw invalidSchema(
        owner,
        `the argument ${name} does not accept strings, and arguments of prompts are strings`,
      );
    }
    const choices = choicesOf(facts);
    if (choices && !complete.has(name))
      complete.set(name, (typed) => choices.filter((each) => each.startsWith(typed)));
    const { title, description } = facts;
    return defined({ name, title, description, required: required.includes(name) });
  });
  return { listed, complete, check: compiled.check };
}

function acceptsStrings({ type }: JsonObject): boolean {
  return type === undefined || type === 'string' || (Array.isArray(type) && type.includes('string'));
}

function choicesOf({ enum: choices }: JsonObject): readonly string[] | undefined {
  return Array.isArray(choices) && choices.every((each) => typeof each === 'string') ? choices : undefined;
}
