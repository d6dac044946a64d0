import { IsthmusError, ProtocolError } from '../errors.js';
import { ErrorCode } from '../wire/error-codes.js';
import type { JsonObject } from '../wire/json-rpc.js';
import type { CacheHints } from '../wire/model.js';

/** Controls a registered tool, prompt, resource or template. */
export interface Registration {
  readonly name: string;
  readonly enabled: boolean;
  /** Shows it again in lists and lets it be used. */
  enable(): void;
  /** Hides it; a call of it fails as if it did not exist. */
  disable(): void;
  /** Removes it; the name can be registered again. */
  remove(): void;
}

/** A registration as the registry returns it. `tool`, `prompt` and the others give `update` its types. */
export interface UpdatableRegistration extends Registration {
  update(changes: object, handler?: unknown): void;
}

/** The tools, prompts, resources or templates of a server by name, in the order of registration, listed in pages. */
export interface Registry<T> {
  /** True once anything was registered, also if it was removed: a declared capability must not disappear. */
  readonly used: boolean;
  /** `rebuild` makes the item with other members of its definition, or another handler. */
  add(name: string, item: T, rebuild: (changes: object, handler: unknown) => T): UpdatableRegistration;
  /** Enabled items only. */
  get(name: string): T | undefined;
  /** Enabled items, in order. */
  all(): readonly T[];
  page(cursor: unknown): { readonly items: readonly T[]; readonly nextCursor?: string };
}

export function createRegistry<T>(options: {
  readonly kind: string;
  readonly pageSize: number;
  readonly onChange: () => void;
}): Registry<T> {
  const { kind, pageSize, onChange } = options;
  // A Map has no inherited names: `constructor` and `__proto__` are ordinary keys.
  const entries = new Map<string, Entry<T>>();
  let listed: Entry<T>[] | undefined;
  let lastOrder = 0;
  let used = false;

  const changed = () => {
    listed = undefined;
    onChange();
  };
  const list = () => {
    listed ??= [...entries.values()].filter((entry) => entry.enabled);
    return listed;
  };

  return {
    get used() {
      return used;
    },
    add(name, item, rebuild) {
      if (typeof name !== 'string' || name === '') {
        throw new IsthmusError('INVALID_OPTION', `A ${kind} needs a name`);
      }
      if (entries.has(name)) {
        throw new IsthmusError(
          'INVALID_OPTION',
          `There is already a ${kind} named "${name}"; remove it first`,
        );
      }
      lastOrder += 1;
      const entry: Entry<T> = { item, order: lastOrder, enabled: true };
      entries.set(name, entry);
      used = true;
      changed();
      const switchTo = (enabled: boolean) => {
        if (entries.get(name) !== entry || entry.enabled === enabled) return;
        entry.enabled = enabled;
        changed();
      };
      return {
        name,
        get enabled() {
          return entries.get(name) === entry && entry.enabled;
        },
        enable: () => switchTo(true),
        disable: () => switchTo(false),
        remove() {
          if (entries.get(name) !== entry) return;
          entries.delete(name);
          changed();
        },
        update(changes, handler) {
          if (entries.get(name) !== entry) {
            throw new IsthmusError('INVALID_OPTION', `The ${kind} "${name}" was removed; register it again`);
          }
          entry.item = rebuild(changes, handler);
          // Clients see the definition only, not the handler.
          if (Object.keys(changes).length > 0) changed();
        },
      };
    },
    get(name) {
      const entry = entries.get(name);
      return entry?.enabled ? entry.item : undefined;
    },
    all: () => list().map((entry) => entry.item),
    page(cursor) {
      const after = cursor === undefined ? 0 : readCursor(kind, cursor, lastOrder);
      const all = list();
      const first = after === 0 ? 0 : all.findIndex((entry) => entry.order > after);
      if (first === -1) return { items: [] };
      const page = all.slice(first, first + pageSize);
      const items = page.map((entry) => entry.item);
      return first + pageSize < all.length
        ? { items, nextCursor: writeCursor(kind, page[page.length - 1]!.order) }
        : { items };
    },
  };
}

interface Entry<T> {
  item: T;
  /** Never reused, so that a cursor stays valid when other entries are added and removed. */
  readonly order: number;
  enabled: boolean;
}

function writeCursor(kind: string, order: number): string {
  return Buffer.from(`${kind}:${order}`).toString('base64url');
}

/** PAGE-006: a cursor that this server did not create is refused. */
function readCursor(kind: string, cursor: unknown, last: number): number {
  const text = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : '';
  const order = text.startsWith(`${kind}:`) ? Number(text.slice(kind.length + 1)) : Number.NaN;
  const genuine =
    Number.isInteger(order) && order >= 1 && order <= last && writeCursor(kind, order) === cursor;
  if (!genuine) throw new ProtocolError(ErrorCode.InvalidParams, `Unknown cursor for the list of ${kind}s`);
  return order;
}

/** A copy of a definition without its undefined members. */
export function defined<T extends object>(definition: T): JsonObject {
  const copy: JsonObject = {};
  for (const [key, value] of Object.entries(definition)) if (value !== undefined) copy[key] = value;
  return copy;
}

/** CACHE-003, CACHE-004: the author gets the error, before a client refuses the result. */
export function checkCacheHints(what: string, hints: CacheHints | undefined): void {
  const { ttlMs, cacheScope } = hints ?? {};
  if (ttlMs !== undefined && !(Number.isSafeInteger(ttlMs) && ttlMs >= 0)) {
    throw new IsthmusError(
      'INVALID_OPTION',
      `${what}: ttlMs must be a whole number of at least 0, got ${ttlMs}`,
    );
  }
  if (cacheScope !== undefined && cacheScope !== 'public' && cacheScope !== 'private') {
    throw new IsthmusError(
      'INVALID_OPTION',
      `${what}: cacheScope must be "public" or "private", got ${String(cacheScope)}`,
    );
  }
}

/**
 * A copy without a prototype: a name such as `constructor`, if the client did not send it, must not seem to be there.
 */
export function withoutPrototype(values: JsonObject): JsonObject {
  return Object.assign(Object.create(null), values);
}
