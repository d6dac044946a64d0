import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';

/** Something that is not the same through a bridge. */
export interface Difference {
  /** `worse`: lost or broken on the way; `better`: mended, or there only through the bridge; `other`: not the same. */
  readonly kind: 'worse' | 'better' | 'other';
  readonly era?: Era;
  /** What it is about: `check tools/declared`, `tool echo`, `tools/call echo`, `era modern`. */
  readonly about: string;
  readonly direct: string;
  readonly through: string;
}

/** One difference for all, shown at the first place where they part: an answer is another answer. */
export function compareValues(
  era: Era,
  about: string,
  looks: readonly [unknown, unknown],
  through: unknown,
  kind: Difference['kind'],
): Difference[] {
  const [first] = compareMembers(era, about, looks, through);
  return first ? [{ ...first, kind }] : [];
}

/** A difference for every place where they part, rather than two long texts. */
export function compareMembers(
  era: Era,
  about: string,
  [direct, again]: readonly [unknown, unknown],
  through: unknown,
): Difference[] {
  // It is not the same each time, bridge or not.
  if (stable(direct) !== stable(again)) return [];
  return valueDifferences(direct, through).map(({ path, was, is }) => {
    const show = (value: unknown) => `${path === '' ? '' : `${path}: `}${stable(value).slice(0, 300)}`;
    return difference(is === undefined ? 'worse' : 'other', era, about, show(was), show(is));
  });
}

export function difference(
  kind: Difference['kind'],
  era: Era | undefined,
  about: string,
  direct: string,
  through: string,
): Difference {
  return { kind, ...(era && { era }), about, direct, through };
}

/** A place where two values part. */
interface ValueDifference {
  readonly path: string;
  readonly was: unknown;
  readonly is: unknown;
}

/** Every place where they part; lists of different lengths part as a whole. */
function valueDifferences(was: unknown, is: unknown, path = ''): ValueDifference[] {
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
