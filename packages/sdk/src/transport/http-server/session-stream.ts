import type { EventStore } from './event-store.js';
import { messageEvent, primingEvent } from './event-text.js';
import { EventWriter } from './event-writer.js';
import type { HttpExchange, HttpHeaders } from './exchange.js';

export interface StreamContext {
  readonly store: EventStore | undefined;
  /** Streams begin with an event that can be resumed from (2025-11-25 and later). */
  readonly primes: boolean;
  readonly retryMs: number | undefined;
  now(): number;
  onDrain(): void;
}

/**
 * One stream of a legacy session: the answer to a POST, or the standing GET. It outlives the connection that
 * carries it: what comes while nobody reads is kept, and a GET that names the last event goes on from there.
 */
export class SessionStream {
  readonly name: string;
  readonly #context: StreamContext;
  #writer: EventWriter | undefined;
  /** It has been a stream of events, and cannot become a plain answer any more. */
  #begun = false;
  isOver = false;
  /** When somebody began to read it, the last time. */
  attachedAt = 0;

  constructor(name: string, context: StreamContext) {
    this.name = name;
    this.#context = context;
  }

  get begun(): boolean {
    return this.#begun;
  }

  get isRead(): boolean {
    return this.#writer !== undefined;
  }

  get waiting(): number {
    return this.#writer?.waiting ?? 0;
  }

  get lastAt(): number | undefined {
    return this.#writer?.lastAt;
  }

  /** From now on this exchange carries it. `after`: what the client says it has seen. */
  attach(
    exchange: HttpExchange,
    headers: HttpHeaders,
    missed: readonly { id: string; json: string }[] = [],
  ): void {
    const { store, primes, retryMs, now, onDrain } = this.#context;
    this.#writer?.end();
    const writer = new EventWriter(exchange, headers, now(), onDrain);
    this.#writer = writer;
    this.attachedAt = now();
    const resumed = this.#begun;
    this.#begun = true;
    exchange.onGone(() => {
      if (this.#writer === writer) this.#writer = undefined;
    });
    for (const { id, json } of missed) if (json !== '') writer.write(messageEvent(json, id), now());
    if (primes && store && !resumed) writer.write(primingEvent(store.add(this.name, ''), retryMs), now());
    if (this.isOver) this.#finish();
  }

  /** `instead`: what a client that comes back is told when this was too large to be kept. */
  send(json: string, instead?: string): void {
    const { store, now } = this.#context;
    const id = store?.add(this.name, json, instead);
    this.#writer?.write(messageEvent(json, id), now());
  }

  keepAlive(now: number): void {
    this.#writer?.keepAlive(now);
  }

  /** Lets the client go; it comes back with a GET for what follows. */
  detach(): void {
    this.#finish();
  }

  /** Nothing more will come. */
  end(): void {
    this.isOver = true;
    this.#finish();
  }

  #finish(): void {
    this.#writer?.end();
    this.#writer = undefined;
  }
}
