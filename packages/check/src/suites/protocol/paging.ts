/** Walks lists that come in pages. */
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CheckContext } from '../../run/check-context.js';
import { type List, needLists } from './lists.js';

export interface PagedList {
  readonly list: List;
  readonly pages: readonly JsonObject[];
  /** What each page but the first was asked for with. */
  readonly cursors: readonly string[];
  /** False when there were too many pages, or a cursor came again. */
  readonly isEnded: boolean;
}

/** The lists that have more than one page; skips where none has. */
export async function pagesOf(table: CheckContext): Promise<PagedList[]> {
  const lists: PagedList[] = [];
  for (const list of needLists(table)) {
    const walked = await walk(table, list);
    if (walked.pages.length > 1) lists.push(walked);
  }
  return lists.length > 0 ? lists : table.skip('every list of the server fits on one page');
}

async function walk(table: CheckContext, list: List): Promise<PagedList> {
  const talk = await table.talk();
  const pages: JsonObject[] = [];
  const cursors: string[] = [];
  for (;;) {
    const cursor = cursors.at(-1);
    const reply = await talk.request(list.method, cursor === undefined ? {} : { cursor });
    const where = cursor === undefined ? list.method : `page ${pages.length + 1} of ${list.method}`;
    const page = table.needResult(reply, where);
    pages.push(page);
    const next = page['nextCursor'];
    if (typeof next !== 'string') return { list, pages, cursors, isEnded: true };
    if (cursors.includes(next) || pages.length >= MOST_PAGES) return { list, pages, cursors, isEnded: false };
    cursors.push(next);
  }
}

const MOST_PAGES = 50;
