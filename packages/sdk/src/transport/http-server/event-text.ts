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

/**
 * For what a page could have its browser fetch without asking (`<script src>`, `<img src>`): the browser must not show
 * the answer to pages of other sites, nor guess that it is a script.
 */
export const UNREADABLE_ELSEWHERE = {
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
} as const;

export const STREAM_HEADERS = {
  ...UNREADABLE_ELSEWHERE,
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
