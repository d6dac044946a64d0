import { signal } from '@preact/signals';

/** Where the page is. Links have names and numbers only: arguments, results and keys are never in an address. */
export interface Place {
  readonly parts: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

export const place = signal<Place>(read());

export function startRouter(): void {
  addEventListener('hashchange', () => {
    place.value = read();
  });
}

/** The address of a place of this page. */
export function to(...parts: readonly (string | number)[]): string {
  return `#/${parts.map((part) => encoded(String(part))).join('/')}`;
}

/** A name of a server can have half of a surrogate pair, which has no place in an address. It becomes `%uD800`. */
function encoded(part: string): string {
  const half = (found: string) => `%u${found.charCodeAt(0).toString(16).toUpperCase()}`;
  return part
    .split(/(\p{Surrogate})/u)
    .map((piece, at) => (at % 2 === 0 ? encodeURIComponent(piece) : half(piece)))
    .join('');
}

export function go(address: string): void {
  location.hash = address;
}

/**
 * A choice that is part of the address, so that a link leads to it. Only the given words are taken: a text that a person typed
 * is never in an address.
 */
export function chosenIn(name: string, words: readonly string[]): readonly [string, (word: string) => void] {
  const given = place.value.query[name] ?? '';
  const choose = (word: string) => {
    const query = new URLSearchParams({ ...place.peek().query, [name]: word });
    if (word === '') query.delete(name);
    const address = to(...place.peek().parts);
    history.replaceState(null, '', query.size === 0 ? address : `${address}?${query}`);
    place.value = read();
  };
  return [words.includes(given) ? given : '', choose];
}

function read(): Place {
  const [path = '', search = ''] = location.hash
    .replace(/^#enter=.*/, '')
    .replace(/^#\/?/, '')
    .split('?');
  return {
    parts: path.split('/').filter(Boolean).map(decoded),
    query: Object.fromEntries(new URLSearchParams(search)),
  };
}

function decoded(part: string): string {
  try {
    return part
      .split(/%u(D[89A-F][0-9A-F]{2})/)
      .map((piece, at) =>
        at % 2 === 0 ? decodeURIComponent(piece) : String.fromCharCode(parseInt(piece, 16)),
      )
      .join('');
  } catch {
    return part;
  }
}
