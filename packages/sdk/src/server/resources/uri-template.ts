import { IsthmusError } from '../../errors.js';
import type { TemplateVariables } from './template-variables.js';

/** Matches an RFC 6570 template: finds the values of its variables that expand to a URI. */
export interface UriTemplate {
  readonly variables: readonly string[];
  match(uri: string): TemplateVariables | undefined;
}

export function parseUriTemplate(text: string): UriTemplate {
  const parts = parseParts(text);
  const expressions = parts.filter((part) => part.kind === 'expression');
  return {
    variables: expressions.flatMap(({ variables }) => variables.map(({ name }) => name)),
    match(uri) {
      if (uri.length > MAX_URI) return undefined;
      const pieces = divide(parts, uri);
      if (!pieces) return undefined;
      // No prototype: an unset variable with the name of an inherited member must not seem to be set.
      const values: TemplateVariables = Object.create(null);
      return expressions.every((expression, index) => readExpression(expression, pieces[index]!, values))
        ? values
        : undefined;
    },
  };
}

/** Longer URIs never match: a client could send 16 MiB. */
const MAX_URI = 64 * 1024;

type Part = { readonly kind: 'literal'; readonly text: string } | Expression;

interface Expression {
  readonly kind: 'expression';
  readonly operator: Operator;
  readonly variables: readonly Variable[];
  /** The characters that end the text of this expression; its first character is exempt. */
  readonly stops: RegExp;
}

interface Variable {
  readonly name: string;
  readonly explode: boolean;
  readonly maxLength: number | undefined;
}

interface Operator {
  readonly first: string;
  readonly separator: string;
  /** `name=value` pairs. */
  readonly named: boolean;
}

/** RFC 6570 §3.2.1, by operator. */
const OPERATORS: ReadonlyMap<string, Operator> = new Map([
  ['', { first: '', separator: ',', named: false }],
  ['+', { first: '', separator: ',', named: false }],
  ['#', { first: '#', separator: ',', named: false }],
  ['.', { first: '.', separator: '.', named: false }],
  ['/', { first: '/', separator: '/', named: false }],
  [';', { first: ';', separator: ';', named: true }],
  ['?', { first: '?', separator: '&', named: true }],
  ['&', { first: '&', separator: '&', named: true }],
]);

function parseParts(text: string): Part[] {
  const parts: Part[] = [];
  const names = new Set<string>();
  let literal = 0;
  for (const found of text.matchAll(/\{([^{}]*)\}/g)) {
    parts.push(parseLiteral(text.slice(literal, found.index), text));
    parts.push(parseExpression(found[1]!, text, text.slice(found.index + found[0].length)));
    literal = found.index + found[0].length;
  }
  parts.push(parseLiteral(text.slice(literal), text));
  for (const part of parts) {
    for (const { name } of part.kind === 'expression' ? part.variables : []) {
      if (names.has(name)) throw invalid(text, `"${name}" occurs twice`);
      names.add(name);
    }
  }
  return parts.filter((part) => part.kind === 'expression' || part.text !== '');
}

function parseLiteral(text: string, template: string): Part {
  if (/[{}]/.test(text)) throw invalid(template, 'a brace is not closed');
  return { kind: 'literal', text };
}

