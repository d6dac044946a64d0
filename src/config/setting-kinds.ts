/** One kind of value that a setting may have. */
export interface SettingKind {
  /** Behind "must be". */
  readonly expected: string;
  /** `undefined`: not one of the expected values. */
  read(value: unknown): unknown;
}

export const FLAG: SettingKind = {
  expected: 'true or false',
  read: (value) => (typeof value === 'boolean' ? value : undefined),
};

/** The longest that Node can wait. */
const MAX_MS = 2 ** 31 - 1;

export const MS = whole(1, MAX_MS, 'a number of milliseconds, 1 or more');
export const COUNT = whole(1, Number.MAX_SAFE_INTEGER, 'a whole number, 1 or more');
export const COUNT_OR_NONE = whole(0, Number.MAX_SAFE_INTEGER, 'a whole number, 0 or more');

export function oneOf(...words: readonly string[]): SettingKind {
  return { expected: words.join(' or '), read: (value) => words.find((word) => word === value) };
}

/** Whether the revision exists is for the one who connects to know. */
export function isMode(value: unknown): value is string {
  return typeof value === 'string' && /^(auto|modern|legacy|\d{4}-\d{2}-\d{2})$/.test(value);
}

/** Other applications also count in seconds, and in fractions. */
export function toMs(value: unknown, unitMs: number): number | undefined {
  if (typeof value !== 'number') return undefined;
  const ms = Math.round(value * unitMs);
  return ms >= 1 && ms <= MAX_MS ? ms : undefined;
}

function whole(least: number, most: number, expected: string): SettingKind {
  return {
    expected,
    read: (value) =>
      Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most
        ? value
        : undefined,
  };
}
