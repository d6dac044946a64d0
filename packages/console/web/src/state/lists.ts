import { effect, type Signal, signal } from '@preact/signals';
import type { ListPage } from '../../../src/contract.js';
import { ask } from '../api.js';
import { clockAhead, hello, may } from './session.js';
import { soon } from './soon.js';
import { connections, listens, rows } from './store.js';

export type ListName = 'tools' | 'resources' | 'templates' | 'prompts';
export type Item = Readonly<Record<string, unknown>>;

export interface ListState {
  readonly items: readonly Item[];
  readonly page?: ListPage | undefined;
  readonly isLoading: boolean;
  /** When it was asked for, by the clock of the process. */
  readonly askedAt?: number | undefined;
  readonly error?: unknown;
  /** What the last reading changed. */
  readonly changes?: ListChanges | undefined;
}

export interface ListChanges {
  readonly at: number;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly altered: readonly string[];
}

const lists = new Map<string, Signal<ListState>>();
/** The lists of the server that have changed since a person looked at them. */
export const unseenChanges = signal<ReadonlySet<ListName>>(new Set());

/** A list of a server. It is read when it is first looked at. */
export function listOf(what: ListName, server?: string): Signal<ListState> {
  const key = `${what} ${server ?? ''}`;
  let list = lists.get(key);
  if (!list) {
    list = signal<ListState>({ items: [], isLoading: false });
    lists.set(key, list);
    if (may('act') || hello.peek()?.readOnly) void readList(what, server);
  }
  return list;
}

export async function readList(what: ListName, server?: string): Promise<void> {
  const list = listOf(what, server);
  if (list.peek().isLoading) return;
  list.value = { ...list.peek(), isLoading: true, error: undefined, askedAt: Date.now() + clockAhead.peek() };
  try {
    const query = { fresh: true, ...(server !== undefined && { server }) };
    const page = await ask('GET lists/:what', { path: [what], query });
    const before = list.peek();
    const changes = before.page && changesBetween(before.items, page.items);
    const { askedAt } = before;
    list.value = { items: page.items, page, isLoading: false, askedAt, changes: changes ?? before.changes };
    if (changes && server === undefined) unseenChanges.value = new Set([...unseenChanges.peek(), what]);
  } catch (error) {
    list.value = { ...list.peek(), isLoading: false, error };
  }
}

/** The name by which an item is known. */
export function keyOf(item: Item): string {
  return String(item['name'] ?? '') || String(item['uriTemplate'] ?? item['uri'] ?? '');
}

function changesBetween(before: readonly Item[], after: readonly Item[]): ListChanges | undefined {
  const old = new Map(before.map((item) => [keyOf(item), JSON.stringify(item)]));
  const fresh = new Map(after.map((item) => [keyOf(item), JSON.stringify(item)]));
  const added = [...fresh.keys()].filter((key) => !old.has(key));
  const removed = [...old.keys()].filter((key) => !fresh.has(key));
  const altered = [...fresh]
    .filter(([key, text]) => old.has(key) && old.get(key) !== text)
    .map(([key]) => key);
  if (added.length + removed.length + altered.length === 0) return undefined;
  return { at: Date.now(), added, removed, altered };
}

/** The lists are read again when another process answers, and when the server says that they have changed. */
export function followLists(): void {
  let connection = 0;
  effect(() => {
    const open = connections.all.value.findLast(
      (each) => each.side === 'upstream' && !each.lens && each.state === 'open',
    );
    if (!open || open.id === connection) return;
    connection = open.id;
    if (hello.peek()?.face === 'gateway') return;
    for (const what of offered(open.capabilities)) {
      const known = lists.has(`${what} `);
      if (known) void readList(what);
      else listOf(what);
    }
  });
  followNotifications();
  const seen = new Map<number, number>();
  effect(() => {
    for (const { id, news, server } of listens.all.value) {
      const last = news.at(-1);
      const before = seen.get(id);
      seen.set(id, last?.at ?? 0);
      if (!last || before === undefined || last.at === before || last.what === 'resource') continue;
      void readList(last.what, server);
      if (last.what === 'resources') void readList('templates', server);
    }
  });
}

/** Legacy servers tell of changes without a subscription. What was asked for after that has them already. */
function followNotifications(): void {
  const due = new Set<ListName>();
  const readDue = soon(() => {
    for (const what of due) void readList(what);
    due.clear();
  }, 500);
  rows.onListNews = (what, at) => {
    const said = hello.peek();
    if (said?.face !== 'inspect' || said.readOnly) return;
    for (const each of what === 'resources' ? (['resources', 'templates'] as const) : [what]) {
      const { askedAt } = lists.get(`${each} `)?.peek() ?? {};
      if (askedAt === undefined || said.began + at <= askedAt) continue;
      due.add(each);
      readDue();
    }
  };
}

/** A person looks at a screen: what has changed in its lists is seen. */
export function seeChanges(screen: string): void {
  const unseen = unseenChanges.peek();
  const left = [...unseen].filter((what) => (what === 'templates' ? 'resources' : what) !== screen);
  if (left.length < unseen.size) unseenChanges.value = new Set(left);
}

/** The lists that a server has, by its capabilities. */
export function offered(capabilities: Readonly<Record<string, unknown>> | undefined): readonly ListName[] {
  if (!capabilities) return [];
  return [
    ...('tools' in capabilities ? (['tools'] as const) : []),
    ...('resources' in capabilities ? (['resources', 'templates'] as const) : []),
    ...('prompts' in capabilities ? (['prompts'] as const) : []),
  ];
}
