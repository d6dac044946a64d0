import { IsthmusError } from '../errors.js';
import type { Change, ForeignNotification } from '../exchange/call.js';
import type { JsonObject } from '../wire/json-rpc.js';
import { carriedMeta } from './reports.js';

/** The resources that one connection is subscribed to. Bounded, since the client chooses the URIs. */
export class SubscribedUris {
  /** Undefined until the first: most connections have none. */
  #uris: Set<string> | undefined;
  #chars = 0;

  get all(): Iterable<string> {
    return this.#uris ?? [];
  }

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

const MAX_URIS = 10_000;
const MAX_CHARS = 1024 * 1024;

/**
 * Changes that wait until their reader reads. A newer change of the same thing replaces the older one. Both their number
 * and the size of notifications of extensions are bounded: beyond that the oldest is dropped.
 */
export class WaitingChanges {
  readonly #changes = new Map<string, { readonly change: Change; readonly chars: number }>();
  #chars = 0;
  #count = 0;

  keep(change: Change): void {
    this.#count += 1;
    const key = keyOf(change, this.#count);
    const chars = change.kind === 'foreign' ? JSON.stringify(change.params).length : 0;
    if (chars > MAX_CHARS) return;
    this.#delete(key);
    this.#changes.set(key, { change, chars });
    this.#chars += chars;
    for (const oldest of this.#changes.keys()) {
      if (this.#changes.size <= MAX_URIS && this.#chars <= MAX_CHARS) return;
      this.#delete(oldest);
    }
  }

  /** Removes the oldest, and returns it. */
  take(): Change | undefined {
    for (const [key, { change }] of this.#changes) {
      this.#delete(key);
      return change;
    }
    return undefined;
  }

  #delete(key: string): void {
    this.#chars -= this.#changes.get(key)?.chars ?? 0;
    this.#changes.delete(key);
  }
}

/** A task has one newest state. Of other notifications of extensions, none replaces another. */
function keyOf(change: Change, count: number): string {
  if (change.kind === 'resource') return `resource ${change.uri}`;
  if (change.kind !== 'foreign') return change.kind;
  const { taskId } = change.params;
  return typeof taskId === 'string' ? `task ${taskId}` : `foreign ${count}`;
}

/** The change that a notification reports; `undefined` for every other notification. */
export function changeOf(method: string, params: JsonObject): Change | undefined {
  const _meta = carriedMeta(params);
  const meta = _meta && { _meta };
  switch (method) {
    case 'notifications/tools/list_changed':
      return { kind: 'tools', ...meta };
    case 'notifications/prompts/list_changed':
      return { kind: 'prompts', ...meta };
    case 'notifications/resources/list_changed':
      return { kind: 'resources', ...meta };
    case 'notifications/resources/updated':
      return typeof params['uri'] === 'string'
        ? { kind: 'resource', uri: params['uri'], ...meta }
        : undefined;
    default:
      return undefined;
  }
}

/** A change as a notification, without the name of a subscription. */
export function notificationOf(change: Change): ForeignNotification {
  if (change.kind === 'foreign') return change;
  const params = change._meta ? { _meta: change._meta } : {};
  return change.kind === 'resource'
    ? { method: 'notifications/resources/updated', params: { ...params, uri: change.uri } }
    : { method: `notifications/${change.kind}/list_changed`, params };
}

/** SUB-016: an update may name a sub-resource of the subscribed one. */
export function isPartOf(uri: string, whole: string): boolean {
  return uri === whole || uri.startsWith(whole.endsWith('/') ? whole : `${whole}/`);
}
