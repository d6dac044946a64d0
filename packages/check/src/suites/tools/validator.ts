import { messageOf } from '@isthmus/sdk/internal/errors.js';
import { runWithin, TimeIsOver } from '@isthmus/sdk/internal/schema/json-schema.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { AnySchemaObject, ErrorObject } from 'ajv';

/** How long one judgement may take, and on how many processors' worth of a busy machine. */
const MAX_MS = 2000;
const TRIES = 6;

/**
 * The schema is the server's: it may be made to take for ever (S9). On a busy machine time passes while nothing is done, so
 * what was stopped and had not had its time on a processor is tried again. What is stopped may be left half done: each try
 * makes its own validator.
 */
async function withinItsTime<V, T>(
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
      const hadItsTime = (user + system) / 1000 > MAX_MS / 2;
      if (!(error instanceof TimeIsOver)) throw error;
      if (hadItsTime || tries === TRIES) throw new TimeIsOver(`it took longer than ${MAX_MS} ms`);
    }
  }
}

/** What is wrong with a schema itself; undefined when it is valid in the dialect that it names. */
export async function problemOfSchema(schema: unknown): Promise<string | undefined> {
  if (typeof schema === 'boolean') return undefined;
  if (!isJsonObject(schema)) return `it is ${JSON.stringify(schema)}, which is no schema`;
  const dialect = dialectName(schema);
  if (dialect === undefined) return undefined;
  try {
    const make = (isAgain: boolean) => {
      const judge = (!isAgain && metaJudges[dialect]) || createMetaJudge(dialect);
      metaJudges[dialect] = judge;
      return judge;
    };
    return await withinItsTime(make, (ajv) => {
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

/** Why a value does not fit; undefined when it does, or when the schema cannot be used to tell. */
export async function problemOfValue(schema: unknown, value: unknown): Promise<string | undefined> {
  if (!isJsonObject(schema) && typeof schema !== 'boolean') return undefined;
  const dialect = dialectName(schema);
  if (!dialect) return undefined;
  try {
    return await withinItsTime(
      () => createAjv(dialect),
      (ajv) => {
        const validate = ajv.compile(schema as AnySchemaObject);
        return validate(value) ? undefined : firstSentence(validate.errors);
      },
    );
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

/** The meta-schema is ours: it is compiled before the time of a schema begins. */
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
