import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import {
  KEEP_ALIVE,
  STREAM_HEADERS,
} from '@isthmus/sdk/internal/transport/http-server/exchange/event-writer.js';
import type {
  HttpExchange,
  HttpStream,
} from '@isthmus/sdk/internal/transport/http-server/exchange/exchange.js';
import type { FeedEvents } from '../contract.js';
import { type FrameRing, rowOf } from '../frames/ring.js';
import { API_HEADERS } from '../http/headers.js';
import { LogBudget } from './log-budget.js';
import { eventOf, type FeedEvent, type FeedTopic } from './topic.js';

export interface FeedOptions {
  readonly topics: readonly FeedTopic[];
  /** Undefined: no rows are wanted. */
  readonly ring?: FrameRing | undefined;
  /** Rows after this one. Undefined: only those that come. */
  readonly after?: number | undefined;
  readonly clock: Clock;
  onEnd?(): void;
}

/**
 * The stream of events of one tab. Changes of 50 ms leave together. A reader that is too slow misses rows, and is told
 * which: the ring still has them. Of a flood of log lines the page gets the newest, and is told how many were left out.
 */
export class Feed {
  readonly #options: FeedOptions;
  readonly #stream: HttpStream;
  readonly #stop: (() => void)[] = [];
  #pending = new Map<string, string>();
  #pendingChars = 0;
  readonly #logs: LogBudget;
  #count = 0;
  /** The next row to send. */
  #next: number;
  /** Names up to this number were sent. */
  readonly #named = new Set<number>([0]);
  #isDue = false;
  #callOff: () => void = () => {};
  #wasSlow = false;
  #isOver = false;

  constructor(exchange: HttpExchange, options: FeedOptions) {
    this.#options = options;
    this.#stream = exchange.stream(200, { ...API_HEADERS, ...STREAM_HEADERS });
    const { ring, after, topics, clock } = options;
    this.#next = (after ?? ring?.last ?? 0) + 1;
    this.#logs = new LogBudget(clock.now());
    this.#write(eventOf('begin', { now: clock.now(), first: ring?.first ?? 0, last: ring?.last ?? 0 }));
    for (const topic of topics) {
      // Both without a pause in between, so that no change is lost.
      this.#stop.push(topic.watch((event) => this.#happened(event)));
      for (const event of topic.now()) this.#tell(event);
    }
    if (ring) this.#stop.push(ring.watch(() => this.#soon()));
    this.#stream.onDrain(() => this.#soon());
    this.#keepAlive();
    exchange.onGone(() => this.#close());
    this.#soon();
  }

  /** Says why, and ends the stream. */
  end(why: FeedEvents['bye']['why'], message: string): void {
    if (this.#isOver) return;
    this.#flush();
    this.#write(eventOf('bye', { why, message }));
    this.#stream.end();
    this.#close();
  }

  #happened(event: FeedEvent): void {
    if (event.name !== 'log') return this.#tell(event);
    this.#logs.add(event as FeedEvent<'log'>);
    this.#soon();
  }

  #tell(event: FeedEvent): void {
    if (this.#isOver) return;
    const text = textOf(event);
    this.#count += 1;
    const key = event.key ?? `#${this.#count}`;
    this.#pendingChars += text.length - (this.#pending.get(key)?.length ?? 0);
    // The last place in the order: what replaces an event must not come before what happened in between.
    this.#pending.delete(key);
    this.#pending.set(key, text);
    if (this.#pendingChars + this.#stream.waiting > MAX_WAITING) {
      this.#pending.clear();
      return this.end('again', 'The page has not read for too long');
    }
    this.#soon();
  }

  #soon(): void {
    if (this.#isDue || this.#isOver) return;
    this.#isDue = true;
    this.#callOff = this.#options.clock.after(PAUSE_MS, () => {
      this.#isDue = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#isOver) return;
    if (this.#stream.waiting > SLOW) {
      this.#wasSlow = true;
      return;
    }
    const logs = this.#logs.take(this.#options.clock.now()).map(textOf);
    const texts = [...this.#pending.values(), ...logs];
    this.#pending = new Map();
    this.#pendingChars = 0;
    const rows = this.#rows();
    if (texts.length > 0 || rows !== '') this.#stream.write(texts.join('') + rows);
  }

  /** The next rows as events. */
  #rows(): string {
    const { ring } = this.#options;
    if (!ring || this.#next > ring.last) return '';
    let text = '';
    const first = ring.first;
    if (this.#next < first) text += this.#skipTo(first, true);
    // After a pause of the reader only the newest rows are of interest.
    if (this.#wasSlow && ring.last - this.#next >= MAX_ROWS)
      text += this.#skipTo(ring.last - MAX_ROWS + 1, false);
    this.#wasSlow = false;
    const end = Math.min(ring.last, this.#next + MAX_ROWS - 1);
    const names: [number, string][] = [];
    const rows = [];
    for (; this.#next <= end; this.#next += 1) {
      const frame = ring.get(this.#next)!;
      for (const name of [frame.method, frame.about]) {
        if (this.#named.has(name)) continue;
        this.#named.add(name);
        names.push([name, ring.names.textOf(name)]);
      }
      rows.push(rowOf(frame));
    }
    if (this.#next <= ring.last) this.#soon();
    return `${text}${textOf(eventOf('rows', { names, rows }))}`;
  }

  #skipTo(seq: number, lost: boolean): string {
    const gap = { from: this.#next, to: seq - 1, lost };
    this.#next = seq;
    return textOf(eventOf('gap', gap));
  }

  #write(event: FeedEvent): void {
    this.#stream.write(textOf(event));
  }

  #keepAlive(): void {
    const { clock } = this.#options;
    let callOff = () => {};
    const next = () => {
      callOff = clock.after(KEEP_ALIVE_MS, () => {
        if (this.#isOver) return;
        if (this.#stream.waiting === 0) this.#stream.write(KEEP_ALIVE);
        next();
      });
    };
    next();
    this.#stop.unshift(() => callOff());
  }

  #close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#callOff();
    for (const stop of this.#stop.splice(0)) stop();
    this.#options.onEnd?.();
  }
}

function textOf({ name, data }: FeedEvent): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

const PAUSE_MS = 50;
const KEEP_ALIVE_MS = 15_000;
const MAX_ROWS = 2000;
/** A reader with more than this before it is slow: rows are left out. */
const SLOW = 1024 * 1024;
/** With more than this the stream ends. */
const MAX_WAITING = 8 * 1024 * 1024;
