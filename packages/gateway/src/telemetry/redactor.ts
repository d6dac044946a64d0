import { endOfNested, isSecretName, REDACTED, withoutLikelySecrets } from './secret-patterns.js';
import { createWordFinder } from './word-finder.js';

/** Takes secrets out of whatever people will read. */
export interface Redactor {
  /** These, too, from now on: the values of environment variables and headers. */
  add(secrets: Iterable<string>): void;
  /** Text without secrets: those that are known, and what looks like one. */
  text(text: string): string;
  /** One line of JSON, whose strings are redacted wherever they stand. The whole value under a secret's name goes. */
  json(line: string): string;
}

export function createRedactor(secrets: Iterable<string> = []): Redactor {
  const known = new Set<string>();
  let finder = createWordFinder([]);
  const text = (value: string): string => withoutLikelySecrets(finder.replace(value, REDACTED));
  const redactor: Redactor = {
    add(more) {
      const before = known.size;
      for (const secret of more) for (const form of formsOf(secret)) known.add(form);
      if (known.size > before) finder = createWordFinder(known);
    },
    text,
    json: (line) => redactJson(line, text),
  };
  redactor.add(secrets);
  return redactor;
}

/**
 * As it is, and as it looks in a URL and within JSON. What is very short is in any text by chance. Text is often seen
 * line by line: each line of a key counts by itself. A very long one is looked for in pieces.
 */
function formsOf(secret: string): string[] {
  const trimmed = secret.trim();
  const lines = trimmed.split(/[\r\n]+/).map((line) => line.trim());
  const parts =
    lines.length > 1 ? lines.filter((line) => line.length >= SHORTEST_LINE && !isFrame(line)) : [];
  return [...(trimmed.length <= LONGEST ? [trimmed] : []), ...(lines.length > 1 ? parts : lines)]
    .flatMap(piecesOf)
    .filter((part) => part.length >= SHORTEST)
    .flatMap((part) => [part, JSON.stringify(part).slice(1, -1), inUrl(part)]);
}

/** `-----BEGIN PRIVATE KEY-----` is no secret. */
function isFrame(line: string): boolean {
  return line.startsWith('-----');
}

function piecesOf(text: string): string[] {
  const count = Math.ceil(text.length / LONGEST);
  return Array.from({ length: count }, (_, at) => text.slice(at * LONGEST, (at + 1) * LONGEST));
}

function inUrl(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    // Half a surrogate pair; it is in no URL then.
    return text;
  }
}

const SHORTEST = 4;
const SHORTEST_LINE = 8;
const LONGEST = 4096;

/**
 * One line of JSON, whose strings are redacted wherever they stand. The value under a secret's name is replaced as a
 * whole, be it a string, a number or an object; of a list each item is. `true`, `false` and `null` stay: they only
 * tell whether there is a secret.
 */
function redactJson(line: string, redact: (text: string) => string): string {
  let clean = '';
  /** Up to where the line has been copied or replaced. */
  let copied = 0;
  TOKENS.lastIndex = 0;
  for (let token = TOKENS.exec(line); token; token = TOKENS.exec(line)) {
    const [whole, quoted = '', colon] = token;
    const end = token.index + whole.length;
    const value = quoted.includes('\\') ? (JSON.parse(`"${quoted}"`) as string) : quoted;
    // The names of our own fields are short, and no secret may rename them.
    const kept = colon !== undefined && value.length < LONG_NAME ? value : redact(value);
    if (kept !== value) {
      clean += `${line.slice(copied, token.index)}${JSON.stringify(kept)}${colon ?? ''}`;
      copied = end;
    }
    if (colon === undefined || !isSecretName(value)) continue;
    const endOfValue = endOf(line, end);
    const replacement = replacementOf(line.slice(end, endOfValue));
    if (replacement !== undefined) {
      clean += `${line.slice(copied, end)}${replacement}`;
      copied = endOfValue;
    }
    TOKENS.lastIndex = endOfValue;
  }
  return copied === 0 ? line : clean + line.slice(copied);
}

/** Where the value that begins here ends. */
function endOf(line: string, begin: number): number {
  SCALAR.lastIndex = begin;
  return SCALAR.test(line) ? SCALAR.lastIndex : endOfNested(line, begin);
}

function replacementOf(value: string): string | undefined {
  const text = value.trim();
  if (text === 'true' || text === 'false' || text === 'null') return undefined;
  if (!text.startsWith('[')) return `"${REDACTED}"`;
  try {
    return JSON.stringify((JSON.parse(text) as unknown[]).map(() => REDACTED));
  } catch {
    return `"${REDACTED}"`;
  }
}

/** Strings, with the colon behind a name. */
const TOKENS = /"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?/g;
/** A value without parts. */
const SCALAR = /\s*(?:"[^"\\]*(?:\\.[^"\\]*)*"|[^\s"[\]{},]+)/y;
const LONG_NAME = 16;
