/** Medians and ratios. Pure. */

/** @param {readonly number[]} values */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * @param {number | undefined} value
 * @param {number | undefined} base
 */
export function ratio(value, base) {
  return value === undefined || base === undefined || base === 0 ? undefined : value / base;
}

/**
 * The median of what is known of each round; undefined when nothing is known.
 * @template T
 * @param {readonly T[] | undefined} rounds
 * @param {(round: T, at: number) => number | undefined} pick
 */
export function medianOf(rounds, pick) {
  const known = (rounds ?? []).map(pick).filter((value) => value !== undefined);
  return known.length === 0 ? undefined : median(known);
}

/**
 * The median of the ratios within each round: measurements that lie side by side have the same noise.
 * @template T
 * @param {readonly T[] | undefined} ours
 * @param {readonly T[] | undefined} theirs
 * @param {(round: T) => number | undefined} pick
 */
export function pairedRatio(ours, theirs, pick) {
  return medianOf(ours, (round, at) => {
    const other = theirs?.[at];
    return other === undefined ? undefined : ratio(pick(round), pick(other));
  });
}

/** @param {number | undefined} bytes */
export function toMB(bytes) {
  return bytes === undefined ? undefined : bytes / 1e6;
}
