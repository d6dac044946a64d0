import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';

/** Says what is wrong with a value, or `undefined`. */
type SimpleCheck = (value: unknown, path: string) => string | undefined;

/**
 * Checks the schemas that most tools have: a flat object of strings, numbers and choices. To load a full validator costs
 * a stdio server more time than the rest of its start. `undefined`: this schema needs the full validator. A property test
 * compares the verdicts of both.
 */
export function compileSimpleSchema(schema: unknown): SimpleCheck | undefined {
  if (!isJsonObject(schema)) return undefined;
  const checks: SimpleCheck[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (ANNOTATIONS.has(keyword) || keyword.startsWith('x-')) continue;
    const check = COMPILERS.get(keyword)?.(value, schema);
    if (!check) return undefined;
    checks.push(check);
  }
  return (value, path) => {
    for (const check of checks) {
      const problem = check(value, path);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

const ANNOTATIONS: ReadonlySet<string> = new Set([
  '$schema',
  '$comment',
  'title',
  'description',
  'default',
  'examples',
  'format',
  'deprecated',
  'readOnly',
  'writeOnly',
]);

type KeywordCompiler = (value: unknown, schema: JsonObject) => SimpleCheck | undefined;

const COMPILERS = new Map<string, KeywordCompiler>([
  ['type', compileType],
  ['enum', compileEnum],
  ['required', compileRequired],
  ['properties', compileProperties],
  ['additionalProperties', compileAdditional],
  ['items', compileItems],
  ['minimum', bound('number', (value, limit) => value >= limit, 'must be >=')],
  ['maximum', bound('number', (value, limit) => value <= limit, 'must be <=')],
  ['minLength', bound('string', (value, limit) => value >= limit, 'must have a length >=')],
  ['maxLength', bound('string', (value, limit) => value <= limit, 'must have a length <=')],
  ['minItems', bound('array', (value, limit) => value >= limit, 'must have a number of items >=')],
  ['maxItems', bound('array', (value, limit) => value <= limit, 'must have a number of items <=')],
]);

const TYPE_TESTS: ReadonlyMap<unknown, (value: unknown) => boolean> = new Map([
  ['string', (value: unknown) => typeof value === 'string'],
  ['number', (value: unknown) => Number.isFinite(value)],
  ['integer', (value: unknown) => Number.isInteger(value)],
  ['boolean', (value: unknown) => typeof value === 'boolean'],
  ['object', isJsonObject],
  ['array', (value: unknown) => Array.isArray(value)],
  ['null', (value: unknown) => value === null],
]);

function compileType(type: unknown): SimpleCheck | undefined {
  const test = TYPE_TESTS.get(type);
  return test && ((value, path) => (test(value) ? undefined : say(path, `must be ${String(type)}`)));
}

function compileEnum(choices: unknown): SimpleCheck | undefined {
  if (!Array.isArray(choices) || choices.some((choice) => typeof choice === 'object' && choice !== null)) {
    return undefined;
  }
  const allowed = new Set<unknown>(choices);
  const sentence = `must be one of ${choices.map((choice) => JSON.stringify(choice)).join(', ')}`;
  return (value, path) => (allowed.has(value) ? undefined : say(path, sentence));
}

function compileRequired(names: unknown): SimpleCheck | undefined {
  if (!Array.isArray(names)) return undefined;
  return (value, path) => {
    if (!isJsonObject(value)) return undefined;
    for (const name of names) {
      if (!Object.hasOwn(value, name)) return say(path, `must have required property '${name}'`);
    }
    return undefined;
  };
}

function compileProperties(properties: unknown): SimpleCheck | undefined {
  if (!isJsonObject(properties)) return undefined;
  const compiled = new Map<string, SimpleCheck>();
  for (const [name, schema] of Object.entries(properties)) {
    const check = compileSimpleSchema(schema);
    if (!check) return undefined;
    compiled.set(name, check);
  }
  const own = [...compiled.keys()];
  return (value, path) => {
    if (!isJsonObject(value)) return undefined;
    // Many small values against a schema of many properties would cost the product of both.
    const names = own.length > MANY ? Object.keys(value) : own;
    for (const name of names) {
      const check = compiled.get(name);
      if (!check || !Object.hasOwn(value, name)) continue;
      const problem = check(value[name], path === '' ? name : `${path}.${name}`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

const MANY = 64;

function compileAdditional(allowed: unknown, schema: JsonObject): SimpleCheck | undefined {
  if (allowed === true) return () => undefined;
  if (allowed !== false) return undefined;
  const known = new Set(Object.keys(isJsonObject(schema['properties']) ? schema['properties'] : {}));
  return (value, path) => {
    if (!isJsonObject(value)) return undefined;
    const extra = Object.keys(value).find((name) => !known.has(name));
    return extra === undefined
      ? undefined
      : say(path, `must NOT have additional properties (${JSON.stringify(extra)})`);
  };
}

function compileItems(schema: unknown): SimpleCheck | undefined {
  const check = compileSimpleSchema(schema);
  if (!check) return undefined;
  return (value, path) => {
    if (!Array.isArray(value)) return undefined;
    for (const [index, item] of value.entries()) {
      const problem = check(item, path === '' ? String(index) : `${path}.${index}`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

/** Lengths of strings count characters, not UTF-16 units. */
function bound(
  kind: 'number' | 'string' | 'array',
  fits: (measure: number, limit: number) => boolean,
  sentence: string,
): KeywordCompiler {
  const measure = (value: unknown): number | undefined => {
    if (kind === 'number') return typeof value === 'number' ? value : undefined;
    if (kind === 'array') return Array.isArray(value) ? value.length : undefined;
    return typeof value === 'string' ? countCharacters(value) : undefined;
  };
  return (limit) => {
    if (typeof limit !== 'number') return undefined;
    return (value, path) => {
      const measured = measure(value);
      return measured === undefined || fits(measured, limit) ? undefined : say(path, `${sentence} ${limit}`);
    };
  };
}

function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

function say(path: string, what: string): string {
  return path === '' ? what : `${path}: ${what}`;
}
