import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';

/** A place where two JSON values differ. */
export interface JsonDifference {
  readonly pointer: string;
  readonly in: 'client' | 'upstream' | 'both';
}

/** Where two JSON values differ, at most `max` places. Lists of different lengths differ as a whole. */
export function differencesOf(client: unknown, upstream: unknown, max: number): JsonDifference[] {
  const found: JsonDifference[] = [];
  const visit = (left: unknown, right: unknown, pointer: string, depth: number): void => {
    if (found.length >= max) return;
    if (left === undefined || right === undefined) {
      if (left !== right) found.push({ pointer, in: left === undefined ? 'upstream' : 'client' });
      return;
    }
    if (depth < MAX_DEPTH && isJsonObject(left) && isJsonObject(right)) {
      for (const name of new Set([...Object.keys(left), ...Object.keys(right)]))
        visit(own(left, name), own(right, name), `${pointer}/${escaped(name)}`, depth + 1);
      return;
    }
    if (depth < MAX_DEPTH && Array.isArray(left) && Array.isArray(right) && left.length === right.length) {
      for (const [at, item] of left.entries()) visit(item, right[at], `${pointer}/${at}`, depth + 1);
      return;
    }
    if (JSON.stringify(left) !== JSON.stringify(right)) found.push({ pointer, in: 'both' });
  };
  visit(client, upstream, '', 0);
  return found;
}

const MAX_DEPTH = 32;

function own(object: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** RFC 6901. */
function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
