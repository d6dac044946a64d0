import { IsthmusError } from '../errors.js';
import type { Change } from '../exchange/call.js';
import type { JsonObject } from '../wire/json-rpc.js';

/** The resources that one connection is subscribed to. Bounded, since the client chooses the URIs. */
export class SubscribedUris {
  /** Undefined until the first: most connections have none. */
  #uris: Set<string> | undefined;
  #chars = 0;

  has(uri: string): boolean {
    return this.#uris?.has(uri) ?? false;
  }

  /** Throws `BUSY` if there are too many. */
  add(uri: string): void {
    this.#uris ??= new Set();
    if (this.#uris.has(uri)) return;
    const problem = urisProblem(this.#uris.size + 1, this.#chars + uri.length);
    if (problem) throw new IsthmusError('BUSY', `${problem}; unsubscribe from some of them first`);
    this.#uris.add(uri);
    this.#chars += uri.length;
  }

  delete(uri: string): void {
    if (this.#uris?.delete(uri)) this.#chars -= uri.length;
  }
}

/** Why one connection cannot subscribe to so many resources; undefined if it can. */
export function urisProblem(count: number, chars: number): string | undefined {
  if (count <= MAX_URIS && chars <= MAX_CHARS) return undefined;
  return `a subscriber can name at most ${MAX_URIS} resources, with ${MAX_CHARS} characters in total`;
}

/** Keeps a change until the client reads, with the same bound; the oldest change is dropped. */
export function keepOverdue<T>(overdue: Map<string, T>, key: string, change: T): void {
  overdue.set(key, change);
  if (overdue.size > MAX_URIS) overdue.delete(overdue.keys().next().value!);
}

const MAX_URIS = 10_000;
const MAX_CHARS = 1024 * 1024;

/** The change that a notification reports; `undefined` for every other notification. */
export function changeOf(method: string, params: JsonObject): Change | undefined {
  switch (method) {
    case 'notifications/tools/list_changed':
      return { kind: 'tools' };
    case 'notifications/prompts/list_changed':
      return { kind: 'prompts' };
    case 'notifications/resources/list_changed':
      return { kind: 'resources' };
    case 'notifications/resources/updated':
      return typeof params['uri'] === 'string' ? { kind: 'resource', uri: params['uri'] } : undefined;
    default:
      return undefined;
  }
}

/** SUB-016: an update may name a sub-resource of the subscribed one. */
export function isPartOf(uri: string, whole: string): boolean {
  return uri === whole || uri.startsWith(whole.endsWith('/') ? whole : `${whole}/`);
}
