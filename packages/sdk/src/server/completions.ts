import { ProtocolError } from '../errors.js';
import type { Call } from '../exchange/call.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';
import { Context } from './context.js';
import type { RegisteredPrompt } from './prompts.js';
import { type Registry, withoutPrototype } from './registry.js';
import type { RegisteredTemplate } from './resources/resources.js';

/** Suggests values for the text typed so far; `others` are the arguments that are already filled in. */
export type Completer = (
  value: string,
  others: Readonly<Record<string, string>>,
  ctx: Context,
) => Suggestions | Promise<Suggestions>;

/** What a completer returns: the values, or the values with the number of all that match. */
export type Suggestions =
  | readonly string[]
  | { readonly values: readonly string[]; readonly total?: number; readonly hasMore?: boolean };

export async function complete(
  prompts: Registry<RegisteredPrompt>,
  templates: Registry<RegisteredTemplate>,
  call: Call,
): Promise<JsonObject> {
  const { ref, argument, context } = call.params;
  if (
    !isJsonObject(argument) ||
    typeof argument['name'] !== 'string' ||
    typeof argument['value'] !== 'string'
  ) {
    throw invalidParams('params.argument needs a string name and a string value');
  }
  const completers = findCompleters(prompts, templates, ref);
  const completer = completers.get(argument['name']);
  if (!completer) return { completion: { values: [], hasMore: false } };
  const others = isJsonObject(context) && isJsonObject(context['arguments']) ? context['arguments'] : {};
  if (!Object.values(others).every((other) => typeof other === 'string')) {
    throw invalidParams('params.context.arguments must hold strings');
  }
  const suggested = await completer(
    argument['value'],
    withoutPrototype(others) as Record<string, string>,
    new Context(call),
  );
  return { completion: toCompletion(suggested) };
}

function findCompleters(
  prompts: Registry<RegisteredPrompt>,
  templates: Registry<RegisteredTemplate>,
  ref: unknown,
): ReadonlyMap<string, Completer> {
  if (isJsonObject(ref) && ref['type'] === 'ref/prompt' && typeof ref['name'] === 'string') {
    const prompt = prompts.get(ref['name']);
    if (!prompt) throw invalidParams(`Unknown prompt: ${ref['name']}`);
    return prompt.arguments.complete;
  }
  if (isJsonObject(ref) && ref['type'] === 'ref/resource' && typeof ref['uri'] === 'string') {
    const template = templates.get(ref['uri']);
    if (!template) throw invalidParams(`Unknown resource template: ${ref['uri']}`);
    return template.complete;
  }
  throw invalidParams('params.ref must be { type: "ref/prompt", name } or { type: "ref/resource", uri }');
}

/** COMP-004: at most 100 values; `total` and `hasMore` report the rest. */
function toCompletion(suggested: Suggestions): JsonObject {
  const given = isList(suggested) ? { values: suggested } : suggested;
  const values = given.values.slice(0, MAX_VALUES);
  const {
    total = given.values.length,
    hasMore = total > values.length,
  }: { total?: number; hasMore?: boolean } = given;
  return { values, total, hasMore };
}

const MAX_VALUES = 100;

/** `Array.isArray` does not narrow readonly arrays. */
function isList(suggested: Suggestions): suggested is readonly string[] {
  return Array.isArray(suggested);
}

function invalidParams(message: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, message);
}
