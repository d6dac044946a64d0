import { KEEP_ALIVE, STREAM_HEADERS } from './event-text.js';
import type { HttpExchange, HttpHeaders, HttpStream } from './exchange.js';

/** An answer that is a stream of events. What is written in one turn leaves in one piece. */
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
    // A client that does not read is not waiting for comments.
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
