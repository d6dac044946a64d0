import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';

/** Which tools of a server may be called. A tool may change or delete data of the user. */
export interface Consent {
  /** All tools without `destructiveHint`. */
  readonly callTools: boolean;
  /** These tools, whatever their annotations say. */
  readonly allow: readonly string[];
  /** Only the tools of `allow`. Even a tool with `readOnlyHint` may use the network or cost money. */
  readonly noTools: boolean;
}

/** Why a tool is not called; undefined if it may be called. */
export function objectionTo(tool: JsonObject, { callTools, allow, noTools }: Consent): string | undefined {
  const name = String(tool['name']);
  if (allow.includes(name)) return undefined;
  if (noTools) return `${name} is not called because of --no-tools`;
  const annotations = isJsonObject(tool['annotations']) ? tool['annotations'] : {};
  if (annotations['readOnlyHint'] === true) return undefined;
  if (annotations['destructiveHint'] === true) return `${name} has destructiveHint; --allow ${name} calls it`;
  if (callTools) return undefined;
  return `${name} has no readOnlyHint; --call-tools or --allow ${name} calls it`;
}

interface KnownTool {
  /** Arguments for a quick call that shows what the tool does. */
  readonly quick?: JsonObject;
  /** Arguments for a call that takes so long. */
  readonly slow?: (ms: number) => JsonObject;
  /** What changes when it is called. */
  readonly changes?: ListChanges;
}

interface ListChanges {
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
  // server-everything, current and older versions
  'trigger-long-running-operation': { quick: longRunning(300), slow: longRunning },
  longRunningOperation: { quick: longRunning(300), slow: longRunning },
};

/** Arguments that show more than arguments made from the schema; undefined for an unknown tool. */
export function quickArguments(tool: JsonObject): JsonObject | undefined {
  return fitting(tool, knownTool(tool)?.quick);
}

/** Arguments for a call that takes `ms`; undefined for an unknown tool. */
export function slowArguments(tool: JsonObject, ms: number): JsonObject | undefined {
  return fitting(tool, knownTool(tool)?.slow?.(ms));
}

/** What changes when the tool is called. The known tools need no arguments. */
export function changesOf(tool: JsonObject): ListChanges | undefined {
  const schema = tool['inputSchema'];
  const required = isJsonObject(schema) ? schema['required'] : undefined;
  return Array.isArray(required) && required.length > 0 ? undefined : knownTool(tool)?.changes;
}

function knownTool(tool: JsonObject): KnownTool | undefined {
  const name = String(tool['name']);
  return Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined;
}

/** Another tool may have the same name, but then it has other arguments. */
function fitting(tool: JsonObject, args: JsonObject | undefined): JsonObject | undefined {
  const schema = tool['inputSchema'];
  const properties = isJsonObject(schema) ? schema['properties'] : undefined;
  if (!args || !isJsonObject(properties)) return undefined;
  return Object.keys(args).every((name) => isJsonObject(properties[name])) ? args : undefined;
}

/** The smallest arguments that match an input schema: only the required ones. */
export function sampleArguments(schema: unknown): JsonObject {
  const value = sampleOf(schema, schema, 0);
  return isJsonObject(value) ? value : {};
}

/** A value that probably matches. */
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

/** An argument named like an address gets a URL, even if its schema has no format. */
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
