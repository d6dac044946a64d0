import { nearMiss } from '../../near-miss.js';
import { isTable, type Path } from '../documents/document.js';

/** Reads one kind of value. */
export interface ValueKind {
  /** Follows "must be" in messages. */
  readonly expected: string;
  /** `undefined`: the value is invalid. */
  read(value: unknown): unknown;
  /** The invalid part of a value that has parts. */
  flaw?(value: unknown): Flaw | undefined;
  /** All of them, where each is worth a line. */
  flaws?(value: unknown): readonly Flaw[];
}

/** One kind of value that an option may have. */
export interface OptionKind extends ValueKind {
  /** The JSON Schema of the value. It may refer to the `$defs` of `scripts/generate/schema-frame.json`. */
  readonly schema: OptionSchema;
}

type OptionSchema = Readonly<Record<string, unknown>>;

/** What is wrong with a value, and where in it. */
export interface Flaw {
  readonly path: Path;
  readonly message: string;
}

export function flawOf(kind: ValueKind, value: unknown): Flaw {
  return kind.flaw?.(value) ?? { path: [], message: `must be ${kind.expected}` };
}

export const FLAG: OptionKind = {
  expected: 'true or false',
  schema: { type: 'boolean' },
  read: (value) => (typeof value === 'boolean' ? value : undefined),
};

/** The longest timer of Node. */
export const MAX_MS = 2 ** 31 - 1;

export const MS = whole(1, MAX_MS, 'a number of milliseconds, 1 or more', 'milliseconds');
export const MS_OR_NONE = whole(0, MAX_MS, 'a number of milliseconds, 0 or more', 'millisecondsOrNone');
export const COUNT = whole(1, Number.MAX_SAFE_INTEGER, 'a whole number, 1 or more', 'count');
export const COUNT_OR_NONE = whole(0, Number.MAX_SAFE_INTEGER, 'a whole number, 0 or more', 'countOrNone');

export const SHARE: OptionKind = {
  expected: 'a number from 0 to 1',
  schema: { type: 'number', minimum: 0, maximum: 1 },
  read: (value) => (typeof value === 'number' && value >= 0 && value <= 1 ? value : undefined),
};

export const NAMES: OptionKind = {
  expected: 'a list of names',
  schema: { $ref: '#/$defs/names' },
  read: (value) =>
    Array.isArray(value) && value.every((name) => typeof name === 'string' && name !== '')
      ? value
      : undefined,
};

export function oneOf(...values: readonly string[]): OptionKind {
  return {
    expected: values.join(' or '),
    schema: { enum: values },
    read: (value) => values.find((each) => each === value),
  };
}

/** A value of this kind, or `false`. */
export function orFalse(kind: OptionKind, expected = `false or ${kind.expected}`): OptionKind {
  return {
    expected,
    schema: { anyOf: [kind.schema, { const: false }] },
    read: (value) => (value === false ? false : kind.read(value)),
    flaw: (value) => kind.flaw?.(value),
  };
}

/** An object with only these keys. `def`: its name in `$defs`. */
export function objectOf(def: string, fields: Readonly<Record<string, OptionKind>>): OptionKind {
  const names = Object.keys(fields);
  const flaw = (value: unknown): Flaw | undefined => {
    for (const [name, inner] of isTable(value) ? value : []) {
      const kind = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (kind?.read(inner) !== undefined) continue;
      if (kind) return { path: [name], message: `must be ${kind.expected}` };
      return { path: [name], message: notKnown(name, names) };
    }
    return undefined;
  };
  return {
    expected: `an object of ${names.slice(0, -1).join(', ')} and ${names.at(-1)}`,
    schema: { $ref: `#/$defs/${def}` },
    read(value) {
      if (!isTable(value) || flaw(value)) return undefined;
      return Object.fromEntries([...value].map(([name, inner]) => [name, fields[name]!.read(inner)]));
    },
    flaw,
  };
}

export function notKnown(name: string, known: readonly string[]): string {
  const meant = nearMiss(name, known);
  return `is not known${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}

/** Checks only the form of a revision; the client checks that it exists. */
export function isMode(value: unknown): value is string {
  return typeof value === 'string' && /^(auto|modern|legacy|\d{4}-\d{2}-\d{2})$/.test(value);
}

/** Other applications also use seconds, and fractions. */
export function toMs(value: unknown, unitMs: number): number | undefined {
  if (typeof value !== 'number') return undefined;
  const ms = Math.round(value * unitMs);
  return ms >= 1 && ms <= MAX_MS ? ms : undefined;
}

function whole(least: number, most: number, expected: string, def: string): OptionKind {
  return {
    expected,
    schema: { $ref: `#/$defs/${def}` },
    read: (value) =>
      Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most
        ? value
        : undefined,
  };
}
