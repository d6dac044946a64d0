import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';

/** Which tools of a server may be called: somebody's files may hang on it. */
export interface Consent {
  /** All that do not say that they destroy something. */
  readonly callTools: boolean;
  /** These, whatever they say. */
  readonly allow: readonly string[];
  /** None but those of `allow`, not even tools that say that they only read: they may reach out, or cost money. */
  readonly noTools: boolean;
}

/** Why a tool is not called; undefined when it may be. */
export function objectionTo(tool: JsonObject, { callTools, allow, noTools }: Consent): string | undefined {
  const name = String(tool['name']);
  if (allow.includes(name)) return undefined;
  if (noTools) return `${name} is not called because of --no-tools`;
  const annotations = isJsonObject(tool['annotations']) ? tool['annotations'] : {};
  if (annotations['readOnlyHint'] === true) return undefined;
  if (annotations['destructiveHint'] === true)
    return `${name} says that it destroys something; --allow ${name} calls it`;
  if (callTools) return undefined;
  return `${name} does not say that it only reads; --call-tools or --allow ${name} calls it`;
}

interface KnownTool {
  /** To see what it does, without waiting long. */
  readonly quick?: JsonObject;
  /** To keep it busy for so long. */
  readonly slow?: (ms: number) => JsonObject;
  /** What changes when it is called. */
  readonly changes?: ListChanges;
}

export interface ListChanges {
  /** Lists that change: `tools`, `prompts`, `resources`. */
  readonly lists: readonly ('tools' | 'prompts' | 'resources')[];
  /** Resources that change. */
  readonly uris: readonly string[];
}

const longRunning = (ms: number): JsonObject => ({ duration: ms / 1000, steps: Math.ceil(ms / 100) });

const KNOWN: Readonly<Record<string, KnownTool>> = {
  // `isthmus demo`
  sleep: { quick: { ms: 120 }, slow: (ms) => ({ ms }) },
  touch: { changes: { lists: ['tools'], uris: ['demo://clock'] } },
  // The fixture of the official conformance suite
  test_trigger_tool_change: { changes: { lists: ['tools'], uris: [] } },
  test_trigger_prompt_change: { changes: { lists: ['prompts'], uris: [] } },
  test_trigger_resource_change: { changes: { lists: ['resources'], uris: [] } },
  // server-everything, now and before
  'trigger-long-running-operation': { quick: longRunning(300), slow: longRunning },
  longRunningOperation: { quick: longRunning(300), slow: longRunning },
};

/** Arguments that show more than those made from the schema; undefined where the tool is another one. */
export function quickArguments(tool: JsonObject): JsonObject | undefined {
  return fitting(tool, knownTool(tool)?.quick);
}

/** Arguments with which the tool takes so long. */
export function slowArguments(tool: JsonObject, ms: number): JsonObject | undefined {
  return fitting(tool, knownTool(tool)?.slow?.(ms));
}

/** What changes when it is called; those that are known need no arguments. */
export function changesOf(tool: JsonObject): ListChanges | undefined {
  const schema = tool['inputSchema'];
  const required = isJsonObject(schema) ? schema['required'] : undefined;
  return Array.isArray(required) && required.length > 0 ? undefined : knownTool(tool)?.changes;
}

function knownTool(tool: JsonObject): KnownTool | undefined {
  const name = String(tool['name']);
  return Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined;
}

/** Another tool may have the same name: then its arguments have others. */
function fitting(tool: JsonObject, args: JsonObject | undefined): JsonObject | undefined {
  const schema = tool['inputSchema'];
  const properties = isJsonObject(schema) ? schema['properties'] : undefined;
  if (!args || !isJsonObject(properties)) return undefined;
  return Object.keys(args).every((name) => isJsonObject(properties[name])) ? args : undefined;
}

/** Arguments that fit an input schema, as small as it allows: the required ones and nothing else. */
export function sampleArguments(schema: unknown): JsonObject {
  const value = sampleOf(schema, schema, 0);
  return isJsonObject(value) ? value : {};
}