function parseExpression(source: string, template: string, rest: string): Expression {
  const symbol = /^[+#./;?&]/.test(source) ? source[0]! : '';
  const variables = source
    .slice(symbol.length)
    .split(',')
    .map((spec): Variable => {
      const parsed = /^((?:\w|%[0-9A-Fa-f]{2})(?:[\w.]|%[0-9A-Fa-f]{2})*)(\*|:([1-9]\d{0,3}))?$/.exec(spec);
      if (!parsed) throw invalid(template, `{${source}} is not an RFC 6570 expression`);
      const maxLength = parsed[3] === undefined ? undefined : Number(parsed[3]);
      return { name: parsed[1]!, explode: parsed[2] === '*', maxLength };
    });
  return {
    kind: 'expression',
    operator: OPERATORS.get(symbol)!,
    variables,
    stops: stopsOf(symbol, variables, rest),
  };
}

/** The characters that an expansion would percent-encode, and the first character of the next expression. */
function stopsOf(symbol: string, variables: readonly Variable[], rest: string): RegExp {
  const neighbour = /^\{([.;&])/.exec(rest)?.[1] ?? '';
  switch (symbol) {
    case '+':
      return anyOf(`${rest.includes('{?') ? '?#' : ''}${rest.includes('{#') ? '#' : ''}${neighbour}`);
    case '#':
      return anyOf('');
    case '/':
      return anyOf(variables.length === 1 && !variables[0]!.explode ? `/?#${neighbour}` : `?#${neighbour}`);
    case '':
      return anyOf(`/?#&${neighbour}`);
    default:
      return anyOf(`/?#${neighbour}`);
  }
}

function anyOf(characters: string): RegExp {
  return characters === '' ? /$^/g : new RegExp(`[${characters}]`, 'g');
}

/**
 * Cuts the URI into the text of each expression, the earlier ones as long as possible. For each part, beginning with the
 * last, it computes where the rest of the URI can be matched. So the cost is parts × length for any URI; a regular
 * expression would take length to the power of the number of variables.
 */
function divide(parts: readonly Part[], uri: string): string[] | undefined {
  const length = uri.length;
  /** For each part and position: where the part ends if it starts there, or -1. */
  const ends: Int32Array[] = [];
  /** For each position: the last position up to it at which the later parts match the rest. */
  let reachable = new Int32Array(length + 1).fill(-1);
  reachable[length] = length;
  for (let index = parts.length - 1; index >= 0; index -= 1) {
    const part = parts[index]!;
    const end =
      part.kind === 'literal' ? literalEnds(part.text, uri, reachable) : expressionEnds(part, uri, reachable);
    ends[index] = end;
    reachable = new Int32Array(length + 1);
    for (let at = 0, last = -1; at <= length; at += 1) {
      if (end[at] !== -1) last = at;
      reachable[at] = last;
    }
  }
  const pieces: string[] = [];
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const end = ends[index]![at]!;
    if (end === -1) return undefined;
    if (part.kind === 'expression') pieces.push(uri.slice(at, end));
    at = end;
  }
  return at === length ? pieces : undefined;
}

function literalEnds(text: string, uri: string, reachable: Int32Array): Int32Array {
  const ends = new Int32Array(uri.length + 1).fill(-1);
  for (let at = uri.indexOf(text); at !== -1; at = uri.indexOf(text, at + 1)) {
    const end = at + text.length;
    if (reachable[end] === end) ends[at] = end;
  }
  return ends;
}

function expressionEnds(expression: Expression, uri: string, reachable: Int32Array): Int32Array {
  const { first } = expression.operator;
  const limits = expression.operator.named ? pairLimits(expression, uri) : runLimits(expression, uri);
  const ends = new Int32Array(uri.length + 1).fill(-1);
  for (let at = 0; at <= uri.length; at += 1) {
    const begins = first === '' || uri.startsWith(first, at);
    const furthest = begins && limits[at] !== -1 ? reachable[limits[at]!]! : -1;
    if (furthest > at) ends[at] = furthest;
    else if (reachable[at] === at) ends[at] = at; // empty text: every variable is undefined or empty
  }
  return ends;
}

/** How far the text of an expression can go from each position: to the next character that stops it. */
function runLimits({ operator, stops }: Expression, uri: string): Int32Array {
  const limits = new Int32Array(uri.length + 1);
  const stopAt = new Set([...uri.matchAll(stops)].map((found) => found.index));
  let limit = uri.length;
  for (let at = uri.length; at >= 0; at -= 1) {
    // The first character of the expression does not end it.
    limits[at] = operator.first === '' && stopAt.has(at) ? at : limit;
    if (stopAt.has(at)) limit = at;
  }
  return limits;
}

/** The same for `name=value` pairs: up to the last pair in a row with a name of this expression, or -1. */
function pairLimits({ operator, variables, stops }: Expression, uri: string): Int32Array {
  const names = new Set(variables.map(({ name }) => name));
  const limits = new Int32Array(uri.length + 1).fill(-1);
  const stopAt = new Set([...uri.matchAll(stops)].map((found) => found.index));
  let end = uri.length;
  for (let at = uri.length - 1; at >= 0; at -= 1) {
    const separates = uri[at] === operator.separator;
    if (separates || uri[at] === operator.first) {
      const equals = uri.indexOf('=', at + 1);
      const name = uri.slice(at + 1, equals === -1 || equals > end ? end : equals);
      const goesOn = uri[end] === operator.separator && limits[end] !== -1;
      if (names.has(name)) limits[at] = goesOn ? limits[end]! : end;
    }
    if (separates || stopAt.has(at)) end = at;
  }
  return limits;
}

/** Assigns the text of an expression to its variables; false if no values expand to it. */
function readExpression(
  { operator, variables }: Expression,
  text: string,
  values: TemplateVariables,
): boolean {
  if (text === '') {
    const [lone] = variables;
    if (operator.first === '' && lone) values[lone.name] = lone.explode ? [] : '';
    return true;
  }
  const pieces = text.slice(operator.first.length).split(operator.separator);
  return operator.named
    ? readPairs(variables, pieces, values)
    : readList(operator, variables, pieces, values);
}

function readPairs(
  variables: readonly Variable[],
  pieces: readonly string[],
  values: TemplateVariables,
): boolean {
  for (const piece of pieces) {
    const equals = piece.indexOf('=');
    const name = equals === -1 ? piece : piece.slice(0, equals);
    const variable = variables.find((each) => each.name === name);
    const value = decode(equals === -1 ? '' : piece.slice(equals + 1), variable?.maxLength);
    if (!variable || value === undefined) return false;
    const before = values[name];
    if (Array.isArray(before)) before.push(value);
    else if (variable.explode) values[name] = [value];
    else if (before === undefined) values[name] = value;
    else return false;
  }
  return true;
}

function readList(
  { separator }: Operator,
  variables: readonly Variable[],
  pieces: readonly string[],
  values: TemplateVariables,
): boolean {
  let next = 0;
  for (const [index, { name, explode, maxLength }] of variables.entries()) {
    if (next >= pieces.length) break;
    const others = variables.length - index - 1;
    // A single or last value may contain the separator (`{.ext}` of "tar.gz"), except in a path.
    const greedy = explode || (others === 0 && separator !== '/');
    const taken = pieces.slice(next, greedy ? Math.max(next + 1, pieces.length - others) : next + 1);
    next += taken.length;
    const decoded = (explode ? taken : [taken.join(separator)]).map((piece) => decode(piece, maxLength));
    if (decoded.includes(undefined)) return false;
    values[name] = explode ? (decoded as string[]) : decoded[0]!;
  }
  return next === pieces.length;
}

function decode(text: string, maxLength: number | undefined): string | undefined {
  try {
    const decoded = decodeURIComponent(text);
    return maxLength !== undefined && [...decoded].length > maxLength ? undefined : decoded;
  } catch {
    return undefined; // invalid percent-encoding: no values expand to it
  }
}

function invalid(template: string, why: string): IsthmusError {
  return new IsthmusError('INVALID_OPTION', `The URI template ${template} cannot be used: ${why}`);
}
