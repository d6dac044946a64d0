import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

export type Revision = '2024-11-05' | '2025-03-26' | '2025-06-18' | '2025-11-25' | '2026-07-28';
export type Json = Record<string, unknown>;

/** Judges what a server sent by the schema that the specification publishes for a revision. */
export interface OfficialSchema {
  /**
   * What is wrong with a frame, one line per problem, none when it is right. Stricter than the published
   * schema, which tolerates any further member: a member that the revision does not know is a problem.
   * `asked` is the method of the request that the frame answers.
   */
  problems(frame: Json, asked: string | undefined): string[];
}

const schemas = new Map<Revision, OfficialSchema>();

export function officialSchema(revision: Revision): OfficialSchema {
  let schema = schemas.get(revision);
  if (!schema) {
    schema = compile(revision);
    schemas.set(revision, schema);
  }
  return schema;
}

/** The members of a result, by the method that was called. */
const RESULTS: Record<string, string> = {
  initialize: 'InitializeResult',
  ping: 'EmptyResult',
  'server/discover': 'DiscoverResult',
  'tools/list': 'ListToolsResult',
  'tools/call': 'CallToolResult',
  'resources/list': 'ListResourcesResult',
  'resources/templates/list': 'ListResourceTemplatesResult',
  'resources/read': 'ReadResourceResult',
  'resources/subscribe': 'EmptyResult',
  'resources/unsubscribe': 'EmptyResult',
  'prompts/list': 'ListPromptsResult',
  'prompts/get': 'GetPromptResult',
  'completion/complete': 'CompleteResult',
  'logging/setLevel': 'EmptyResult',
  'subscriptions/listen': 'SubscriptionsListenResult',
};

function compile(revision: Revision): OfficialSchema {
  const text = readFileSync(new URL(`schemas/${revision}.json`, import.meta.url), 'utf8');
  const schema = JSON.parse(text) as Json;
  const key = schema['$defs'] ? '$defs' : 'definitions';
  const definitions = schema[key] as Record<string, Json>;
  const byMethod = methodsOf(definitions);
  close(definitions);
  const ajv = schema['$defs']
    ? new Ajv2020({ strict: false, formats: FORMATS })
    : new Ajv({ strict: false, formats: FORMATS });
  ajv.addSchema(schema, 'mcp');
  const compiled = new Map<string, ValidateFunction>();

  const check = (definition: string, value: unknown): string[] => {
    if (!definitions[definition]) return [`${revision} has no ${definition}`];
    let validate = compiled.get(definition);
    if (!validate) {
      validate = ajv.compile({ $ref: `mcp#/${key}/${definition}` });
      compiled.set(definition, validate);
    }
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${definition}${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  };

  const checkResult = (result: Json, asked: string | undefined): string[] => {
    const definition = asked === undefined ? undefined : RESULTS[asked];
    if (definition === undefined) return [`answers ${asked ?? 'no request'}, which is not a known method`];
    if (revision !== '2026-07-28') {
      // The empty result is an open object: any member is allowed, so say what is expected.
      const surplus = definition === 'EmptyResult' ? Object.keys(result).filter((k) => k !== '_meta') : [];
      return [...check(definition, result), ...surplus.map((name) => `EmptyResult/${name} is surplus`)];
    }
    const kind = result['resultType'];
    if (kind === 'complete') return check(definition, result);
    if (kind !== 'input_required') return [`resultType is ${JSON.stringify(kind)}`];
    return ROUNDS.includes(asked!)
      ? check('InputRequiredResult', result)
      : [`${asked} cannot be answered with input_required (MRTR-001)`];
  };

  return {
    problems(frame, asked) {
      if (frame['error'] !== undefined) {
        return check(definitions['JSONRPCErrorResponse'] ? 'JSONRPCErrorResponse' : 'JSONRPCError', frame);
      }
      if (frame['result'] !== undefined) {
        const envelope = definitions['JSONRPCResultResponse'] ? 'JSONRPCResultResponse' : 'JSONRPCResponse';
        const { result, ...rest } = frame;
        // The envelope's own idea of a result is the bare base type.
        const base = revision === '2026-07-28' ? { resultType: 'complete' } : {};
        return [...check(envelope, { ...rest, result: base }), ...checkResult(result as Json, asked)];
      }
      const method = String(frame['method']);
      const isRequest = frame['id'] !== undefined;
      if (isRequest && revision === '2026-07-28') return [`a modern server sent the request ${method}`];
      const definition = byMethod.get(method);
      if (!definition) return [`${revision} has no ${method}`];
      if (definition.full) return check(definition.name, frame);
      const { jsonrpc, id, ...rest } = frame;
      return [
        ...check(isRequest ? 'JSONRPCRequest' : 'JSONRPCNotification', frame),
        ...check(definition.name, rest),
      ];
    },
  };
}

const ROUNDS = ['tools/call', 'prompts/get', 'resources/read'];

const FORMATS = {
  uri: (text: string) => URL.canParse(text),
  'uri-template': true,
  byte: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
} as const;

interface MethodDefinition {
  readonly name: string;
  /** Whether it describes the whole frame; before 2025-11-25 it leaves out `jsonrpc` and `id`. */
  readonly full: boolean;
}

function methodsOf(definitions: Record<string, Json>): Map<string, MethodDefinition> {
  const found = new Map<string, MethodDefinition>();
  for (const [name, definition] of Object.entries(definitions)) {
    const properties = definition['properties'] as Record<string, Json> | undefined;
    const method = properties?.['method']?.['const'];
    if (typeof method === 'string') found.set(method, { name, full: 'jsonrpc' in properties! });
  }
  return found;
}

/** Shuts every object whose members the schema names and that it does not leave open on purpose. */
function close(definitions: Record<string, Json>): void {
  for (const [name, definition] of Object.entries(definitions)) {
    // Metadata is open by definition; an error's data too.
    if (!name.endsWith('MetaObject')) shut(definition, name);
  }
}

function shut(node: unknown, name: string): void {
  if (Array.isArray(node)) {
    for (const item of node) shut(item, name);
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  const schema = node as Json;
  const properties = schema['properties'];
  if (schema['type'] === 'object' && isObject(properties)) {
    if (Object.keys(properties).length > 0 && schema['additionalProperties'] === undefined) {
      schema['additionalProperties'] = false;
      // Every request and notification may carry `_meta`, whether its own definition says so or not.
      if (name === 'params') properties['_meta'] ??= {};
    }
    // The schemas of tools are JSON Schema, with all its keywords.
    for (const [key, value] of Object.entries(properties)) {
      if (key !== '_meta' && key !== 'inputSchema' && key !== 'outputSchema') shut(value, key);
    }
  }
  for (const keyword of ['items', 'anyOf', 'oneOf', 'additionalProperties']) shut(schema[keyword], name);
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
