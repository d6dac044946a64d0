import type { HttpHeaders } from './exchange.js';

/** One server-sent event. JSON holds no raw line break, so one `data:` line is enough. */
export function messageEvent(json: string, id?: string): string {
  return id === undefined
    ? `event: message\ndata: ${json}\n\n`
    : `event: message\nid: ${id}\ndata: ${json}\n\n`;
}

/** An event without content that gives the client something to resume from, and a pause before it does. */
export function primingEvent(id: string, retryMs: number | undefined): string {
  return retryMs === undefined ? `id: ${id}\ndata: \n\n` : `id: ${id}\nretry: ${retryMs}\ndata: \n\n`;
}

/** Ignored by clients; it keeps whoever sits between from giving up on a silent stream. */
export const KEEP_ALIVE = ': keep-alive\n\n';

export const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const;

const JSON_HEADERS: HttpHeaders = { 'content-type': 'application/json' };

export const NO_HEADERS: HttpHeaders = {};

/** Built once where there is nothing to add, which is almost always. */
export function jsonHeaders(headers: HttpHeaders): HttpHeaders {
  return headers === NO_HEADERS ? JSON_HEADERS : { ...JSON_HEADERS, ...headers };
}
