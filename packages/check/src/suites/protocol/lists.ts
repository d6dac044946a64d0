/** The lists that a server may have. */
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CheckContext } from '../../run/check-context.js';
import { hasCapability } from '../../survey/facts.js';

export interface List {
  readonly capability: string;
  readonly method: string;
  /** Where the items are in a result. */
  readonly member: string;
  /** What tells items apart. */
  readonly key: string;
}

export const LISTS: readonly List[] = [
  { capability: 'tools', method: 'tools/list', member: 'tools', key: 'name' },
  { capability: 'prompts', method: 'prompts/list', member: 'prompts', key: 'name' },
  { capability: 'resources', method: 'resources/list', member: 'resources', key: 'uri' },
  {
    capability: 'resources',
    method: 'resources/templates/list',
    member: 'resourceTemplates',
    key: 'uriTemplate',
  },
];

/** Those that the server announces. */
export function listsOf(table: CheckContext): List[] {
  return LISTS.filter(({ capability }) => hasCapability(table.facts.capabilities, capability));
}

/** The same, or skips: there is nothing to list. */
export function needLists(table: CheckContext): readonly List[] {
  const lists = listsOf(table);
  return lists.length > 0 ? lists : table.skip('the server announces no tools, prompts or resources');
}

export function itemsIn(result: JsonObject, { member }: List): JsonObject[] {
  const items = result[member];
  return Array.isArray(items) ? (items as JsonObject[]) : [];
}

export function keysIn(result: JsonObject, list: List): string[] {
  return itemsIn(result, list).map((item) => String(item[list.key]));
}
