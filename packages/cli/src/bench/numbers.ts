/** `21,300`, `0.5`: whole from ten on. */
export function count(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : 0 });
}

/** Milliseconds in the unit that suits them, with three figures: `42.1 µs`, `1.20 ms`, `1.00 s`. */
export function duration(ms: number): string {
  if (ms < 1) return `${figures(ms * 1000)} µs`;
  return ms < 1000 ? `${figures(ms)} ms` : `${figures(ms / 1000)} s`;
}

export function megabytes(bytes: number): string {
  return `${figures(bytes / 1024 / 1024)} MB`;
}

export function times(ratio: number | null): string {
  return ratio === null ? '-' : `${figures(ratio)}×`;
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function figures(value: number): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : value >= 0.1 || value === 0 ? 2 : 3;
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
