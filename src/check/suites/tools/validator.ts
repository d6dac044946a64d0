import type { AnySchemaObject, ErrorObject } from 'ajv';
import { messageOf } from '../../../errors.js';
import { runWithin, TimeIsOver } from '../../../schema/time-limit.js';
import { isJsonObject } from '../../../wire/json-rpc.js';

/** How long one judgement may take. */
const MAX_MS = 2000;

/** What is wrong with a schema itself; undefined when it is valid in the dialect that it names. */
export async function problemOfSchema(schema: unknown): Promise<string | undefined> {
  if (typeof schema === 'boolean') return undefined;
  if (!isJsonObject(schema)) return `it is ${JSON.stringify(schema)}, which is no schema`;
  const dialect = dialectName(schema);
  if (dialect === undefined) return undefined;
  metaJudges[dialect] ??= createAjv(dialect);
  const ajv = await metaJudges[dialect];
  try {
    // The schema is the server's: it may be made to take for ever (S9).
    if (runWithin(MAX_MS, () => ajv.validateSchema(schema as AnySchemaObject)) === true) return undefined;
    return firstSentence(ajv.errors);
  } catch (error) {
    return messageOf(error);
  }
}

/** Why a value does not fit; undefined when it does, or when the schema cannot be used to tell. */
export async function problemOfValue(schema: unknown, value: unknown): Promise<string | undefined> {
  if (!isJsonObject(schema) && typeof schema !== 'boolean') return undefined;
  const ajv = await ajvFor(isJsonObject(schema) ? schema : {});
  if (!ajv) return undefined;
  try {
    const validate = runWithin(MAX_MS, () => ajv.compile(schema as AnySchemaObject));
    return runWithin(MAX_MS, () => validate(value)) ? undefined : firstSentence(validate.errors);
  } catch (error) {
    // A schema that is not valid has a check of its own.
    return error instanceof TimeIsOver ? `the check was stopped: ${error.message}` : undefined;
  }
}

type Dialect = '2020-12' | 'draft-07';

/** The dialects that can be judged; undefined for others. */
export function dialectName(schema: unknown): Dialect | undefined {
  const named = isJsonObject(schema) ? schema['$schema'] : undefined;
  if (named === undefined) return '2020-12';
  if (typeof named !== 'string') return undefined;
  if (/draft\/2020-12\/schema#?$/.test(named)) return '2020-12';
  return /draft-0[67]\/schema#?$/.test(named) ? 'draft-07' : undefined;
}

/** For schemas themselves: meta-schemas take long to compile, and one of each is enough. */
const metaJudges: Partial<Record<Dialect, ReturnType<typeof createAjv>>> = {};

async function ajvFor(schema: unknown) {
  const dialect = dialectName(schema);
  return dialect && createAjv(dialect);
}

async function createAjv(dialect: Dialect) {
  const { Ajv } = dialect === 'draft-07' ? await import('ajv') : await import('../../../schema/ajv-2020.js');
  return new Ajv({ strict: false, validateFormats: false, logger: false, allErrors: false });
}

function firstSentence(errors: readonly ErrorObject[] | null | undefined): string {
  const [first] = errors ?? [];
  if (!first) return 'it is not valid';
  const place = first.instancePath === '' ? '' : `${first.instancePath}: `;
  return `${place}${first.message ?? 'is not valid'}`;
}
