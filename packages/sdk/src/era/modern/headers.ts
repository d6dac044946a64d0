import { isUtf8 } from 'node:buffer';
import type { HeaderParam } from '../../exchange/call.js';
import { isJsonObject, type JsonObject } from '../../wire/json-rpc.js';

export type { HeaderParam };

/** The value of `Mcp-Name` for a request (HTTP-030); `undefined` for methods without this header. */
export function routingName(method: string, params: JsonObject | undefined): string | undefined {
  const name = namedBy(method, params);
  return typeof name === 'string' ? name : undefined;
}

/** The name as the body has it, which may be any JSON value; `undefined` if the body has none. */
export function namedBy(method: string, params: JsonObject | undefined): unknown {
  const member = NAMED_BY.get(method);
  return member === undefined ? undefined : params?.[member];
}

/** Whether requests of this method have the header `Mcp-Name`. */
export function isNamed(method: string): boolean {
  return NAMED_BY.has(method);
}

/** Plain if a header can hold it, else Base64 between markers (HTTP-053, HTTP-054, HTTP-056). */
export function encodeHeaderValue(value: string | number | boolean): string {
  const text = String(value);
  if (PLAIN.test(text) && !(text.startsWith(OPENING) && text.endsWith(CLOSING))) return text;
  return `${OPENING}${Buffer.from(text).toString('base64')}${CLOSING}`;
}

/** Decodes what `encodeHeaderValue` wrote. Undefined: anything else cannot be decoded (HTTP-057, HTTP-059). */
export function decodeHeaderValue(text: string): string | undefined {
  const trimmed = withoutBlanks(text);
  if (!trimmed.startsWith(OPENING) || !trimmed.endsWith(CLOSING) || trimmed.length < SHORTEST) {
    return VISIBLE.test(trimmed) ? trimmed : undefined;
  }
  const encoded = trimmed.slice(OPENING.length, -CLOSING.length);
  const bytes = Buffer.from(encoded, 'base64');
  // Node decodes Base64 leniently; only text that it would write itself is valid.
  if (bytes.toString('base64') !== encoded || !isUtf8(bytes)) return undefined;
  return bytes.toString();
}

/** Removes the blanks at both ends. A regular expression with `+$` takes quadratic time on many blanks. */
function withoutBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text, start)) start += 1;
  while (end > start && isBlank(text, end - 1)) end -= 1;
  return text.slice(start, end);
}

function isBlank(text: string, at: number): boolean {
  return text[at] === ' ' || text[at] === '\t';
}

type HeaderParams =
  | { readonly kind: 'valid'; readonly params: readonly HeaderParam[] }
  | { readonly kind: 'invalid'; readonly why: string };

/** The `x-mcp-header` annotations of an input schema. One invalid annotation makes the tool invalid (HTTP-040 … HTTP-046). */
export function readHeaderParams(inputSchema: unknown): HeaderParams {
  const params: HeaderParam[] = [];
  const taken = new Set<string>();
  // A list instead of recursion: the depth of a schema must not exhaust the stack.
  const places: Place[] = [{ schema: inputSchema, path: [], straight: true }];
  for (let place = places.pop(); place; place = places.pop()) {
    const { schema, path } = place;
    if (!isJsonObject(schema)) continue;
    if (Object.hasOwn(schema, ANNOTATION)) {
      const read = readAnnotation(place, schema, taken);
      if (typeof read === 'string') {
        return { kind: 'invalid', why: `${ANNOTATION} at ${path.join('.') || 'the root'} ${read}` };
      }
      params.push(read);
    }
    places.push(...placesIn(place, schema));
  }
  return { kind: 'valid', params };
}

/** The value of the argument; `undefined`: the request has no such header (HTTP-049, HTTP-050). */
export function headerParamValue(param: HeaderParam, args: unknown): string | number | boolean | undefined {
  let value = args;
  for (const step of param.path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : undefined;
}

/** Whether a header matches the body; numbers are compared as numbers (HTTP-037, HTTP-058). */
export function headerMatches(
  param: HeaderParam,
  value: string | number | boolean,
  headerText: string,
): boolean {
  const decoded = decodeHeaderValue(headerText);
  if (decoded === undefined) return false;
  if (param.type === 'integer' && typeof value === 'number') {
    return NUMBER.test(decoded) && Number(decoded) === value;
  }
  return decoded === String(value);
}

const NAMED_BY = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  // TASK-M-070, TASK-M-071
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/** Printable ASCII without blanks at its ends, which HTTP would remove. */
const PLAIN = /^(?! )[ -~]*(?<! )$/;
/** The characters that a header may have. */
const VISIBLE = /^[\t -~]*$/;
/** Lowercase only: other spellings are plain text (HTTP-055). */
const OPENING = '=?base64?';
const CLOSING = '?=';
const SHORTEST = OPENING.length + CLOSING.length;
const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

const ANNOTATION = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);

interface Place {
  readonly schema: unknown;
  readonly path: readonly string[];
  /** Reached from the root through `properties` alone. */
  readonly straight: boolean;
}

function readAnnotation(
  { path, straight }: Place,
  schema: JsonObject,
  taken: Set<string>,
): HeaderParam | string {
  const { [ANNOTATION]: header, type } = schema;
  if (!straight || path.length === 0) return 'is not on a property that is reached through properties alone';
  if (typeof header !== 'string' || !TOKEN.test(header)) {
    return `is not a valid header name: ${JSON.stringify(header)}`;
  }
  if (!TYPES.has(type)) return `is on type ${JSON.stringify(type)} instead of string, integer or boolean`;
  if (taken.has(header.toLowerCase())) return `repeats the name ${header}`;
  taken.add(header.toLowerCase());
  return { header, path, type: type as HeaderParam['type'] };
}

function placesIn({ path, straight }: Place, schema: JsonObject): Place[] {
  const places: Place[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    const shape = SUBSCHEMAS.get(keyword);
    if (shape === 'map' && isJsonObject(value)) {
      const goesOn = straight && keyword === 'properties';
      for (const [name, sub] of Object.entries(value)) {
        places.push({ schema: sub, path: [...path, name], straight: goesOn });
      }
    } else if (shape === 'schemas') {
      for (const sub of Array.isArray(value) ? value : [value]) {
        places.push({ schema: sub, path: [...path, keyword], straight: false });
      }
    }
  }
  // The list is read from its end. In the order of the schema, the error is about the second of two equal names.
  return places.reverse();
}

/** The keywords with subschemas; in other keywords (`default`, `const`, …) the annotation is plain data. */
const SUBSCHEMAS = new Map<string, 'map' | 'schemas'>([
  ...(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'] as const).map(
    (keyword) => [keyword, 'map'] as const,
  ),
  ...(
    [
      'items',
      'prefixItems',
      'additionalItems',
      'unevaluatedItems',
      'contains',
      'additionalProperties',
      'unevaluatedProperties',
      'propertyNames',
      'allOf',
      'anyOf',
      'oneOf',
      'not',
      'if',
      'then',
      'else',
      'contentSchema',
    ] as const
  ).map((keyword) => [keyword, 'schemas'] as const),
]);
