import { endOfNested, isSecretName, REDACTED, withoutLikelySecrets } from './secret-patterns.js';
import { createWordFinder } from './word-finder.js';

/** Removes secrets from text that people will read. */
export interface Redactor {
  /** Adds secrets: the values of environment variables and headers. */
  add(secrets: Iterable<string>): void;
  /** Removes known secrets, and what looks like a secret. */
  text(text: string): string;
  /** Redacts all strings of one line of JSON. The value under the name of a secret is replaced as a whole. */
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
 * The forms in which a secret can appear: as it is, in a URL, and in JSON. Very short values are left out, because they are
 * in any text by chance. Text is often read line by line, so each line of a key counts by itself. A very long secret is
 * searched in pieces.
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

/** `-----BEGIN PRIVATE KEY-----` is not secret. */
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
    // Half a surrogate pair cannot be in a URL.
    return text;
  }
}

const SHORTEST = 4;
const SHORTEST_LINE = 8;
const LONGEST = 4096;

/**
 * Redacts all strings of one line of JSON. The value under the name of a secret is replaced as a whole: a string, a number
 * or an object, and each item of a list. `true`, `false` and `null` stay, because they only say whether there is a secret.
 */
function redactJson(line: string, redact: (text: string) => string): string {
  let clean = '';
  /** The line has been copied or replaced up to here. */
  let copied = 0;
  TOKENS.lastIndex = 0;
  for (let token = TOKENS.exec(line); token; token = TOKENS.exec(line)) {
    const [whole, quoted = '', colon] = token;
    const end = token.index + whole.length;
    const value = quoted.includes('\\') ? (JSON.parse(`"${quoted}"`) as string) : quoted;
    // The names of our own fields are short. A secret with the same text must not rename them.
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

/** Strings, with the colon after a name. */
const TOKENS = /"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?/g;
/** A value that is not an object or a list. */
const SCALAR = /\s*(?:"[^"\\]*(?:\\.[^"\\]*)*"|[^\s"[\]{},]+)/y;
const LONG_NAME = 16;
