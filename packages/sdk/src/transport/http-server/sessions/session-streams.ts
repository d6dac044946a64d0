import { EventWriter, messageEvent, primingEvent } from '../exchange/event-writer.js';
import type { HttpExchange, HttpHeaders } from '../exchange/exchange.js';
import { EVENT_OVERHEAD_BYTES, type EventMemory, type EventStore, type Shrinkable } from './event-store.js';

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

/** What a session has to say before its client reads its standing stream: a few messages, the newest. */
export class Unheard implements Shrinkable {
  readonly #who: string;
  readonly #memory: EventMemory;
  #messages: string[] = [];
  #bytes = 0;

  constructor(who: string, memory: EventMemory) {
    this.#who = who;
    this.#memory = memory;
  }

  add(json: string): void {
    const bytes = sizeOf(json);
    // One that is too large is not kept, as in the store for streams that were begun.
    if (bytes > MAX_BYTES) return;
    this.#messages.push(json);
    this.#bytes += bytes;
    while (this.#messages.length > MAX_MESSAGES) this.#dropOldest();
    this.shrinkTo(MAX_BYTES);
    this.#memory.holds(this.#who, this, this.#bytes);
  }

  /** All of them, once. */
  take(): readonly string[] {
    const messages = this.#messages;
    this.#messages = [];
    this.#bytes = 0;
    this.#memory.holds(this.#who, this, 0);
    return messages;
  }

  shrinkTo(bytes: number): number {
    while (this.#bytes > bytes) this.#dropOldest();
    return this.#bytes;
  }

  #dropOldest(): void {
    this.#bytes -= sizeOf(this.#messages.shift()!);
  }
}

function sizeOf(json: string): number {
  return Buffer.byteLength(json) + EVENT_OVERHEAD_BYTES;
}

const MAX_MESSAGES = 100;
const MAX_BYTES = 512 * 1024;
