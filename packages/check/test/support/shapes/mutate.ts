export type Path = readonly (string | number)[];

/** Every place of a value, itself included. */
export function placesOf(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [at];
  const keys: (string | number)[] = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return [
    at,
    ...keys.flatMap((key) => placesOf((value as Record<string | number, unknown>)[key], [...at, key])),
  ];
}

/** A copy with something else at one place; `undefined` takes it away. */
export function put(value: unknown, [first, ...rest]: Path, other: unknown): unknown {
  if (first === undefined) return other;
  if (typeof value !== 'object' || value === null) return value;
  const inside = put((value as Record<string | number, unknown>)[first], rest, other);
  const gone = inside === undefined;
  if (Array.isArray(value))
    return value.flatMap((each, index) => (index !== first ? [each] : gone ? [] : [inside]));
  const { [first]: _replaced, ...others } = value as Record<string | number, unknown>;
  return gone ? others : { ...others, [first]: inside };
}
