import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { IsthmusError } from '../errors.js';
import { type Checked, compileJsonSchema } from '../schema/json-schema.js';
import { checkJsonSchema } from '../schema/json-schema-shape.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';
import { withoutPrototype } from './registry.js';

/** Plain JSON Schema 2020-12. `T` is what a handler may assume of a valid value. */
export interface JsonSchema<T = JsonObject> extends JsonObject {
  /** Only for the type checker; never set. */
  readonly '~type'?: T;
}

/** A schema of any Standard Schema library (zod, valibot, arktype …), or plain JSON Schema. */
export type AnySchema = StandardSchemaV1 | JsonSchema<unknown>;

/** What a handler receives. */
export type Output<S> = S extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<S>
  : S extends JsonSchema<infer T>
    ? unknown extends T
      ? JsonObject
      : T
    : JsonObject;

/** What a handler may return for an output schema. */
export type Input<S> = S extends StandardSchemaV1
  ? StandardSchemaV1.InferInput<S>
  : S extends JsonSchema<infer T>
    ? T
    : unknown;

/** Plain JSON Schema with its TypeScript type: `jsonSchema<{ text: string }>({ … })`. */
export function jsonSchema<T>(schema: JsonObject): JsonSchema<T> {
  return schema as JsonSchema<T>;
}

/** Adds a JSON Schema to a Standard Schema that has none (plain valibot, for example). */
export function withJsonSchema<S extends StandardSchemaV1>(schema: S, described: JsonObject): S {
  const standard = schema['~standard'];
  return {
    '~standard': { ...standard, jsonSchema: { input: () => described, output: () => described } },
  } as unknown as S;
}

/** A compiled schema: its JSON Schema for lists, and a check that is synchronous whenever possible. */
export interface CompiledSchema {
  readonly json: JsonObject;
  check(value: unknown): Checked | Promise<Checked>;
}

/** `side`: a schema that transforms values has different shapes for its input and its output. */
export function compileSchema(schema: AnySchema, side: 'input' | 'output', owner: string): CompiledSchema {
  if (isStandardSchema(schema)) return compileStandard(schema, side, owner);
  if (!isJsonObject(schema))
    throw invalidSchema(owner, 'it is neither a Standard Schema nor a JSON Schema object');
  const [field] = Object.entries(schema).find(([, value]) => isStandardSchema(value)) ?? [];
  if (field !== undefined) {
    throw invalidSchema(owner, `it is a plain object of schemas; wrap it: z.object({ ${field}: … })`);
  }
  const problem = checkJsonSchema(schema);
  if (problem !== undefined) throw invalidSchema(owner, problem);
  return { json: schema, check: compileJsonSchema(schema, owner) };
}

export function invalidSchema(owner: string, why: string): IsthmusError {
  return new IsthmusError('INVALID_OPTION', `The schema of ${owner} cannot be used: ${why}`);
}

export function isStandardSchema(schema: unknown): schema is StandardSchemaV1 {
  // arktype's schemas are functions.
  return (
    (typeof schema === 'object' || typeof schema === 'function') && schema !== null && '~standard' in schema
  );
}

function compileStandard(schema: StandardSchemaV1, side: 'input' | 'output', owner: string): CompiledSchema {
  const standard = schema['~standard'];
  const json = describe(standard as Partial<StandardJSONSchemaV1.Props> & { vendor: string }, side, owner);
  return {
    json,
    check(value) {
      // Libraries read members by name, also inherited ones.
      const outcome = standard.validate(isJsonObject(value) ? withoutPrototype(value) : value);
      return outcome instanceof Promise ? outcome.then(toChecked) : toChecked(outcome);
    },
  };
}

function describe(
  standard: Partial<StandardJSONSchemaV1.Props> & { vendor: string },
  side: 'input' | 'output',
  owner: string,
): JsonObject {
  if (!standard.jsonSchema) {
    const wrap =
      standard.vendor === 'valibot' ? 'toStandardJsonSchema of @valibot/to-json-schema' : 'withJsonSchema';
    throw invalidSchema(
      owner,
      `${standard.vendor} does not describe itself as JSON Schema; wrap it with ${wrap}`,
    );
  }
  try {
    return standard.jsonSchema[side]({ target: 'draft-2020-12' });
  } catch (error) {
    throw invalidSchema(
      owner,
      `${standard.vendor} says: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function toChecked(outcome: StandardSchemaV1.Result<unknown>): Checked {
  if (!outcome.issues) return { ok: true, value: outcome.value };
  return { ok: false, problem: outcome.issues.slice(0, MAX_ISSUES).map(toSentence).join('; ') };
}

function toSentence(issue: StandardSchemaV1.Issue): string {
  const path = (issue.path ?? []).map((step) => String(typeof step === 'object' ? step.key : step)).join('.');
  // Some libraries begin the message with the path.
  return path === '' || issue.message.startsWith(path) ? issue.message : `${path}: ${issue.message}`;
}

const MAX_ISSUES = 10;
