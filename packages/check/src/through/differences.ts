import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';

/** A difference between a server and the same server behind a bridge. */
export interface Difference {
  /** `worse`: lost or broken by the bridge. `better`: fixed or added by the bridge. `other`: different. */
  readonly kind: 'worse' | 'better' | 'other';
  readonly era?: Era;
  /** What it is about: `check tools/declared`, `tool echo`, `tools/call echo`, `era modern`. */
  readonly about: string;
  readonly direct: string;
  readonly through: string;
}

/** At most one difference, shown at the first place where the values differ. */
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

/** One difference for every place where the values differ. */
export function compareMembers(
  era: Era,
  about: string,
  [direct, again]: readonly [unknown, unknown],
  through: unknown,
): Difference[] {
  // The value varies even without a bridge.
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

/** A place where two values differ. */
interface ValueDifference {
  readonly path: string;
  readonly was: unknown;
  readonly is: unknown;
}

/** All places where two values differ. Arrays of different lengths differ as a whole. */
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

/** JSON with sorted members, since their order has no meaning. */
export function stable(value: unknown): string {
  return (
    JSON.stringify(value, (_, each: unknown) =>
      isJsonObject(each)
        ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
        : each,
    ) ?? 'nothing'
  );
}
