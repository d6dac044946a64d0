/** The building blocks of shapes. A shape judges a value and collects complaints. It never throws. */
import type { LegacyRevision, ModernRevision } from '@isthmus/sdk/internal/era/revisions.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';

export type Revision = LegacyRevision | ModernRevision;
export interface ShapeContext {
  readonly revision: Revision;
  readonly complaints: Complaint[];
}
export type Shape = (value: unknown, path: string, context: ShapeContext) => void;

export function judge(shape: Shape, value: unknown, path: string, revision: Revision): Complaint[] {
  const context: ShapeContext = { revision, complaints: [] };
  shape(value, path, context);
  // Two shapes of the same value report a missing value twice.
  return [...new Map(context.complaints.map((each) => [complaintText(each), each])).values()];
}

/** A short description of a value: `nothing`, `"abc"`, `3`, `an array`. */
export function inWords(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  const words = JSON.stringify(value) ?? String(value);
  return words.length > 80 ? `${words.slice(0, 79)}…` : words;
}

/** `"a", "b" or "c"` */
export function choice(words: readonly string[]): string {
  const quoted = words.map((word) => `"${word}"`);
  return quoted.length < 2 ? quoted.join() : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
}

/** `path.key`, or `path["odd key"]`. */
export function below(path: string, key: string): string {
  return /^[\w$]+$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}

export function is(expected: string, test: (value: unknown) => boolean): Shape {
  return (value, path, { complaints }) => {
    if (!test(value)) complaints.push({ path, expected, got: inWords(value) });
  };
}

export const anything = is('a value', (value) => value !== undefined);
export const string = is('a string', (value) => typeof value === 'string');
export const boolean = is('a boolean', (value) => typeof value === 'boolean');
export const number = is('a number', (value) => typeof value === 'number');
export const integer = is('an integer', Number.isInteger);
export const count = is('an integer of 0 or more', (value) => Number.isInteger(value) && Number(value) >= 0);
/** Request ids and progress tokens. */
export const stringOrInteger = is('a string or an integer', (value) => {
  return typeof value === 'string' || Number.isInteger(value);
});
export const anyObject = is('an object', isJsonObject);

/** A string with a format. */
export function text(expected: string, test: (value: string) => boolean): Shape {
  return is(expected, (value) => typeof value === 'string' && test(value));
}

export function oneOf(...words: readonly string[]): Shape {
  return is(choice(words), (value) => (words as readonly unknown[]).includes(value));
}

export function list(item: Shape, atMost = Number.POSITIVE_INFINITY): Shape {
  return (value, path, context) => {
    if (!Array.isArray(value)) {
      context.complaints.push({ path, expected: 'an array', got: inWords(value) });
      return;
    }
    value.forEach((each, index) => {
      item(each, `${path}[${index}]`, context);
    });
    if (value.length <= atMost) return;
    context.complaints.push({ path, expected: `${atMost} items or fewer`, got: String(value.length) });
  };
}

/** An object whose members all have the same shape. `name` judges each key. */
export function map(item: Shape, name?: Shape): Shape {
  return (value, path, context) => {
    anyObject(value, path, context);
    if (!isJsonObject(value)) return;
    for (const [key, each] of Object.entries(value)) {
      name?.(key, path, context);
      item(each, below(path, key), context);
    }
  };
}

/** `{ name: string, 'title?': string }`: a member with a question mark is optional. Other members are allowed. */
export function object(members: Readonly<Record<string, Shape>>): Shape {
  const parts = Object.entries(members).map(([name, shape]) => {
    const optional = name.endsWith('?');
    return { key: optional ? name.slice(0, -1) : name, optional, shape };
  });
  return (value, path, context) => {
    anyObject(value, path, context);
    if (!isJsonObject(value)) return;
    for (const { key, optional, shape } of parts) {
      const member = Object.hasOwn(value, key) ? value[key] : undefined;
      if (member !== undefined || !optional) shape(member, below(path, key), context);
    }
  };
}

export function all(...shapes: readonly Shape[]): Shape {
  return (value, path, context) => {
    for (const shape of shapes) shape(value, path, context);
  };
}

/** Applies since this revision. Before it, `before` applies, or any value is allowed. */
export function since(revision: Revision, shape: Shape, before?: Shape): Shape {
  return (value, path, context) => {
    (context.revision >= revision ? shape : before)?.(value, path, context);
  };
}

/** Applies only in this revision. */
export function only(revision: Revision, shape: Shape): Shape {
  return (value, path, context) => {
    if (context.revision === revision) shape(value, path, context);
  };
}

/** The value of a member selects the shape: `kinds` has a shape for each value in a revision. */
export function by(member: string, kinds: (revision: Revision) => Readonly<Record<string, Shape>>): Shape {
  return (value, path, context) => {
    anyObject(value, path, context);
    if (!isJsonObject(value)) return;
    const known = kinds(context.revision);
    const kind = value[member];
    oneOf(...Object.keys(known))(kind, below(path, member), context);
    if (typeof kind === 'string' && Object.hasOwn(known, kind)) known[kind]?.(value, path, context);
  };
}

/** A fault at one path of a message. */
export interface Complaint {
  /** From the root of the judged value: `result.tools[3].inputSchema.type`. */
  readonly path: string;
  /** `"object"`, `a string`, `an integer of 0 or more`. */
  readonly expected: string;
  /** `"array"`, `nothing`, `a number (3.5)`. */
  readonly got: string;
}

/** `result.tools[3].inputSchema.type: expected "object", got "array"` */
export function complaintText({ path, expected, got }: Complaint): string {
  return `${path}: expected ${expected}, got ${got}`;
}
