import type { DocumentTable } from './document.js';

/** What kind of server a definition is. */
export type EntryTransport =
  | { readonly kind: 'command' }
  /** `key` is the name under which this application has the address. */
  | { readonly kind: 'url'; readonly key: string; readonly transport: 'http' | 'sse' | 'auto' }
  /** At `key`, or else at the definition as a whole. */
  | { readonly kind: 'wrong'; readonly key?: string; readonly message: string; readonly hint?: string };

/** By `type` where it is given, otherwise by what is there. */
export function transportOf(table: DocumentTable): EntryTransport {
  const urlKey = URL_KEYS.find((key) => table.has(key));
  const typeKey = TYPE_KEYS.find((key) => table.has(key));
  const type = typeKey === undefined ? undefined : TYPES.get(table.get(typeKey));
  if (typeKey !== undefined && type === undefined) {
    return { kind: 'wrong', key: typeKey, message: 'must be stdio, http, streamable-http or sse' };
  }
  if (type === undefined && table.has('command') && urlKey !== undefined) {
    return { kind: 'wrong', message: `has both command and ${urlKey}: type has to say which counts` };
  }
  if (type === 'command' || (type === undefined && table.has('command'))) {
    if (table.has('command')) return { kind: 'command' };
    return { kind: 'wrong', message: 'has no command, which its type asks for' };
  }
  if (urlKey !== undefined) {
    return { kind: 'url', key: urlKey, transport: type ?? (urlKey === 'httpUrl' ? 'http' : 'auto') };
  }
  if (type !== undefined) return { kind: 'wrong', message: 'has no url, which its type asks for' };
  const hint = 'give it a command to start, or a url to reach';
  return { kind: 'wrong', message: 'has neither command nor url', hint };
}

/** Windsurf and Gemini have names of their own. */
export const URL_KEYS: readonly string[] = ['url', 'serverUrl', 'httpUrl'];
export const TYPE_KEYS: readonly string[] = ['type', 'transport', 'transportType'];

export const TYPES: ReadonlyMap<unknown, 'command' | 'http' | 'sse' | 'auto'> = new Map([
  ['stdio', 'command'],
  ['local', 'command'],
  ['http', 'http'],
  ['streamable-http', 'http'],
  ['streamableHttp', 'http'],
  ['streamable_http', 'http'],
  ['sse', 'sse'],
  ['remote', 'auto'],
  ['auto', 'auto'],
] as const);