/** A value that fits, as far as a glance can tell. */
function sampleOf(schema: unknown, root: unknown, depth: number): unknown {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return {};
  const ref = resolve(schema['$ref'], root);
  if (ref !== undefined) return sampleOf(ref, root, depth + 1);
  if (schema['const'] !== undefined) return schema['const'];
  if (schema['default'] !== undefined) return schema['default'];
  const first = firstOf(schema['enum']) ?? firstOf(schema['examples']);
  if (first !== undefined) return first;
  for (const key of ['oneOf', 'anyOf'] as const) {
    const option = firstOf(schema[key]);
    if (option !== undefined)
      return mergeObjects(sampleOf(option, root, depth + 1), sampleObject(schema, root, depth));
  }
  if (Array.isArray(schema['allOf'])) {
    const parts = schema['allOf'].map((part) => sampleOf(part, root, depth + 1));
    return parts.reduce(mergeObjects, sampleObject(schema, root, depth));
  }
  return sampleByType(schema, root, depth);
}

function sampleByType(schema: JsonObject, root: unknown, depth: number): unknown {
  const type = Array.isArray(schema['type']) ? schema['type'][0] : schema['type'];
  switch (type) {
    case 'string':
      return sampleString(schema);
    case 'integer':
    case 'number':
      return sampleNumber(schema);
    case 'boolean':
      return false;
    case 'null':
      return null;
    case 'array':
      return Array.from({ length: numberOr(schema['minItems'], 0) }, () =>
        sampleOf(schema['items'], root, depth + 1),
      );
    default:
      return sampleObject(schema, root, depth);
  }
}

function sampleObject(schema: JsonObject, root: unknown, depth: number): JsonObject {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.fromEntries(
    required.map((name) => [
      String(name),
      sampleNamed(String(name), properties[String(name)], root, depth + 1),
    ]),
  );
}

/** A text for an address is one, even where its schema does not say so. */
function sampleNamed(name: string, schema: unknown, root: unknown, depth: number): unknown {
  const value = sampleOf(schema, root, depth);
  return value === 'hello' && /ur[il]$/i.test(name) ? 'https://example.com/' : value;
}

function sampleString(schema: JsonObject): string {
  const format = FORMATS.get(String(schema['format']));
  if (format !== undefined) return format;
  const least = numberOr(schema['minLength'], 0);
  return 'hello'.padEnd(least, 'o').slice(0, Math.max(least, numberOr(schema['maxLength'], 5)));
}

function sampleNumber(schema: JsonObject): number {
  const step = schema['type'] === 'integer' ? 1 : 0.5;
  const least = Math.max(
    numberOr(schema['minimum'], Number.NEGATIVE_INFINITY),
    numberOr(schema['exclusiveMinimum'], Number.NEGATIVE_INFINITY) + step,
  );
  const most = Math.min(
    numberOr(schema['maximum'], Number.POSITIVE_INFINITY),
    numberOr(schema['exclusiveMaximum'], Number.POSITIVE_INFINITY) - step,
  );
  const wanted = Math.min(Math.max(1, least), most);
  const multiple = numberOr(schema['multipleOf'], 0);
  return multiple > 0 ? Math.ceil(wanted / multiple) * multiple : wanted;
}

const MAX_DEPTH = 8;

const FORMATS: ReadonlyMap<string, string> = new Map([
  ['date', '2026-07-28'],
  ['date-time', '2026-07-28T00:00:00Z'],
  ['time', '00:00:00Z'],
  ['email', 'nobody@example.com'],
  ['uri', 'https://example.com/'],
  ['url', 'https://example.com/'],
  ['uuid', '00000000-0000-4000-8000-000000000000'],
  ['hostname', 'example.com'],
  ['ipv4', '192.0.2.1'],
  ['ipv6', '2001:db8::1'],
]);

function resolve(ref: unknown, root: unknown): unknown {
  if (typeof ref !== 'string' || !ref.startsWith('#/')) return undefined;
  let place: unknown = root;
  for (const step of ref.slice(2).split('/')) {
    place = isJsonObject(place) ? place[step.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
  }
  return place;
}

function firstOf(values: unknown): unknown {
  return Array.isArray(values) ? values[0] : undefined;
}

function mergeObjects(a: unknown, b: unknown): unknown {
  return isJsonObject(a) && isJsonObject(b) ? { ...a, ...b } : a;
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
