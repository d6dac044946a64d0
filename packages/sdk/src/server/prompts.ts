import type { StandardSchemaV1 } from '@standard-schema/spec';
import { checkedOptions, type OptionNames } from '../arguments.js';
import { type InputRequired, isInputRequired } from '../era/input-rounds.js';
import { ProtocolError } from '../errors.js';
import type { Call } from '../exchange/call.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';
import type { Icon, Prompt } from '../wire/model.js';
import { checkHandler } from './check-registration.js';
import type { Completer } from './completions.js';
import { type PromptReturn, toPromptResult } from './content.js';
import { Context } from './context.js';
import { type PromptArgumentDefinition, type ReadArguments, readArguments } from './prompt-arguments.js';
import { defined, type Registration, type Registry, withoutPrototype } from './registry.js';
import type { AnySchema, JsonSchema, Output } from './schema.js';

interface PromptFacts {
  readonly title?: string;
  readonly description?: string;
  readonly icons?: Icon[];
  readonly _meta?: JsonObject;
}

/** A prompt whose arguments are listed one by one. */
export interface PromptDefinition<A extends Record<string, PromptArgumentDefinition>> extends PromptFacts {
  /** In the order in which users are asked for them. */
  readonly arguments?: A & Record<string, PromptArgumentDefinition>;
}

/** A prompt whose arguments have a schema. They are strings on the wire, so the schema has to accept strings. */
export interface SchemaPromptDefinition<S extends AnySchema> extends PromptFacts {
  /** The arguments; the root is an object. */
  readonly arguments?: S & SchemaOnly<S>;
  /** The same as `arguments`, as the official SDK spells it. */
  readonly argsSchema?: S & SchemaOnly<S>;
  /** Suggests values while the user types, by argument. A choice of strings suggests its values without it. */
  readonly complete?: Readonly<Record<string, Completer>>;
}

/** Keeps a misspelled list of arguments from being taken for a JSON Schema. */
type SchemaOnly<S> = S extends StandardSchemaV1
  ? unknown
  : string extends keyof S
    ? unknown
    : { readonly type: 'object' };

/** Required arguments are strings; the others may be missing. */
type PromptArguments<A extends Record<string, PromptArgumentDefinition>> = {
  readonly [K in keyof A]: A[K] extends { readonly required: true } ? string : string | undefined;
};

type Answered = PromptReturn | InputRequired | Promise<PromptReturn | InputRequired>;

export type PromptHandler<A extends Record<string, PromptArgumentDefinition>> = (
  args: PromptArguments<A>,
  ctx: Context,
) => Answered;

export type SchemaPromptHandler<S extends AnySchema> = (
  args: S extends StandardSchemaV1 ? Output<S> : S extends JsonSchema<infer T> ? PlainArguments<T> : never,
  ctx: Context,
) => Answered;

type PlainArguments<T> = unknown extends T ? Readonly<Record<string, string | undefined>> : T;

/** Controls a registered prompt. */
export interface PromptRegistration extends Registration {
  /** Changes members of the definition, and the handler if one is given. The rest stays. Clients are notified. */
  update<const A extends Record<string, PromptArgumentDefinition>>(
    changes: PromptDefinition<A>,
    handler?: PromptHandler<A>,
  ): void;
  update<S extends AnySchema>(changes: SchemaPromptDefinition<S>, handler?: SchemaPromptHandler<S>): void;
}

export interface RegisteredPrompt {
  readonly listed: Prompt;
  readonly arguments: ReadArguments;
  readonly get: (args: never, ctx: Context) => unknown;
}

export function addPrompt(
  registry: Registry<RegisteredPrompt>,
  name: string,
  given: SchemaPromptDefinition<AnySchema>,
  handler: RegisteredPrompt['get'],
): PromptRegistration {
  let definition = checkedPrompt(name, given);
  let get = handler;
  return registry.add(name, buildPrompt(name, definition, get), (changes, next) => {
    const changed = { ...definition, ...checkedPrompt(name, changes) };
    const changedGet = (next ?? get) as RegisteredPrompt['get'];
    checkHandler(`prompt ${name}`, changedGet);
    const prompt = buildPrompt(name, changed, changedGet);
    definition = changed;
    get = changedGet;
    return prompt;
  });
}

function checkedPrompt(
  name: string,
  given: SchemaPromptDefinition<AnySchema>,
): SchemaPromptDefinition<AnySchema> {
  return checkedOptions(`server.prompt(${JSON.stringify(name)})`, given, PROMPT_OPTIONS);
}

const PROMPT_OPTIONS: OptionNames<SchemaPromptDefinition<AnySchema>> = {
  title: true,
  description: true,
  arguments: true,
  argsSchema: true,
  complete: true,
  icons: true,
  _meta: true,
};

function buildPrompt(
  name: string,
  definition: SchemaPromptDefinition<AnySchema>,
  get: RegisteredPrompt['get'],
): RegisteredPrompt {
  const { arguments: args, complete, argsSchema: _, ...facts } = definition;
  const read = readArguments(`prompt ${name}`, args, complete);
  const listed = defined({ name, ...facts, arguments: read.listed }) as unknown as Prompt;
  return { listed, arguments: read, get };
}

export async function getPrompt(registry: Registry<RegisteredPrompt>, call: Call): Promise<JsonObject> {
  const { name, arguments: args = {} } = call.params;
  if (typeof name !== 'string') throw invalidParams('params.name must be a string');
  const prompt = registry.get(name);
  if (!prompt) throw invalidParams(`Unknown prompt: ${name}`);
  if (!isJsonObject(args)) throw invalidParams('params.arguments must be an object');
  for (const [argument, value] of Object.entries(args)) {
    if (typeof value !== 'string') throw invalidParams(`Prompt argument ${argument} must be a string`);
  }
  const missing = (prompt.listed.arguments ?? []).filter(
    (each) => each.required && !Object.hasOwn(args, each.name),
  );
  if (missing.length > 0) {
    throw invalidParams(`Prompt ${name} needs ${missing.map((each) => each.name).join(', ')}`);
  }
  const checked = await prompt.arguments.check?.(args);
  if (checked?.ok === false) throw invalidParams(`Invalid arguments for prompt ${name}: ${checked.problem}`);
  const value = await prompt.get(
    (checked ? checked.value : withoutPrototype(args)) as never,
    new Context(call),
  );
  if (isJsonObject(value) && isInputRequired(value)) return value;
  return toPromptResult(value, name, prompt.listed.description);
}

function invalidParams(message: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, message);
}
