/** One challenge of a `WWW-Authenticate` header (RFC 9110 §11.6.1). */
export interface AuthChallenge {
  /** In lower case. */
  readonly scheme: string;
  /** Names are in lower case. A name that is repeated against the rules keeps all its values, in order. */
  readonly params: ReadonlyMap<string, readonly string[]>;
}

/** What a server says about the login that it wants. */
export interface LoginChallenge {
  /** Where its metadata is, in the order of the header. */
  readonly resourceMetadata: readonly string[];
  readonly scopes: readonly string[];
  readonly error: string | undefined;
}

/**
 * Reads all challenges of a header. A server may send several, in any order, and also schemes that are not for us. What
 * follows something that breaks the grammar is left out. The time is linear in the length of the header.
 */
export function parseChallenges(header: string): readonly AuthChallenge[] {
  const found: { scheme: string; params: Map<string, string[]> }[] = [];
  const text = header.length > MAX_HEADER ? header.slice(0, MAX_HEADER) : header;
  let at = 0;
  for (;;) {
    at = skip(text, at, LIST_SPACE);
    const name = wordAt(text, at);
    if (name === '') return found;
    const afterName = skip(text, at + name.length, SPACE);
    const current = found.at(-1);
    if (text[afterName] === '=' && current) {
      const value = valueAt(text, skip(text, afterName + 1, SPACE));
      if (!value) return found;
      at = value.end;
      add(current.params, name.toLowerCase(), value.text);
      continue;
    }
    found.push({ scheme: name.toLowerCase(), params: new Map() });
    at = skipToken68(text, afterName);
  }
}

/** The challenge for a bearer token, with those of DPoP: both name the same metadata. Undefined: there is none. */
export function loginChallenge(header: string | undefined): LoginChallenge | undefined {
  const challenges = parseChallenges(header ?? '').filter(({ scheme }) => SCHEMES.has(scheme));
  if (challenges.length === 0) return undefined;
  const values = (name: string) => challenges.flatMap(({ params }) => params.get(name) ?? []);
  return {
    resourceMetadata: [...new Set(values('resource_metadata'))],
    scopes: scopesOf(values('scope')[0]),
    error: values('error')[0],
  };
}

/** The scopes of a space-separated list, each once. */
export function scopesOf(text: string | undefined): readonly string[] {
  return [...new Set((text ?? '').split(' ').filter((scope) => scope !== ''))];
}

const SCHEMES: ReadonlySet<string> = new Set(['bearer', 'dpop']);
/** No server needs more; Node itself refuses headers over 16 KiB. */
const MAX_HEADER = 64 * 1024;
const SPACE = ' \t';
const LIST_SPACE = ' \t,';
const TOKEN = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y;
const TOKEN68 = /[0-9A-Za-z\-._~+/]+=*(?=[ \t]*(?:,|$))/y;

function skip(text: string, from: number, chars: string): number {
  let at = from;
  while (at < text.length && chars.includes(text[at]!)) at += 1;
  return at;
}

function wordAt(text: string, at: number): string {
  TOKEN.lastIndex = at;
  return TOKEN.exec(text)?.[0] ?? '';
}

/** Some schemes have one opaque value in the place of parameters. */
function skipToken68(text: string, at: number): number {
  TOKEN68.lastIndex = at;
  const found = TOKEN68.exec(text)?.[0];
  return found === undefined ? at : at + found.length;
}

function valueAt(text: string, at: number): { text: string; end: number } | undefined {
  if (text[at] !== '"') {
    const word = wordAt(text, at);
    return word === '' ? undefined : { text: word, end: at + word.length };
  }
  const parts: string[] = [];
  let from = at + 1;
  for (let end = from; end < text.length; end += 1) {
    if (text[end] === '"') {
      parts.push(text.slice(from, end));
      return { text: parts.join(''), end: end + 1 };
    }
    if (text[end] !== '\\') continue;
    parts.push(text.slice(from, end));
    from = end + 1;
    end += 1;
  }
  return undefined;
}

function add(params: Map<string, string[]>, name: string, value: string): void {
  const known = params.get(name);
  if (known) known.push(value);
  else params.set(name, [value]);
}
