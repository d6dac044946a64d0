import { IsthmusError } from '../errors.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';
import type { ElicitSchema } from '../wire/model.js';

/**
 * A schema as a form can show it: an object of text, numbers, switches and choices (ELIC-006). Keywords that
 * forms do not know are left out, since the full schema checks the answer anyway; fields that no form can
 * show are an error here, where the author sees it, rather than a refusal by some strict client.
 */
export function toFormSchema(schema: JsonObject): ElicitSchema {
  const { properties, required } = schema;
  if (schema['type'] !== 'object' || !isJsonObject(properties)) {
    throw new IsthmusError('INVALID_OPTION', 'A form needs a schema of type "object" with properties');
  }
  const fields = Object.entries(properties).map(([name, field]) => [name, toField(name, field)]);
  return {
    type: 'object',
    properties: Object.fromEntries(fields),
    ...(Array.isArray(required) && { required }),
  } as ElicitSchema;
}

const COMMON = ['type', 'title', 'description', 'default'];
const KEYWORDS: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['string', [...COMMON, 'minLength', 'maxLength', 'format', 'enum', 'enumNames', 'oneOf']],
  ['number', [...COMMON, 'minimum', 'maximum']],
  ['integer', [...COMMON, 'minimum', 'maximum']],
  ['boolean', COMMON],
  ['array', [...COMMON, 'minItems', 'maxItems', 'items']],
]);
const FORMATS: ReadonlySet<unknown> = new Set(['email', 'uri', 'date', 'date-time']);

function toField(name: string, given: unknown): JsonObject {
  const field = withType(given);
  const keywords = isJsonObject(field) ? KEYWORDS.get(field['type']) : undefined;
  if (!isJsonObject(field) || !keywords) throw notShowable(name);
  const shown: JsonObject = {};
  for (const keyword of keywords) if (field[keyword] !== undefined) shown[keyword] = field[keyword];
  if (!FORMATS.has(shown['format'])) delete shown['format'];
  if (typeof field['const'] === 'string') shown['enum'] = [field['const']];
  if (field['type'] === 'array') shown['items'] = toChoices(name, field['items']);
  return shown;
}

/** Some libraries describe a choice of words without saying that words are strings. */
function withType(field: unknown): unknown {
  if (!isJsonObject(field) || field['type'] !== undefined) return field;
  const choices = Array.isArray(field['enum']) ? field['enum'] : [field['const']];
  return choices.every((choice) => typeof choice === 'string') ? { type: 'string', ...field } : field;
}

/** A list field is a multiple choice. */
function toChoices(name: string, items: unknown): JsonObject {
  if (isJsonObject(items)) {
    if (Array.isArray(items['enum'])) return { type: 'string', enum: items['enum'] };
    if (Array.isArray(items['anyOf'])) return { anyOf: items['anyOf'] };
  }
  throw notShowable(name);
}

function notShowable(name: string): IsthmusError {
  return new IsthmusError(
    'INVALID_OPTION',
    `The form field "${name}" must be a string, number, integer, boolean or a choice; forms are flat`,
  );
}
