import { createDeferred, type Deferred } from '../../../async/deferred.js';
import type { Slotted } from '../../../async/live-set.js';
import { httpStatusOf, retryAfterOf } from '../../../era/classify-http.js';
import type { Connection, ConnectionEnd, Receiver } from '../../../exchange/connection.js';
import { encodeInParts, encodeMessage } from '../../../wire/codec.js';
import type { Decoded, JsonRpcErrorBody, JsonRpcMessage } from '../../../wire/json-rpc.js';
import { EventWriter, jsonHeaders, messageEvent } from '../exchange/event-writer.js';
import type { HttpExchange, HttpHeaders } from '../exchange/exchange.js';

export interface PostOptions {
  readonly exchange: HttpExchange;
  /** What is delivered when the connection is opened. */
  readonly messages: readonly Decoded[];
  readonly principal: string | undefined;
  /** On every answer (CORS). */
  readonly headers: HttpHeaders;
  readonly now: () => number;
  /** An answer that belongs to something we said in the client's name; it goes no further. */
  readonly swallow?: ((message: JsonRpcMessage) => boolean) | undefined;
  /** Errors have a status of their own (modern), by whether the method is known; else all answers are 200 (legacy). */
  readonly knows: ((method: string) => boolean) | undefined;
  /** A batch: how many answers it gets, and those that it has already. */
  readonly batch?: { readonly expected: number; readonly refusals: readonly string[] } | undefined;
}

/**
 * One POST as a connection: one request in, its notifications and its answer out. The answer is plain JSON unless
 * something has to be said before it. When the client hangs up the connection is lost, which calls off the request.
 */
export class PostConnection implements Connection, Slotted {
  readonly label = 'http';
  readonly principal: string | undefined;
  readonly life = ALIVE;
  readonly brief = true;
  slot = -1;
  readonly #options: PostOptions;
  /** Made for whoever wants to know; most are over before anybody asks. */
  #closed: Deferred<ConnectionEnd> | undefined;
  #end: ConnectionEnd | undefined;
  readonly #startedAt: number;
  #receiver: Receiver | undefined;
  #writer: EventWriter | undefined;
  readonly #answers: string[] = [];

  constructor(options: PostOptions) {
    this.#options = options;
    this.principal = options.principal;
    this.#startedAt = options.now();
  }

  get remote(): string | undefined {
    return this.#options.exchange.remote;
  }

  get congested(): boolean {
    return (this.#writer?.waiting ?? 0) > CONGESTED_AT;
  }

  get isOver(): boolean {
    return this.#end !== undefined;
  }

  get closed(): Promise<ConnectionEnd> {
    this.#closed ??= createDeferred();
    if (this.#end) this.#closed.resolve(this.#end);
    return this.#closed.promise;
  }

  /** When the client heard of us last. */
  get lastAt(): number {
    return this.#writer?.lastAt ?? this.#startedAt;
  }

  hold(): void {}

  open(receiver: Receiver): void {
    this.#receiver = receiver;
    for (const message of this.#options.messages) receiver.receive(message);
    // What was answered at once has nobody to lose.
    if (!this.isOver) this.#options.exchange.onGone(() => this.#shut({ kind: 'lost' }));
  }

  send(message: JsonRpcMessage): void {
    if (this.isOver || this.#options.swallow?.(message)) return;
    const text = encodeMessage(message);
    if ('method' in message) return this.#stream().write(messageEvent(text), this.#options.now());
    const { batch, knows, exchange, headers } = this.#options;
    this.#answers.push(text);
    this.#writer?.write(messageEvent(text), this.#options.now());
    if (batch && this.#answers.length < batch.expected) return;
    if (this.#writer) {
      for (const refusal of batch?.refusals ?? [])
        this.#writer.write(messageEvent(refusal), this.#options.now());
      this.#writer.end();
    } else {
      const error = knows && 'error' in message ? message.error : undefined;
      const status = error ? this.#statusOf(error, knows!) : 200;
      const retryAfter = error && retryAfterOf(error);
      const own = retryAfter === undefined ? headers : { ...headers, 'retry-after': retryAfter };
      const body = batch
        ? `[${[...batch.refusals, ...this.#answers].join(',')}]`
        : (encodeInParts(message) ?? text);
      exchange.respond(status, jsonHeaders(own), body);
    }
    this.#shut({ kind: 'finished' });
  }

  #statusOf(error: JsonRpcErrorBody, knows: (method: string) => boolean): number {
    const [only] = this.#options.messages;
    const method = only?.kind === 'request' ? only.method : undefined;
    return httpStatusOf(error, method, method !== undefined && knows(method));
  }

  /** A sign of life on an answer that takes long. */
  keepAlive(now: number): void {
    if (!this.isOver) this.#stream().keepAlive(now);
  }

  async finish(): Promise<void> {
    this.#writer?.end();
    this.#shut({ kind: 'finished' });
  }

  close(): void {
    this.#writer?.end();
    if (!this.#writer && !this.isOver) {
      this.#options.exchange.respond(503, { ...this.#options.headers, 'retry-after': '1' });
    }
    this.#shut({ kind: 'closed' });
  }

  #stream(): EventWriter {
    const { exchange, headers, now } = this.#options;
    if (this.#writer) return this.#writer;
    const writer = new EventWriter(exchange, headers, now(), () => {
      if (!this.congested) this.#receiver?.drained();
    });
    this.#writer = writer;
    for (const text of this.#answers) writer.write(messageEvent(text), now());
    return writer;
  }

  #shut(end: ConnectionEnd): void {
    if (this.#end) return;
    this.#end = end;
    this.#closed?.resolve(end);
  }
}

/** Where "the client does not read" begins. */
const CONGESTED_AT = 1024 * 1024;

const ALIVE = Promise.resolve();
