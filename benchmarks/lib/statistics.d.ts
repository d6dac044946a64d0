export function median(values: readonly number[]): number;
export function ratio(value: number | undefined, base: number | undefined): number | undefined;
export function medianOf<T>(
  rounds: readonly T[] | undefined,
  pick: (round: T, at: number) => number | undefined,
): number | undefined;
export function pairedRatio<T>(
  ours: readonly T[] | undefined,
  theirs: readonly T[] | undefined,
  pick: (round: T) => number | undefined,
): number | undefined;
export function toMB(bytes: number | undefined): number | undefined;
