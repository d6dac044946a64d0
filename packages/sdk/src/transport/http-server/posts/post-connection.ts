import { createDeferred, type Deferred } from '../../../async/deferred.js';
import type { Slotted } from '../../../async/live-set.js';
import { httpStatusOf, retryAfterOf } from '../../../era/classify/classify-http.js';
import type { RequestEnvelope, RequestFacts } from '../../../exchange/call.js';
import type { Connection, ConnectionEnd, Receiver } from '../../../exchange/connection.js';
import { encodeInParts, encodeMessage } from '../../../wire/codec.js';
import type { Decoded, JsonRpcErrorBody, JsonRpcMessage } from '../../../wire/json-rpc.js';
import { EventWriter, jsonHeaders, messageEvent } from '../exchange/event-writer.js';
import type { HttpExchange, HttpHeaders } from '../exchange/exchange.js';

export interface PostOptions {
  readonly exchange: HttpExchange;
  /** Delivered when the connection is opened. Forgotten then, unless they are answered at once. */
  messages: readonly Decoded[];
  /** Modern: the envelope of its request. */
  readonly envelope: RequestEnvelope | undefined;
  readonly principal: string | undefined;
  /** Sent with every answer (CORS). */
  readonly headers: HttpHeaders;
  readonly now: () => number;
  /** True for the answer to a handshake that the server made for the client. It is not sent. */
  readonly swallow?: ((message: JsonRpcMessage) => boolean) | undefined;
  /** Modern: the status of an error depends on whether the method is known. Undefined (legacy): every answer is 200. */
  readonly knows: ((method: string) => boolean) | undefined;
  /** For a batch: how many answers it gets, and the errors for what could not be delivered. */
  readonly batch?: { readonly expected: number; readonly refusals: readonly string[] } | undefined;
}

/**
 * One POST as a connection: one request in, its notifications and its answer out. The answer is plain JSON unless a
 * message has to be sent before it. When the client hangs up, the connection is lost, which cancels the request.
 */
export class PostConnection implements Connection, Slotted {
  readonly label = 'http';
  readonly principal: string | undefined;
  readonly life = ALIVE;
  readonly brief = true;
  slot = -1;
  readonly #options: PostOptions;
  /** Created on demand: few need it. */
  #closed: Deferred<ConnectionEnd> | undefined;
  #end: ConnectionEnd | undefined;
  readonly #onOver: ((end: ConnectionEnd) => void)[] = [];
  readonly #startedAt: number;
  #receiver: Receiver | undefined;
  #writer: EventWriter | undefined;
  #method: string | undefined;
  readonly #answers: string[] = [];

  constructor(options: PostOptions) {
    this.#options = options;
    this.principal = options.principal;
    this.#startedAt = options.now();
  }

  get envelope(): RequestEnvelope | undefined {
    return this.#options.envelope;
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

  onOver(callback: (end: ConnectionEnd) => void): void {
    if (this.#end) callback(this.#end);
    else this.#onOver.push(callback);
  }

  /** When something was last sent to the client. */
  get lastAt(): number {
    return this.#writer?.lastAt ?? this.#startedAt;
  }

  hold(): void {}

  factsOf(): RequestFacts {
    return this.#options.exchange.facts();
  }

  open(receiver: Receiver): void {
    this.#receiver = receiver;
    const { messages, exchange } = this.#options;
    const [only] = messages;
    this.#method = only?.kind === 'request' ? only.method : undefined;
    for (const message of messages) receiver.receive(message);
    // An exchange that was answered at once cannot be lost.
    if (this.isOver) return;
    this.#options.messages = [];
    exchange.onGone(() => this.#shut({ kind: 'lost' }));
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
    const method = this.#method;
    return httpStatusOf(error, method, method !== undefined && knows(method));
  }

  /** Sends a comment on an answer that takes long. */
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
    for (const callback of this.#onOver) callback(end);
    this.#closed?.resolve(end);
  }
}

/** The client counts as not reading when more than this waits. */
const CONGESTED_AT = 1024 * 1024;

const ALIVE = Promise.resolve();
