import type { HttpExchange, HttpHeaders, HttpStream } from './exchange.js';

/** An answer that is a stream of events. All events of one turn leave in one write. */
export class EventWriter {
  readonly #stream: HttpStream;
  #outbox = '';
  #due = false;
  #ended = false;
  /** When something was written last. */
  lastAt: number;

  constructor(exchange: HttpExchange, headers: HttpHeaders, now: number, onDrain: () => void) {
    this.#stream = exchange.stream(200, { ...STREAM_HEADERS, ...headers });
    this.#stream.onDrain(onDrain);
    this.lastAt = now;
  }

  get waiting(): number {
    return this.#stream.waiting + this.#outbox.length;
  }

  write(text: string, now: number): void {
    if (this.#ended) return;
    this.lastAt = now;
    this.#outbox += text;
    if (this.#due) return;
    this.#due = true;
    queueMicrotask(() => process.nextTick(() => this.#flush()));
  }

  keepAlive(now: number): void {
    // A client that does not read needs no comments.
    if (this.waiting === 0) this.write(KEEP_ALIVE, now);
  }

  end(): void {
    if (this.#ended) return;
    this.#flush();
    this.#ended = true;
    this.#stream.end();
  }

  #flush(): void {
    this.#due = false;
    const text = this.#outbox;
    if (text === '' || this.#ended) return;
    this.#outbox = '';
    this.#stream.write(text);
  }
}

/** One server-sent event. JSON holds no raw line break, so one `data:` line is enough. */
export function messageEvent(json: string, id?: string): string {
  return id === undefined
    ? `event: message\ndata: ${json}\n\n`
    : `event: message\nid: ${id}\ndata: ${json}\n\n`;
}

/** An event without content, with an id to resume from and the time to wait before that. */
export function primingEvent(id: string, retryMs: number | undefined): string {
  return retryMs === undefined ? `id: ${id}\ndata: \n\n` : `id: ${id}\nretry: ${retryMs}\ndata: \n\n`;
}

/** Ignored by clients. It keeps proxies from closing a silent stream. */
export const KEEP_ALIVE = ': keep-alive\n\n';

/**
 * For answers that a page can fetch without CORS (`<script src>`, `<img src>`): the browser must not show them to pages
 * of other sites, nor guess that they are scripts.
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

/** Almost all answers have no headers of their own, and share one object. */
export function jsonHeaders(headers: HttpHeaders): HttpHeaders {
  return headers === NO_HEADERS ? JSON_HEADERS : { ...JSON_HEADERS, ...headers };
}
