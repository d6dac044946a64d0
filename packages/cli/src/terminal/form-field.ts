import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { ElicitSchema } from '@isthmus/sdk/internal/wire/model.js';
import { oneLine } from './text.js';

export type FieldValue = string | number | boolean | string[];

export type ParsedField =
  | { readonly ok: true; readonly value: FieldValue }
  | { readonly ok: false; readonly problem: string };

/** One field of a form. */
export interface FormField {
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  /** `whole number, 1 to 10` */
  readonly kind: string;
  readonly choices: readonly FieldChoice[];
  readonly required: boolean;
  readonly preset: FieldValue | undefined;
  /** Reads a typed line. */
  parse(text: string): ParsedField;
}

export interface FieldChoice {
  readonly value: string;
  readonly title: string;
}

export function formFields(schema: ElicitSchema): FormField[] {
  const properties = isJsonObject(schema?.properties) ? schema.properties : {};
  const required = Array.isArray(schema?.required) ? schema.required : [];
  return Object.entries(properties).map(([name, property]) =>
    toField(name, isJsonObject(property) ? property : {}, required.includes(name)),
  );
}

function toField(name: string, schema: Record<string, unknown>, required: boolean): FormField {
  const kind = kindOf(schema);
  const { title, description, default: preset } = schema;
  return {
    name,
    title: oneLine(typeof title === 'string' ? title : name),
    description: typeof description === 'string' ? oneLine(description) : undefined,
    required,
    preset: isFieldValue(preset) ? preset : undefined,
    ...kind,
  };
}

function isFieldValue(value: unknown): value is FieldValue {
  return (
    ['string', 'number', 'boolean'].includes(typeof value) ||
    (Array.isArray(value) && value.every((each) => typeof each === 'string'))
  );
}

function kindOf(schema: Record<string, unknown>): Pick<FormField, 'kind' | 'choices' | 'parse'> {
  switch (schema['type']) {
    case 'boolean':
      return { kind: 'yes or no', choices: [], parse: parseBoolean };
    case 'integer':
    case 'number':
      return numberKind(schema);
    case 'array':
      return severalKind(schema);
    default: {
      const choices = choicesOf(schema);
      return choices.length > 0
        ? { kind: 'one of', choices, parse: (text) => parseChoice(text, choices) }
        : textKind(schema);
    }
  }
}

function parseBoolean(text: string): ParsedField {
  const answer = text.trim().toLowerCase();
  if (['y', 'yes', 'true'].includes(answer)) return { ok: true, value: true };
  if (['n', 'no', 'false'].includes(answer)) return { ok: true, value: false };
  return problem('Enter yes or no');
}

function numberKind(schema: Record<string, unknown>): Pick<FormField, 'kind' | 'choices' | 'parse'> {
  const whole = schema['type'] === 'integer';
  const least = numberOr(schema['minimum'], Number.NEGATIVE_INFINITY);
  const most = numberOr(schema['maximum'], Number.POSITIVE_INFINITY);
  const name = whole ? 'whole number' : 'number';
  return {
    kind: `${name}${range(least, most)}`,
    choices: [],
    parse(text) {
      const value = text.trim() === '' ? Number.NaN : Number(text);
      if (!Number.isFinite(value) || (whole && !Number.isSafeInteger(value)))
        return problem(`Enter a ${name}`);
      if (value < least || value > most) return problem(`Enter a ${name}${range(least, most)}`);
      return { ok: true, value };
    },
  };
}

function textKind(schema: Record<string, unknown>): Pick<FormField, 'kind' | 'choices' | 'parse'> {
  const least = numberOr(schema['minLength'], 0) || Number.NEGATIVE_INFINITY;
  const most = numberOr(schema['maxLength'], Number.POSITIVE_INFINITY);
  const length = least > 0 || Number.isFinite(most) ? `${range(least, most)} characters` : '';
  const format = FORMATS.get(String(schema['format']));
  return {
    kind: `${format?.name ?? 'text'}${length}`,
    choices: [],
    parse(text) {
      const count = [...text].length;
      if (count < least || count > most) return problem(`Enter a text${length}; this one has ${count}`);
      if (format && !format.test(text))
        return problem(`Enter ${article(format.name)}, such as ${format.example}`);
      return { ok: true, value: text };
    },
  };
}

