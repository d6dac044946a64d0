import { createContext, Script } from 'node:vm';
import type { AnySchemaObject, ErrorObject, ValidateFunction } from 'ajv';
import { messageOf, ProtocolError } from '../errors.js';
import { ErrorCode } from '../wire/error-codes.js';
import type { JsonObject } from '../wire/json-rpc.js';
import { dialectOf, mayTakeLong } from './json-schema-shape.js';
import { compileSimpleSchema } from './simple-schema.js';

/** The value as the schema transforms it, or why it does not fit. */
export type Checked =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

/** Where a schema comes from. A peer's schema may be made to run for ever, so checks with it have a time limit. */
type SchemaSource = 'own' | 'peer';

/** How long one check with a peer's schema may take. Ordinary checks take microseconds. */
const PEER_CHECK_MS = 1000;

/**
 * JSON Schema by ajv, which is loaded with the first value that needs it, since most servers never do. Dialects: 2020-12
 * (the default) and draft-07. References are never fetched.
 */
export function compileJsonSchema(
  schema: JsonObject,
  owner: string,
  source: SchemaSource = 'own',
): (value: unknown) => Checked | Promise<Checked> {
  const simple = dialectOf(schema['$schema']) === '2020-12' ? compileSimpleSchema(schema) : undefined;
  if (simple) {
    return (value) => {
      const problem = simple(value, '');
      return problem === undefined ? { ok: true, value } : { ok: false, problem };
    };
  }
  const bounded = source === 'peer' && mayTakeLong(schema) ? withinLimit(owner) : undefined;
  let validate: ValidateFunction | undefined;
  const run = (value: unknown): Checked => {
    if (validate!(value)) return { ok: true, value };
    return { ok: false, problem: (validate!.errors ?? []).map(toSentence).join('; ') };
  };
  const check = bounded ? (value: unknown) => bounded(() => run(value)) : run;
  let loading: Promise<ValidateFunction> | undefined;
  return (value) => {
    if (validate) return check(value);
    loading ??= loadValidator(schema, owner, bounded ?? ((work) => work()));
    return loading.then((loaded) => {
      validate = loaded;
      return check(value);
    });
  };
}

type Run = <T>(work: () => T) => T;

/** Runs work within the time limit. After the first timeout the schema is not used again. */
function withinLimit(owner: string): Run {
  let tooSlow: ProtocolError | undefined;
  return (work) => {
    if (tooSlow) throw tooSlow;
    try {
      return runWithin(PEER_CHECK_MS, work);
    } catch (error) {
      if (!(error instanceof TimeIsOver)) throw error;
      tooSlow = new ProtocolError(
        ErrorCode.InternalError,
        `The schema of ${owner} cannot be used: a check with it takes longer than ${PEER_CHECK_MS} ms`,
      );
      throw tooSlow;
    }
  };
}

async function loadValidator(schema: JsonObject, owner: string, run: Run): Promise<ValidateFunction> {
  const { Ajv } =
    dialectOf(schema['$schema']) === 'draft-07' ? await import('ajv') : await import('./ajv-2020.js');
  try {
    // In 2020-12 `format` is an annotation, and unknown keywords (x-mcp-header) are allowed. The shape of the schema was
    // checked at registration; to check it again with the meta-schema costs more than all the rest.
    const ajv = new Ajv({
      strict: false,
      ownProperties: true,
      validateFormats: false,
      validateSchema: false,
      logger: false,
    });
    return run(() => ajv.compile(schema as AnySchemaObject));
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
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

/** Thrown by `runWithin` when the time is over. */
export class TimeIsOver extends Error {}

/**
 * Runs a synchronous function, and stops it when it takes longer than `ms`: V8 interrupts loops, recursion and regular
 * expressions. A stopped function may leave its own state half changed.
 */
export function runWithin<T>(ms: number, work: () => T): T {
  context ??= createContext({ work: undefined });
  script ??= new Script('work()');
  const outer = context['work'];
  context['work'] = work;
  try {
    return script.runInContext(context, { timeout: ms }) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException | undefined)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new TimeIsOver(`it took longer than ${ms} ms`);
  } finally {
    context['work'] = outer;
  }
}

let context: ReturnType<typeof createContext> | undefined;
let script: Script | undefined;
