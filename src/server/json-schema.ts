import type { AnySchemaObject, ErrorObject, ValidateFunction } from 'ajv';
import { messageOf, ProtocolError } from '../errors.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';
import type { Checked } from './schema.js';

/**
 * JSON Schema by ajv, which is loaded at the first value that needs checking: most servers never pay for it.
 * Dialects: 2020-12 (the default) and draft-07. References never reach the network.
 */
export function compileJsonSchema(
  schema: JsonObject,
  owner: string,
): (value: unknown) => Checked | Promise<Checked> {
  let validate: ValidateFunction | undefined;
  const check = (value: unknown): Checked => {
    if (validate!(value)) return { ok: true, value };
    return { ok: false, problem: (validate!.errors ?? []).map(toSentence).join('; ') };
  };
  return (value) => {
    if (validate) return check(value);
    return loadValidator(schema, owner).then((loaded) => {
      validate = loaded;
      return check(value);
    });
  };
}

/** Says what makes a schema unusable before anything is compiled; bounds hostile ones (JSCH-003, JSCH-010). */
export function checkJsonSchema(schema: JsonObject): string | undefined {
  const dialect = schema['$schema'];
  if (dialect !== undefined && !(typeof dialect === 'string' && dialectOf(dialect))) {
    return `its dialect ${JSON.stringify(dialect)} is not supported (2020-12 and draft-07 are)`;
  }
  let nodes = 0;
  const visit = (node: unknown, depth: number): string | undefined => {
    if (typeof node !== 'object' || node === null) return undefined;
    nodes += 1;
    if (nodes > MAX_NODES) return `it has more than ${MAX_NODES} parts`;
    if (depth > MAX_DEPTH) return `it is nested more than ${MAX_DEPTH} levels deep`;
    const ref = isJsonObject(node) ? node['$ref'] : undefined;
    if (typeof ref === 'string' && /^[a-z][a-z0-9+.-]*:/i.test(ref) && !isOwnId(schema, ref)) {
      return `its reference ${ref} points outside, and references are never fetched`;
    }
    for (const inner of Object.values(node)) {
      const problem = visit(inner, depth + 1);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
  return visit(schema, 0);
}

const MAX_NODES = 20_000;
const MAX_DEPTH = 128;

function isOwnId(schema: JsonObject, ref: string): boolean {
  return typeof schema['$id'] === 'string' && ref.startsWith(schema['$id']);
}

function dialectOf(uri: string): '2020-12' | 'draft-07' | undefined {
  if (/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/.test(uri)) return '2020-12';
  if (/^https?:\/\/json-schema\.org\/draft-07\/schema#?$/.test(uri)) return 'draft-07';
  return undefined;
}

async function loadValidator(schema: JsonObject, owner: string): Promise<ValidateFunction> {
  const dialect = typeof schema['$schema'] === 'string' ? dialectOf(schema['$schema']) : '2020-12';
  const { Ajv } = dialect === 'draft-07' ? await import('ajv') : await import('./ajv-2020.js');
  try {
    // In 2020-12 `format` is an annotation; unknown keywords (x-mcp-header) are allowed.
    const ajv = new Ajv({ strict: false, validateFormats: false, logger: false });
    return ajv.compile(schema as AnySchemaObject);
  } catch (error) {
    throw new ProtocolError(
      ErrorCode.InternalError,
      `The schema of ${owner} is not valid: ${messageOf(error)}`,
    );
  }
}

function toSentence(error: ErrorObject): string {
  const path = error.instancePath.slice(1).replaceAll('/', '.');
  const extra = error.params['additionalProperty'] ?? error.params['unevaluatedProperty'];
  const what = `${error.message ?? 'is not valid'}${extra === undefined ? '' : ` (${JSON.stringify(extra)})`}`;
  return path === '' ? what : `${path}: ${what}`;
}
