import { isSecretName, REDACTED, withoutLikelySecrets } from './secret-patterns.js';

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
  let pattern: RegExp | undefined;
  const text = (value: string): string => {
    const without = pattern ? value.replace(pattern, REDACTED) : value;
    return withoutLikelySecrets(without);
  };
  const redactor: Redactor = {
    add(more) {
      const before = known.size;
      for (const secret of more) for (const form of formsOf(secret)) known.add(form);
      if (known.size === before) return;
      // The longest first: one secret may be the beginning of another.
      const forms = [...known].sort((a, b) => b.length - a.length);
      pattern = new RegExp(forms.map(escaped).join('|'), 'g');
    },
    text,
    json: (line) => redactJson(line, text),
  };
  redactor.add(secrets);
  return redactor;
}

/** As it is, and as it looks in a URL and within JSON. What is very short is in any text by chance. */
function formsOf(secret: string): string[] {
  const trimmed = secret.trim();
  if (trimmed.length < SHORTEST) return [];
  const quoted = JSON.stringify(trimmed).slice(1, -1);
  return [trimmed, quoted, inUrl(trimmed)];
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

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
