/** `21,300`, `0.5`: without fractions from ten on. */
export function count(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : 0 });
}

/** Milliseconds in a suitable unit, with three digits: `42.1 µs`, `1.20 ms`, `1.00 s`. */
export function duration(ms: number): string {
  if (ms < 1) return `${digits(ms * 1000)} µs`;
  return ms < 1000 ? `${digits(ms)} ms` : `${digits(ms / 1000)} s`;
}

export function megabytes(bytes: number): string {
  return `${digits(bytes / 1024 / 1024)} MB`;
}

export function times(ratio: number | null): string {
  return ratio === null ? '-' : `${digits(ratio)}×`;
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function digits(value: number): string {
  const fraction = value >= 100 ? 0 : value >= 10 ? 1 : value >= 0.1 || value === 0 ? 2 : 3;
  return value.toLocaleString('en', { minimumFractionDigits: fraction, maximumFractionDigits: fraction });
}

/** The name of a target in a comparison: `A`, `B` … */
export function letter(index: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + index);
}
