import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';

/**
 * Says what makes a JSON Schema unusable, or `undefined`. It runs at registration, where the author can still fix it,
 * and without a validator. It checks the dialect, the shape of each keyword, references that would leave the schema, and
 * sizes that would exhaust a validator (JSCH-003, JSCH-004, JSCH-006, JSCH-010).
 */
export function checkJsonSchema(schema: JsonObject): string | undefined {
  const dialect = schema['$schema'];
  if (dialect !== undefined && dialectOf(dialect) === undefined) {
    return `its dialect ${JSON.stringify(dialect)} is not supported (2020-12 and draft-07 are)`;
  }
  return createWalk(collectIds(schema)).visit(schema, '#', 0);
}

export type Dialect = '2020-12' | 'draft-07';

/** Without `$schema` a schema is 2020-12 (JSCH-001). */
export function dialectOf(uri: unknown): Dialect | undefined {
  if (uri === undefined) return '2020-12';
  if (typeof uri !== 'string') return undefined;
  if (/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/.test(uri)) return '2020-12';
  if (/^https?:\/\/json-schema\.org\/draft-07\/schema#?$/.test(uri)) return 'draft-07';
  return undefined;
}

/**
 * Whether a check can take longer than a walk through the value: with regular expressions that backtrack, items that are
 * compared with each other, references that multiply the work, or very many subschemas.
 */
export function mayTakeLong(schema: JsonObject): boolean {
  const open: unknown[] = [schema];
  for (let seen = 0; open.length > 0; seen += 1) {
    if (seen > FEW_NODES) return true;
    const node = open.pop();
    if (typeof node !== 'object' || node === null) continue;
    if (!Array.isArray(node) && Object.keys(node).some((key) => SLOW_KEYWORDS.has(key))) return true;
    for (const value of Object.values(node)) open.push(value);
  }
  return false;
}

const SLOW_KEYWORDS: ReadonlySet<string> = new Set([
  '$ref',
  '$dynamicRef',
  '$recursiveRef',
  'pattern',
  'patternProperties',
  'uniqueItems',
]);
const FEW_NODES = 500;

const MAX_SUBSCHEMAS = 10_000;
const MAX_DEPTH = 128;

function createWalk(ids: ReadonlySet<string>) {
  let count = 0;

  function visit(schema: unknown, path: string, depth: number): string | undefined {
    if (typeof schema === 'boolean') return undefined;
    if (!isJsonObject(schema)) return `${path} must be a schema (an object or a boolean)`;
    count += 1;
    if (count > MAX_SUBSCHEMAS) return `it has more than ${MAX_SUBSCHEMAS} subschemas`;
    if (depth > MAX_DEPTH) return `it is nested more than ${MAX_DEPTH} levels deep`;
    for (const [keyword, value] of Object.entries(schema)) {
      const at = `${path}/${keyword}`;
      const rule = KEYWORDS.get(keyword);
      const problem = rule ? rule(value, at, depth) : undefined;
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  const one: Rule = (value, at, depth) => visit(value, at, depth + 1);
  const list: Rule = (value, at, depth) => {
    if (!Array.isArray(value) || value.length === 0) return `${at} must be a non-empty array of schemas`;
    return first(value.entries(), ([index, inner]) => visit(inner, `${at}/${index}`, depth + 1));
  };
  const map: Rule = (value, at, depth) => {
    if (!isJsonObject(value)) return `${at} must be an object of schemas`;
    return first(Object.entries(value), ([key, inner]) => visit(inner, `${at}/${key}`, depth + 1));
  };
  /** draft-07 allows an array here. */
  const oneOrList: Rule = (value, at, depth) =>
    Array.isArray(value) ? list(value, at, depth) : one(value, at, depth);
  const reference: Rule = (value, at) => {
    if (typeof value !== 'string') return `${at} must be a string`;
    const local = value.startsWith('#') || ids.has(value.replace(/#.*$/s, ''));
    return local
      ? undefined
      : `${at} (${value}) points outside of the schema, and references are never fetched`;
  };

  const KEYWORDS = new Map<string, Rule>([
    ...each(['$ref', '$dynamicRef'], reference),
    ...each(['not', 'if', 'then', 'else', 'contains', 'propertyNames', 'additionalProperties'], one),
    ...each(['unevaluatedProperties', 'unevaluatedItems', 'additionalItems'], one),
    ...each(['allOf', 'anyOf', 'oneOf', 'prefixItems'], list),
    ...each(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'], map),
    ['items', oneOrList],
    ['type', isType],
    ['enum', (value, at) => (Array.isArray(value) ? undefined : `${at} must be an array`)],
    ['required', isStringList],
    ['pattern', isPattern],
    ...each(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'], isNumber),
    ...each(['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'], isCount),
    ['uniqueItems', (value, at) => (typeof value === 'boolean' ? undefined : `${at} must be a boolean`)],
  ]);

  return { visit };
}

/** The ids that references inside a bundled schema may name. Bounded like the walk itself. */
function collectIds(schema: JsonObject): ReadonlySet<string> {
  const ids = new Set<string>();
  const open: unknown[] = [schema];
  for (let seen = 0; open.length > 0 && seen < MAX_SUBSCHEMAS * 4; seen += 1) {
    const node = open.pop();
    if (typeof node !== 'object' || node === null) continue;
    if (isJsonObject(node) && typeof node['$id'] === 'string') ids.add(node['$id'].replace(/#.*$/s, ''));
    for (const value of Object.values(node)) open.push(value);
  }
  return ids;
}

type Rule = (value: unknown, at: string, depth: number) => string | undefined;

const TYPES: ReadonlySet<unknown> = new Set([
  'array',
  'boolean',
  'integer',
  'null',
  'number',
  'object',
  'string',
]);

const isType: Rule = (value, at) => {
  const types = Array.isArray(value) ? value : [value];
  return types.length > 0 && types.every((type) => TYPES.has(type))
    ? undefined
    : `${at} must be one of ${[...TYPES].join(', ')}, or a list of them`;
};

const isStringList: Rule = (value, at) =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')
    ? undefined
    : `${at} must be an array of strings`;

const isNumber: Rule = (value, at) => (typeof value === 'number' ? undefined : `${at} must be a number`);

const isCount: Rule = (value, at) =>
  Number.isInteger(value) && (value as number) >= 0 ? undefined : `${at} must be a whole number`;

const isPattern: Rule = (value, at) => {
  if (typeof value !== 'string') return `${at} must be a string`;
  try {
    new RegExp(value, 'u');
    return undefined;
  } catch {
    return `${at} is not a regular expression`;
  }
};

function each(keywords: readonly string[], rule: Rule): [string, Rule][] {
  return keywords.map((keyword) => [keyword, rule]);
}

function first<T>(items: Iterable<T>, problemOf: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const problem = problemOf(item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
