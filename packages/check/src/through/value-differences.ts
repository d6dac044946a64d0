import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';

/** A place where two values part. */
export interface ValueDifference {
  readonly path: string;
  readonly was: unknown;
  readonly is: unknown;
}

/** Every place where they part; lists of different lengths part as a whole. */
export function valueDifferences(was: unknown, is: unknown, path = ''): ValueDifference[] {
  if (stable(was) === stable(is)) return [];
  if (isJsonObject(was) && isJsonObject(is)) {
    const keys = [...new Set([...Object.keys(was), ...Object.keys(is)])];
    return keys.flatMap((key) => valueDifferences(was[key], is[key], path === '' ? key : `${path}.${key}`));
  }
  if (Array.isArray(was) && Array.isArray(is) && was.length === is.length) {
    return was.flatMap((each, at) => valueDifferences(each, is[at], `${path}[${at}]`));
  }
  return [{ path, was, is }];
}

/** JSON with its members in order: their order on the wire means nothing. */
export function stable(value: unknown): string {
  return (
    JSON.stringify(value, (_, each: unknown) =>
      isJsonObject(each)
        ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
        : each,
    ) ?? 'nothing'
  );
}
