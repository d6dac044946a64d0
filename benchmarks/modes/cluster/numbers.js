/** Numbers from numbers. Pure. */

/** @param {readonly number[]} values */
export function median(values) {
  return percentileOf(values, 0.5);
}

/**
 * @param {readonly number[]} values
 * @param {number} share
 */
export function percentileOf(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