const FORMATS: ReadonlyMap<string, { name: string; example: string; test: (text: string) => boolean }> =
  new Map([
    [
      'email',
      { name: 'e-mail address', example: 'me@example.com', test: (text) => /^[^\s@]+@[^\s@]+$/.test(text) },
    ],
    ['uri', { name: 'URI', example: 'https://example.com', test: (text) => URL.canParse(text) }],
    ['date', { name: 'date', example: '2026-07-28', test: isDate }],
    [
      'date-time',
      {
        name: 'date and time',
        example: '2026-07-28T12:00:00Z',
        test: (text) =>
          isDate(text.slice(0, 10)) &&
          /^[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(text.slice(10)) &&
          !Number.isNaN(Date.parse(text)),
      },
    ],
  ]);

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

function severalKind(schema: Record<string, unknown>): Pick<FormField, 'kind' | 'choices' | 'parse'> {
  const choices = choicesOf(isJsonObject(schema['items']) ? schema['items'] : {});
  const least = numberOr(schema['minItems'], 0) || Number.NEGATIVE_INFINITY;
  const most = numberOr(schema['maxItems'], Number.POSITIVE_INFINITY);
  const kind = `${(range(least, most) || ', any number').slice(2)} of, separated by commas`;
  return {
    kind,
    choices,
    parse(text) {
      const values: string[] = [];
      for (const part of text.split(',').map((each) => each.trim())) {
        if (part === '') continue;
        const parsed: ParsedField =
          choices.length > 0 ? parseChoice(part, choices) : { ok: true, value: part };
        if (!parsed.ok) return parsed;
        if (!values.includes(String(parsed.value))) values.push(String(parsed.value));
      }
      if (values.length < least || values.length > most)
        return problem(`Choose${range(least, most).slice(1)}`);
      return { ok: true, value: values };
    },
  };
}

/** By value, by title, or by number in the list, in this order. */
function parseChoice(text: string, choices: readonly FieldChoice[]): ParsedField {
  const wanted = text.trim();
  const found =
    choices.find(({ value }) => value === wanted) ??
    choices.find(({ title }) => title.toLowerCase() === wanted.toLowerCase()) ??
    (/^\d+$/.test(wanted) ? choices[Number(wanted) - 1] : undefined);
  return found
    ? { ok: true, value: found.value }
    : problem(`Choose from ${choices.map(({ value }) => oneLine(value)).join(', ')}, or by number`);
}

/** The revisions write choices as `enum`, `enum` with `enumNames`, `oneOf` or `anyOf`. */
function choicesOf(schema: Record<string, unknown>): FieldChoice[] {
  const { enum: values, enumNames } = schema;
  if (Array.isArray(values)) {
    const names: unknown[] = Array.isArray(enumNames) ? enumNames : [];
    return values.map((value, at) => ({ value: String(value), title: oneLine(String(names[at] ?? value)) }));
  }
  const titled = schema['oneOf'] ?? schema['anyOf'];
  return (Array.isArray(titled) ? titled : []).filter(isJsonObject).map((each) => ({
    value: String(each['const']),
    title: oneLine(String(each['title'] ?? each['const'])),
  }));
}

function range(least: number, most: number): string {
  if (least > 0 && least === most) return `, ${least}`;
  if (Number.isFinite(most)) return Number.isFinite(least) ? `, ${least} to ${most}` : `, at most ${most}`;
  return Number.isFinite(least) ? `, at least ${least}` : '';
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

function problem(text: string): ParsedField {
  return { ok: false, problem: text };
}

function article(name: string): string {
  return `${/^[aeio]/.test(name) ? 'an' : 'a'} ${name}`;
}
