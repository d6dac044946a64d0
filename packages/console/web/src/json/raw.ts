/**
 * JSON with everything that was typed: numbers keep their text, and members their order and repetitions. `JSON.parse` would
 * make 9007199254740993 another number.
 */
export type Raw =
  | { readonly kind: 'object'; readonly members: readonly (readonly [string, Raw])[] }
  | { readonly kind: 'array'; readonly items: readonly Raw[] }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'word'; readonly text: 'true' | 'false' | 'null' };

/** Where and why a text is not JSON. */
export class JsonProblem extends Error {
  override readonly name = 'JsonProblem';
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

export function parseRaw(text: string): Raw {
  const source = { text, at: 0 };
  const value = readValue(source, 0);
  skipSpace(source);
  if (source.at < text.length) throw new JsonProblem('There is more after the end of the value', source.at);
  return value;
}

/** Undefined where the text is not JSON. */
export function tryRaw(text: string): Raw | undefined {
  try {
    return parseRaw(text);
  } catch {
    return undefined;
  }
}

interface Source {
  readonly text: string;
  at: number;
}

const MAX_DEPTH = 500;
const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;

function readValue(source: Source, depth: number): Raw {
  if (depth > MAX_DEPTH) throw new JsonProblem(`It is nested deeper than ${MAX_DEPTH} levels`, source.at);
  skipSpace(source);
  const first = source.text[source.at];
  if (first === '{') return readObject(source, depth);
  if (first === '[') return readArray(source, depth);
  if (first === '"') return { kind: 'string', value: readString(source) };
  const number = match(source, NUMBER);
  if (number !== undefined) return { kind: 'number', text: number };
  const word = match(source, WORD);
  if (word !== undefined) return { kind: 'word', text: word as 'true' };
  throw new JsonProblem(first === undefined ? 'The value is missing' : 'A value begins here', source.at);
}

function readObject(source: Source, depth: number): Raw {
  const members: [string, Raw][] = [];
  source.at += 1;
  skipSpace(source);
  if (take(source, '}')) return { kind: 'object', members };
  for (;;) {
    skipSpace(source);
    const name = readString(source);
    skipSpace(source);
    if (!take(source, ':')) throw new JsonProblem('A ":" belongs here', source.at);
    members.push([name, readValue(source, depth + 1)]);
    skipSpace(source);
    if (take(source, '}')) return { kind: 'object', members };
    if (!take(source, ',')) throw new JsonProblem('A "," or "}" belongs here', source.at);
  }
}

function readArray(source: Source, depth: number): Raw {
  const items: Raw[] = [];
  source.at += 1;
  skipSpace(source);
  if (take(source, ']')) return { kind: 'array', items };
  for (;;) {
    items.push(readValue(source, depth + 1));
    skipSpace(source);
    if (take(source, ']')) return { kind: 'array', items };
    if (!take(source, ',')) throw new JsonProblem('A "," or "]" belongs here', source.at);
  }
}

function readString(source: Source): string {
  const { text, at } = source;
  if (text[at] !== '"') throw new JsonProblem('A text in double quotes belongs here', at);
  let end = at + 1;
  // A pattern would keep a step for each character of a text of megabytes.
  for (; text[end] !== '"'; end += text[end] === '\\' ? 2 : 1)
    if (end >= text.length) throw new JsonProblem('The text that begins here has no end', at);
  source.at = end + 1;
  try {
    return JSON.parse(text.slice(at, end + 1)) as string;
  } catch {
    throw new JsonProblem('This text has a line break or a wrong escape in it', at);
  }
}

function skipSpace(source: Source): void {
  match(source, SPACE);
}

function take(source: Source, character: string): boolean {
  if (source.text[source.at] !== character) return false;
  source.at += 1;
  return true;
}

function match(source: Source, pattern: RegExp): string | undefined {
  pattern.lastIndex = source.at;
  const found = pattern.exec(source.text)?.[0];
  if (found === undefined) return undefined;
  source.at += found.length;
  return found;
}
