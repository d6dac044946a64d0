import { type InputRequired, isInputRequired } from '../era/input-rounds.js';
import { ProtocolError } from '../errors.js';
import type { Call } from '../exchange/call.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';
import type { Icon, Prompt } from '../wire/model.js';
import type { Completer } from './completions.js';
import { type PromptReturn, toPromptResult } from './content.js';
import { Context } from './context.js';
import { defined, type Registration, type Registry, withoutPrototype } from './registry.js';

export interface PromptArgumentDefinition {
  readonly title?: string;
  readonly description?: string;
  readonly required?: boolean;
  /** Suggests values while the user types. */
  readonly complete?: Completer;
}

export interface PromptDefinition<A extends Record<string, PromptArgumentDefinition>> {
  readonly title?: string;
  readonly description?: string;
  /** In the order in which users are asked for them. */
  readonly arguments?: A & Record<string, PromptArgumentDefinition>;
  readonly icons?: Icon[];
  readonly _meta?: JsonObject;
}

/** Required arguments are strings; the others may be missing. */
type PromptArguments<A extends Record<string, PromptArgumentDefinition>> = {
  readonly [K in keyof A]: A[K] extends { readonly required: true } ? string : string | undefined;
};

export type PromptHandler<A extends Record<string, PromptArgumentDefinition>> = (
  args: PromptArguments<A>,
  ctx: Context,
) => PromptReturn | InputRequired | Promise<PromptReturn | InputRequired>;

export interface RegisteredPrompt {
  readonly listed: Prompt;
  readonly complete: ReadonlyMap<string, Completer>;
  readonly get: (args: never, ctx: Context) => unknown;
}

export function addPrompt<A extends Record<string, PromptArgumentDefinition>>(
  registry: Registry<RegisteredPrompt>,
  name: string,
  definition: PromptDefinition<A>,
  get: PromptHandler<A>,
): Registration {
  const { arguments: args, ...facts } = definition;
  const complete = new Map<string, Completer>();
  const listedArguments =
    args &&
    Object.entries(args).map(([argument, { complete: completer, ...rest }]) => {
      if (completer) complete.set(argument, completer);
      return defined({ name: argument, ...rest });
    });
  const listed = defined({ name, ...facts, arguments: listedArguments }) as unknown as Prompt;
  return registry.add(name, { listed, complete, get: get as RegisteredPrompt['get'] });
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
  const value = await prompt.get(withoutPrototype(args) as never, new Context(call));
  if (isJsonObject(value) && isInputRequired(value)) return value;
  return toPromptResult(value, name, prompt.listed.description);
}

function invalidParams(message: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, message);
}
