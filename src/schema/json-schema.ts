import type { AnySchemaObject, ErrorObject, ValidateFunction } from 'ajv';
import { messageOf, ProtocolError } from '../errors.js';
import { ErrorCode } from '../wire/error-codes.js';
import type { JsonObject } from '../wire/json-rpc.js';
import { dialectOf } from './json-schema-shape.js';
import { compileSimpleSchema } from './simple-schema.js';

/** A value that fits, as the schema understands it, or why it does not. */
export type Checked =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

/**
 * JSON Schema by ajv, which is loaded at the first value that needs it: most servers never pay for it.
 * Dialects: 2020-12 (the default) and draft-07. References never reach the network.
 */
export function compileJsonSchema(
  schema: JsonObject,
  owner: string,
): (value: unknown) => Checked | Promise<Checked> {
  const simple = dialectOf(schema['$schema']) === '2020-12' ? compileSimpleSchema(schema) : undefined;
  if (simple) {
    return (value) => {
      const problem = simple(value, '');
      return problem === undefined ? { ok: true, value } : { ok: false, problem };
    };
  }
  let validate: ValidateFunction | undefined;
  const check = (value: unknown): Checked => {
    if (validate!(value)) return { ok: true, value };
    return { ok: false, problem: (validate!.errors ?? []).map(toSentence).join('; ') };
  };
  let loading: Promise<ValidateFunction> | undefined;
  return (value) => {
    if (validate) return check(value);
    loading ??= loadValidator(schema, owner);
    return loading.then((loaded) => {
      validate = loaded;
      return check(value);
    });
  };
}

async function loadValidator(schema: JsonObject, owner: string): Promise<ValidateFunction> {
  const { Ajv } =
    dialectOf(schema['$schema']) === 'draft-07' ? await import('ajv') : await import('./ajv-2020.js');
  try {
    // In 2020-12 `format` is an annotation; unknown keywords (x-mcp-header) are allowed. The schema's shape
    // was checked when it was registered; compiling the meta-schema to do so again costs more than all else.
    const ajv = new Ajv({
      strict: false,
      ownProperties: true,
      validateFormats: false,
      validateSchema: false,
      logger: false,
    });
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
