import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import { hasCapability } from '../../../survey/facts.js';
import { needRefusal } from '../answers.js';

/** Lists and their pages. */
export const pageChecks: readonly Check[] = [
  {
    id: 'pages/bad-cursor',
    suite: 'protocol',
    title: 'Refuses an unknown cursor with -32602',
    level: 'SHOULD',
    rules: ['PAGE-006', 'ERR-017'],
    hint: 'Check the cursor of every list, even if it has only one page, and answer -32602 to an unknown one.',
    async run(context) {
      const conversation = await context.conversation();
      const lists = needLists(context);
      for (const { method } of lists) {
        const reply = await conversation.request(method, { cursor: 'isthmus-check-no-such-cursor' });
        needRefusal(context, reply, [-32602], `${method} with a made-up cursor`);
      }
      return `a made-up cursor was refused in ${lists.map(({ method }) => method).join(', ')}`;
    },
  },
  {
    id: 'pages/end',
    suite: 'protocol',
    title: 'Ends each list with a last page',
    level: 'SHOULD',
    rules: ['PAGE-001', 'PAGE-006'],
    hint: 'Leave out nextCursor on the last page, and never repeat a cursor.',
    async run(context) {
      const lists = await pagesOf(context);
      for (const { list, pages, isEnded } of lists) {
        if (!isEnded) context.fail(`${list.method} does not end after ${pages.length} pages`, 'a last page');
      }
      return lists.map(({ list, pages }) => `${list.method} ends after ${pages.length} pages`).join(', ');
    },
  },
  {
    id: 'pages/disjoint',
    suite: 'protocol',
    title: 'Lists each item on one page only',
    level: 'SHOULD',
    rules: [],
    reason: 'A client that joins the pages would show an item twice.',
    hint: 'A cursor points to the first item after its page.',
    async run(context) {
      const lists = await pagesOf(context);
      for (const { list, pages } of lists) {
        const keys = pages.flatMap((page) => [...new Set(keysIn(page, list))]);
        const twice = keys.find((key, index) => keys.indexOf(key) !== index);
        if (twice !== undefined) context.fail(`${twice} is on two pages of ${list.method}`, 'each item once');
      }
      return `no item of ${lists.map(({ list }) => list.method).join(', ')} is on two pages`;
    },
  },
  {
    id: 'pages/cursor-stable',
    suite: 'protocol',
    title: 'Gives the same page for the same cursor',
    level: 'SHOULD',
    rules: ['PAGE-006'],
    hint: 'A cursor states where its page begins. It can be used more than once.',
    async run(context) {
      const conversation = await context.conversation();
      const lists = await pagesOf(context);
      for (const { list, pages, cursors } of lists) {
        const reply = await conversation.request(list.method, { cursor: cursors[0] });
        const page = context.needResult(reply, `a cursor of ${list.method}, used again,`);
        if (JSON.stringify(itemsIn(page, list)) !== JSON.stringify(itemsIn(pages[1]!, list)))
          context.fail(`a cursor of ${list.method} returned another page the second time`, 'the same page');
      }
      return `cursors of ${lists.map(({ list }) => list.method).join(', ')} can be used again`;
    },
  },
  {
    id: 'pages/cursor-anywhere',
    suite: 'protocol',
    title: 'Accepts a cursor on another connection',
    level: 'SHOULD',
    rules: ['STATE-003', 'STATE-005'],
    era: 'modern',
    hint: 'Keep the position in the cursor, not in the connection.',
    async run(context) {
      const [first] = await pagesOf(context);
      const conversation = await context.openConversation();
      const reply = await conversation.request(first!.list.method, { cursor: first!.cursors[0] });
      context.needResult(reply, `a cursor of ${first!.list.method}, on another connection,`);
      return `a cursor of ${first!.list.method} works on another connection`;
    },
  },
  {
    id: 'pages/unique',
    suite: 'protocol',
    title: 'Lists no prompt, resource or template twice',
    level: 'SHOULD',
    rules: [],
    reason: 'A client requests an item by its name or URI, and can reach only one of two equal ones.',
    hint: 'Give each prompt a unique name, and each resource a unique URI.',
    run(context) {
      const named = [
        ['prompt', context.facts.prompts.map(({ name }) => name)],
        ['resource', context.facts.resources.map(({ uri }) => uri)],
        ['template', context.facts.templates.map(({ uriTemplate }) => uriTemplate)],
      ] as const;
      const count = named.reduce((sum, [, names]) => sum + names.length, 0);
      if (count === 0) context.skip('the server lists no prompts, resources or templates');
      for (const [kind, names] of named) {
        const twice = names.find((name, index) => names.indexOf(name) !== index);
        if (twice !== undefined)
          context.fail(`the ${kind} ${String(twice)} is listed twice`, 'each one once');
      }
      return `${count} prompts, resources and templates are listed once each`;
    },
  },
];

export interface List {
  readonly capability: string;
  readonly method: string;
  /** The member of the result that has the items. */
  readonly member: string;
  /** The unique member of an item. */
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

/** The lists that the server announces. */
export function listsOf(context: CheckContext): List[] {
  return LISTS.filter(({ capability }) => hasCapability(context.facts.capabilities, capability));
}

/** Like `listsOf`, but skips if there are none. */
export function needLists(context: CheckContext): readonly List[] {
  const lists = listsOf(context);
  return lists.length > 0 ? lists : context.skip('the server announces no tools, prompts or resources');
}

function itemsIn(result: JsonObject, { member }: List): JsonObject[] {
  const items = result[member];
  return Array.isArray(items) ? (items as JsonObject[]) : [];
}

export function keysIn(result: JsonObject, list: List): string[] {
  return itemsIn(result, list).map((item) => String(item[list.key]));
}

interface PagedList {
  readonly list: List;
  readonly pages: readonly JsonObject[];
  /** The cursor of each page except the first. */
  readonly cursors: readonly string[];
  /** False if there were too many pages, or a repeated cursor. */
  readonly isEnded: boolean;
}

/** The lists with more than one page. Skips if there are none. */
export async function pagesOf(context: CheckContext): Promise<PagedList[]> {
  const lists: PagedList[] = [];
  for (const list of needLists(context)) {
    const walked = await walk(context, list);
    if (walked.pages.length > 1) lists.push(walked);
  }
  return lists.length > 0 ? lists : context.skip('every list of the server fits on one page');
}

async function walk(context: CheckContext, list: List): Promise<PagedList> {
  const conversation = await context.conversation();
  const pages: JsonObject[] = [];
  const cursors: string[] = [];
  for (;;) {
    const cursor = cursors.at(-1);
    const reply = await conversation.request(list.method, cursor === undefined ? {} : { cursor });
    const where = cursor === undefined ? list.method : `page ${pages.length + 1} of ${list.method}`;
    const page = context.needResult(reply, where);
    pages.push(page);
    const next = page['nextCursor'];
    if (typeof next !== 'string') return { list, pages, cursors, isEnded: true };
    if (cursors.includes(next) || pages.length >= MOST_PAGES) return { list, pages, cursors, isEnded: false };
    cursors.push(next);
  }
}

const MOST_PAGES = 50;
