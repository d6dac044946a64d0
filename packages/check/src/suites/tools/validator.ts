import { messageOf } from '@isthmus/sdk/internal/errors.js';
import { runWithin, TimeIsOver } from '@isthmus/sdk/internal/schema/json-schema.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { AnySchemaObject, ErrorObject } from 'ajv';

/** The CPU time for one validation, and the number of attempts on a busy machine. */
const MAX_MS = 2000;
const TRIES = 6;

/**
 * A schema of the server may take forever to validate (S9), so the time is limited. On a busy machine the limit may be
 * reached without enough CPU time, so the validation is repeated. Each attempt makes a new validator, since an aborted one
 * may be in an invalid state.
 */
async function withTimeLimit<V, T>(
  make: (isAgain: boolean) => Promise<V>,
  work: (validator: V) => T,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const validator = await make(tries > 1);
    const before = process.cpuUsage();
    try {
      return runWithin(MAX_MS * tries, () => work(validator));
    } catch (error) {
      const { user, system } = process.cpuUsage(before);
      const hadEnoughCpu = (user + system) / 1000 > MAX_MS / 2;
      if (!(error instanceof TimeIsOver)) throw error;
      if (hadEnoughCpu || tries === TRIES) throw new TimeIsOver(`it took longer than ${MAX_MS} ms`);
    }
  }
}

/** The fault of a schema; undefined if it is valid in its dialect. */
export async function problemOfSchema(schema: unknown): Promise<string | undefined> {
  if (typeof schema === 'boolean') return undefined;
  if (!isJsonObject(schema)) return `it is ${JSON.stringify(schema)}, which is not a schema`;
  const dialect = dialectName(schema);
  if (dialect === undefined) return undefined;
  try {
    const make = (isAgain: boolean) => {
      const judge = (!isAgain && metaJudges[dialect]) || createMetaJudge(dialect);
      metaJudges[dialect] = judge;
      return judge;
    };
    return await withTimeLimit(make, (ajv) => {
      try {
        return ajv.validateSchema(schema as AnySchemaObject) === true ? undefined : firstSentence(ajv.errors);
      } catch (error) {
        return messageOf(error);
      }
    });
  } catch (error) {
    delete metaJudges[dialect];
    return messageOf(error);
  }
}

/** Why a value does not match; undefined if it matches, or if the schema cannot be used. */
export async function problemOfValue(schema: unknown, value: unknown): Promise<string | undefined> {
  if (!isJsonObject(schema) && typeof schema !== 'boolean') return undefined;
  const dialect = dialectName(schema);
  if (!dialect) return undefined;
  try {
    return await withTimeLimit(
      () => createAjv(dialect),
      (ajv) => {
        const validate = ajv.compile(schema as AnySchemaObject);
        return validate(value) ? undefined : firstSentence(validate.errors);
      },
    );
  } catch (error) {
    // Another check reports an invalid schema.
    return error instanceof TimeIsOver ? `the check was stopped: ${error.message}` : undefined;
  }
}

type Dialect = '2020-12' | 'draft-07';

/** The dialect of a schema; undefined if it is not supported here. */
export function dialectName(schema: unknown): Dialect | undefined {
  const named = isJsonObject(schema) ? schema['$schema'] : undefined;
  if (named === undefined) return '2020-12';
  if (typeof named !== 'string') return undefined;
  if (/draft\/2020-12\/schema#?$/.test(named)) return '2020-12';
  return /draft-0[67]\/schema#?$/.test(named) ? 'draft-07' : undefined;
}

/** Validators of schemas are kept, since meta-schemas are slow to compile. */
const metaJudges: Partial<Record<Dialect, ReturnType<typeof createAjv>>> = {};

/** Compiles the meta-schema first, outside of the time limit. */
async function createMetaJudge(dialect: Dialect) {
  const ajv = await createAjv(dialect);
  ajv.validateSchema({});
  return ajv;
}

async function createAjv(dialect: Dialect) {
  const { Ajv } =
    dialect === 'draft-07' ? await import('ajv') : await import('@isthmus/sdk/internal/schema/ajv-2020.js');
  return new Ajv({ strict: false, validateFormats: false, logger: false, allErrors: false });
}

function firstSentence(errors: readonly ErrorObject[] | null | undefined): string {
  const [first] = errors ?? [];
  if (!first) return 'it is not valid';
  const place = first.instancePath === '' ? '' : `${first.instancePath}: `;
  return `${place}${first.message ?? 'is not valid'}`;
}
