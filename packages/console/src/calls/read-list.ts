import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { isJsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { ListPage } from '../contract.js';
import { ConsoleError, notFound } from '../http/console-error.js';
import type { CallTarget } from './call-target.js';

/** Reads a list of a server: one page, or all pages up to a bound. */
export async function readList(
  callTarget: CallTarget,
  what: string,
  { cursor, number }: { readonly cursor?: string | undefined; readonly number: number },
): Promise<Omit<ListPage, 'frames'>> {
  const list = listNamed(what);
  const items: JsonObject[] = [];
  const seen = new Set<string>();
  let next = cursor;
  for (;;) {
    const page = await callTarget.caller.call({
      method: list.method,
      params: next === undefined ? {} : { cursor: next },
      ...{ timeoutMs: LIST_MS, maxTimeoutMs: LIST_MS, retry: 'safe', number },
    });
    const found = page[list.member];
    if (!Array.isArray(found))
      throw new ConsoleError(409, 'INVALID_RESULT', `${list.method} was answered without ${list.member}`);
    items.push(...found.filter(isJsonObject));
    if (what === 'tools') learn(callTarget, page, next === undefined);
    next = typeof page['nextCursor'] === 'string' ? page['nextCursor'] : undefined;
    const isLast = next === undefined || seen.has(next) || items.length >= MAX_ITEMS;
    if (cursor !== undefined || isLast)
      return { items, ...hintsOf(page), ...(next !== undefined && { nextCursor: next }) };
    seen.add(next!);
  }
}

function learn({ outputs }: CallTarget, page: JsonObject, isFirst: boolean): void {
  if (isFirst) outputs.forget();
  outputs.learn(page);
}

function hintsOf({ ttlMs, cacheScope }: JsonObject): Pick<ListPage, 'ttlMs' | 'cacheScope'> {
  return {
    ...(typeof ttlMs === 'number' && { ttlMs }),
    ...(typeof cacheScope === 'string' && { cacheScope }),
  };
}

/** The method of a list, and the member of its result that has the items. */
export function listNamed(what: string): { readonly method: string; readonly member: string } {
  const list = LISTS[what];
  if (list) return list;
  throw notFound(`There is no list ${JSON.stringify(what.slice(0, 100))}`);
}

const LISTS: Readonly<Record<string, { readonly method: string; readonly member: string }>> = Object.assign(
  Object.create(null),
  {
    tools: { method: 'tools/list', member: 'tools' },
    resources: { method: 'resources/list', member: 'resources' },
    templates: { method: 'resources/templates/list', member: 'resourceTemplates' },
    prompts: { method: 'prompts/list', member: 'prompts' },
  },
);
const LIST_MS = 60_000;
const MAX_ITEMS = 10_000;
