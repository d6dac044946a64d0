import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Middle } from './mutant.js';

export interface PageFault {
  /** What the next page is asked for with; nothing, and there is none. */
  readonly next?: (page: number, isLast: boolean) => string | undefined;
  /** The page that a cursor stands for. */
  readonly pageOf?: (cursor: string) => number;
  /** The items of a page. */
  readonly items?: (all: readonly JsonObject[], page: number) => readonly JsonObject[];
  readonly change?: (result: JsonObject, page: number) => JsonObject;
}

/** The demo, with five tools to a page. */
export function inPages(fault: PageFault = {}): () => Middle {
  const {
    next = (page, isLast) => (isLast ? undefined : `page ${page + 1}`),
    pageOf = (cursor) => Number(/^page (\d+)$/.exec(cursor)?.[1] ?? Number.NaN),
    items = (all, page) => all.slice(page * SIZE, page * SIZE + SIZE),
    change = (result) => result,
  } = fault;
  return () => {
    const asked = new Map<unknown, number>();
    return {
      incoming(message, io) {
        const { id, method, params } = message;
        if (method !== 'tools/list') return message;
        const { cursor, ...rest } = isJsonObject(params) ? params : {};
        const page = typeof cursor === 'string' ? pageOf(cursor) : 0;
        if (Number.isNaN(page)) {
          io.reply({ jsonrpc: '2.0', id, error: { code: -32602, message: 'No such cursor' } });
          return undefined;
        }
        asked.set(id, page);
        return { ...message, params: rest };
      },
      outgoing(message) {
        const page = asked.get(message['id']);
        const { result } = message;
        if (page === undefined || !isJsonObject(result) || !Array.isArray(result['tools'])) return message;
        const all = result['tools'] as JsonObject[];
        const nextCursor = next(page, (page + 1) * SIZE >= all.length);
        const cut = { ...result, tools: items(all, page), ...(nextCursor !== undefined && { nextCursor }) };
        return { ...message, result: change(cut, page) };
      },
    };
  };
}

const SIZE = 5;
