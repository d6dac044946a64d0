import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageOf } from '../../errors.js';
import type { Caller } from '../../exchange/call.js';
import { isJsonObject, type JsonObject } from '../../wire/json-rpc.js';

export type FirstListKind = 'tools' | 'prompts' | 'resources';

/** What a process listed right after its start. */
export interface FirstLists {
  /** The first list that came; undefined for a server without any. */
  readonly first: { readonly method: string; readonly items: number } | undefined;
  /** Why the first list did not come. */
  readonly error: string | undefined;
  /** A fingerprint of each complete list. */
  readonly prints: Readonly<Partial<Record<FirstListKind, string>>>;
  /** Tools with the read-only or idempotent hint. */
  readonly harmless: ReadonlySet<string>;
}

/** Reads the lists that the server declares. They prove that it answers, and a later process is compared with them. */
export async function readFirstLists(caller: Caller, timeoutMs: number): Promise<FirstLists> {
  const { capabilities } = caller.server;
  const kinds = (['tools', 'prompts', 'resources'] as const).filter((kind) => capabilities[kind]);
  const prints: Partial<Record<FirstListKind, string>> = {};
  const harmless = new Set<string>();
  let first: FirstLists['first'];
  let error: string | undefined;
  for (const kind of kinds) {
    try {
      const items = await readAll(caller, kind, timeoutMs);
      // The answer of the first call often comes in the same turn, and need not wait for the fingerprint.
      await nextTurn();
      first ??= { method: `${kind}/list`, items: items.length };
      prints[kind] = createHash('sha256').update(JSON.stringify(items)).digest('base64');
      if (kind === 'tools') for (const name of harmlessTools(items)) harmless.add(name);
    } catch (failure) {
      error ??= messageOf(failure);
    }
  }
  return { first, error: first ? undefined : error, prints, harmless };
}

/** The lists that are known to differ. */
export function changedLists(before: FirstLists['prints'], after: FirstLists['prints']): FirstListKind[] {
  return (['tools', 'prompts', 'resources'] as const).filter(
    (kind) => before[kind] !== undefined && after[kind] !== undefined && before[kind] !== after[kind],
  );
}

async function readAll(caller: Caller, kind: FirstListKind, timeoutMs: number): Promise<unknown[]> {
  const items: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params: JsonObject = cursor === undefined ? {} : { cursor };
    const result = await caller.call({
      method: `${kind}/list`,
      params,
      timeoutMs,
      maxTimeoutMs: timeoutMs,
    });
    for (const item of Array.isArray(result[kind]) ? result[kind] : []) items.push(item);
    if (typeof result['nextCursor'] !== 'string') break;
    cursor = result['nextCursor'];
  }
  return items;
}

function harmlessTools(tools: readonly unknown[]): string[] {
  return tools.flatMap((tool) => {
    if (!isJsonObject(tool) || typeof tool['name'] !== 'string') return [];
    const hints = isJsonObject(tool['annotations']) ? tool['annotations'] : {};
    return hints['readOnlyHint'] === true || hints['idempotentHint'] === true ? [tool['name']] : [];
  });
}

const MAX_PAGES = 100;
