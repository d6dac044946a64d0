import { isSecretName, REDACTED, withoutLikelySecrets } from './secret-patterns.js';
import { createWordFinder } from './word-finder.js';

/** Takes secrets out of whatever people will read. */
export interface Redactor {
  /** These, too, from now on: the values of environment variables and headers. */
  add(secrets: Iterable<string>): void;
  /** Text without secrets: those that are known, and what looks like one. */
  text(text: string): string;
  /** One line of JSON, whose strings are redacted wherever they stand; those under a secret's name entirely. */
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

function redactJson(line: string, redact: (text: string) => string): string {
  /** Names whose values are secrets, and how deep the arrays are that belong to them. */
  let isSecret = false;
  let depth = 0;
  return line.replace(TOKENS, (token, quoted: string | undefined, colon: string | undefined) => {
    if (quoted === undefined) {
      if (token === '[') depth += isSecret ? 1 : 0;
      else if (token === ']') depth = Math.max(0, depth - 1);
      if (depth === 0 && token !== '[') isSecret = false;
      return token;
    }
    const value = quoted.includes('\\') ? (JSON.parse(`"${quoted}"`) as string) : quoted;
    if (colon !== undefined) {
      isSecret = isSecretName(value);
      // The names of our own fields are short, and no secret may rename them.
      return value.length < LONG_NAME ? token : `${JSON.stringify(redact(value))}${colon}`;
    }
    if (isSecret) return `"${REDACTED}"`;
    const clean = redact(value);
    return clean === value ? token : JSON.stringify(clean);
  });
}

/** Strings, with the colon behind a name, and what tells where a list begins and a value ends. */
const TOKENS = /"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?|[[\],{}]/g;
const LONG_NAME = 16;
const SHORTEST = 4;
const SHORTEST_LINE = 8;
const LONGEST = 4096;
