import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { invalid } from './console-error.js';

/** Reads one value, or throws. `name` is for the error. */
export type Reader<T> = (value: unknown, name: string) => T;

/** The fields of an object, each read by its reader. Other fields are refused: a page and a process of one version agree. */
export function readFields<T>(
  value: unknown,
  readers: { readonly [K in keyof T]-?: Reader<T[K]> },
  what = 'The body',
): T {
  if (!isJsonObject(value)) throw invalid(`${what} must be a JSON object`);
  const known = new Set(Object.keys(readers));
  const unknown = Object.keys(value).find((name) => !known.has(name));
  if (unknown !== undefined)
    throw invalid(`${what} has an unknown field ${JSON.stringify(unknown.slice(0, 100))}`);
  const fields: Partial<T> = {};
  for (const name of Object.keys(readers) as (keyof T & string)[]) {
    const read = readers[name](value[name], name);
    if (read !== undefined) fields[name] = read;
  }
  return fields as T;
}

export function optional<T>(reader: Reader<T>): Reader<T | undefined> {
  return (value, name) => (value === undefined ? undefined : reader(value, name));
}

export function text(max: number): Reader<string> {
  return (value, name) => {
    if (typeof value !== 'string') throw invalid(`"${name}" must be a string`);
    if (value.length > max) throw invalid(`"${name}" has more than ${max} characters`);
    return value;
  };
}

/** A whole number. A query has it as text. */
export function integer(min: number, max: number): Reader<number> {
  return (value, name) => {
    const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value;
    if (!Number.isSafeInteger(number) || (number as number) < min || (number as number) > max)
      throw invalid(`"${name}" must be a whole number from ${min} to ${max}`);
    return number as number;
  };
}

/** A query has `true` and `false` as text. */
export const boolean: Reader<boolean> = (value, name) => {
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false') return false;
  throw invalid(`"${name}" must be true or false`);
};

export function oneOf<const T extends string>(...words: readonly T[]): Reader<T> {
  return (value, name) => {
    const found = words.find((word) => word === value);
    if (found === undefined) throw invalid(`"${name}" must be one of ${words.join(', ')}`);
    return found;
  };
}

export function listOf<T>(reader: Reader<T>, max: number): Reader<readonly T[]> {
  return (value, name) => {
    if (!Array.isArray(value)) throw invalid(`"${name}" must be a list`);
    if (value.length > max) throw invalid(`"${name}" has more than ${max} items`);
    return value.map((item, at) => reader(item, `${name}[${at}]`));
  };
}

export function objectOf<T>(readers: { readonly [K in keyof T]-?: Reader<T[K]> }): Reader<T> {
  return (value, name) => readFields<T>(value, readers, `"${name}"`);
}
