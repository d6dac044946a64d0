import { tryRaw } from '../json/raw.js';
import { type Draft, itemSchema, memberSchema } from './draft.js';
import { asNames, type FormSchema, isRecord, numberOf, textOf } from './schema.js';
import { shapeOf } from './shape.js';

/** What is said of a value that is required and absent. */
export const MISSING = 'is required';

/** What does not fit the schema, by the path of the field. It is advice: everything can be sent. */
export type Advice = ReadonlyMap<string, string>;

export function adviceOn(root: FormSchema, schema: unknown, draft: Draft): Advice {
  const found = new Map<string, string>();
  visit(root, schema, draft, '', found, 0);
  return found;
}

export function under(path: string, name: string | number): string {
  return `${path}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function visit(
  root: FormSchema,
  given: unknown,
  draft: Draft,
  path: string,
  found: Map<string, string>,
  depth: number,
): void {
  if (depth > MAX_DEPTH || found.size > MAX_FOUND) return;
  const shape = shapeOf(root, given);
  const say = (message: string) => found.set(path, message);
  const { schema } = shape;
  switch (draft.kind) {
    case 'absent':
      return;
    case 'number':
      return sayIf(numberAdvice(schema, shape.kind, draft.text), say);
    case 'string':
      return sayIf(stringAdvice(schema, draft.text), say);
    case 'variant':
      return visit(root, shape.variants[draft.at]?.schema, draft.draft, path, found, depth + 1);
    case 'json': {
      const raw = tryRaw(draft.text.trim());
      if (!raw) say('is not JSON: it is sent as a text');
      else if (
        draft.text.trim() === 'null' &&
        !shape.isNullable &&
        shape.kind !== 'null' &&
        shape.kind !== 'any'
      )
        say('null is not among the types of the schema');
      else if (
        shape.kind === 'choices' &&
        draft.text !== 'null' &&
        !shape.choices.some(({ text }) => text === draft.text)
      )
        say('is not one of the values of the schema');
      return;
    }
    case 'array': {
      sayIf(countAdvice(draft.items.length, schema, 'Items', 'item'), say);
      for (const [at, item] of draft.items.entries())
        visit(root, itemSchema(schema, at), item, under(path, at), found, depth + 1);
      return;
    }
    case 'object': {
      const given = new Map(draft.members);
      for (const name of asNames(schema['required']))
        if ((given.get(name)?.kind ?? 'absent') === 'absent') found.set(under(path, name), MISSING);
      if (schema['additionalProperties'] === false && isRecord(schema['properties']))
        for (const name of given.keys())
          if (!Object.hasOwn(schema['properties'], name))
            found.set(under(path, name), 'is not a property of the schema');
      for (const [name, member] of draft.members)
        visit(root, memberSchema(schema, name), member, under(path, name), found, depth + 1);
    }
  }
}

function sayIf(message: string | undefined, say: (message: string) => unknown): void {
  if (message !== undefined) say(message);
}

function numberAdvice(schema: FormSchema, kind: string, text: string): string | undefined {
  if (tryRaw(text.trim())?.kind !== 'number')
    return text.trim() === '' ? 'a number is missing' : 'is not a number: it is sent as a text';
  const value = Number(text);
  if (kind === 'integer' && !Number.isInteger(value)) return 'is not a whole number';
  const [minimum, maximum] = [numberOf(schema, 'minimum'), numberOf(schema, 'maximum')];
  if (minimum !== undefined && value < minimum) return `is less than ${minimum}`;
  if (maximum !== undefined && value > maximum) return `is more than ${maximum}`;
  const [above, below] = [numberOf(schema, 'exclusiveMinimum'), numberOf(schema, 'exclusiveMaximum')];
  if (above !== undefined && value <= above) return `is not more than ${above}`;
  if (below !== undefined && value >= below) return `is not less than ${below}`;
  const step = numberOf(schema, 'multipleOf');
  return step && Math.abs(value / step - Math.round(value / step)) > 1e-9
    ? `is not a multiple of ${step}`
    : undefined;
}

function stringAdvice(schema: FormSchema, text: string): string | undefined {
  const pattern = textOf(schema, 'pattern');
  return (
    countAdvice([...text.slice(0, 100_000)].length, schema, 'Length', 'character') ??
    patternAdvice(pattern, text)
  );
}

function countAdvice(length: number, schema: FormSchema, name: string, word: string): string | undefined {
  const [least, most] = [numberOf(schema, `min${name}`), numberOf(schema, `max${name}`)];
  if (least !== undefined && length < least) return `has fewer than ${least} ${word}s`;
  return most !== undefined && length > most ? `has more than ${most} ${word}s` : undefined;
}

/**
 * A pattern of a server can take for ever, and the policy of the page allows no workers. So only patterns that cannot are
 * tried: short ones on short texts, with few repetitions, and none of them around another or around a choice.
 */
export function patternAdvice(pattern: string | undefined, text: string): string | undefined {
  if (pattern === undefined || pattern.length > 200 || text.length > 200) return undefined;
  const repetitions = pattern.match(/[*+]|\{\d*,\d*\}/g)?.length ?? 0;
  if (repetitions > 3 || /\([^()]*(?:[*+?|{]|\\\d)[^()]*\)[*+?{]|\)\)|\\[1-9k]|\(\?[<=!]/.test(pattern))
    return undefined;
  try {
    return new RegExp(pattern, 'u').test(text) ? undefined : `does not match ${pattern}`;
  } catch {
    return undefined;
  }
}

const MAX_DEPTH = 32;
const MAX_FOUND = 200;
