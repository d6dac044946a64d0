import { createDeferred } from '../../../async/deferred.js';
import type { RequestFacts } from '../../../exchange/call.js';
import type { Connection, ConnectionEnd, Receiver } from '../../../exchange/connection.js';
import type { TakenSlot } from '../../../exchange/fair-slots.js';
import { IdMap } from '../../../exchange/id-map.js';
import { encodeMessage } from '../../../wire/codec.js';
import {
  type Decoded,
  type DecodedRequest,
  isRequestId,
  type JsonRpcMessage,
  type RequestId,
} from '../../../wire/json-rpc.js';
import type { BodyReservation, RequestLimiter } from '../admission/request-limits.js';
import { type AdmittedRequest, busy, respondError } from '../exchange/admitted-request.js';
import { EventWriter, messageEvent } from '../exchange/event-writer.js';
import { factsInSession, type HttpExchange } from '../exchange/exchange.js';
import { batchProblem, contentsOf, inFlight, revisionIn } from '../posts/batch.js';

/** The stream of one client, with the POSTs that belong to it. */
export class SseConnection implements Connection {
  readonly label = 'http+sse';
  readonly principal: string | undefined;
  readonly remote: string | undefined;
  readonly life = Promise.resolve();
  readonly closed: Promise<ConnectionEnd>;
  readonly #end = createDeferred<ConnectionEnd>();
  readonly #writer: EventWriter;
  readonly #now: () => number;
  readonly #id: string;
  readonly #limiter: RequestLimiter;
  /** By the ids of the requests that have no answer. */
  #posts = new IdMap<SsePost>();
  /** Known with the answer to `initialize`. */
  #revision: string | undefined;
  lastUsedAt: number;
  /** Requests that came while the receiver wanted nothing more. */
  #held: { readonly message: DecodedRequest; readonly bytes: number }[] = [];
  #heldBytes = 0;
  #isHeld = false;
  #receiver: Receiver | undefined;
  #over = false;

  constructor(
    { exchange, principal, headers }: AdmittedRequest,
    id: string,
    limiter: RequestLimiter,
    now: () => number,
  ) {
    this.principal = principal;
    this.#id = id;
    this.#limiter = limiter;
    this.lastUsedAt = now();
    this.remote = exchange.remote;
    this.closed = this.#end.promise;
    this.#now = now;
    this.#writer = new EventWriter(exchange, headers, now(), () => {
      if (!this.congested) this.#receiver?.drained();
    });
    exchange.onGone(() => this.#shut({ kind: 'lost' }));
  }

  get congested(): boolean {
    return this.#writer.waiting > CONGESTED_AT;
  }

  sendEndpoint(reference: string): void {
    this.#writer.write(`event: endpoint\ndata: ${reference}\n\n`, this.#now());
  }

  factsOf(id: RequestId): RequestFacts | undefined {
    const post = this.#posts.get(id);
    return post && factsInSession(post.exchange.facts(), this.#id);
  }

  /** How many requests have no answer. */
  get running(): number {
    return this.#posts.size;
  }

  /** Takes a POST. The answers to its requests are sent on the stream. */
  post(admitted: AdmittedRequest, message: Decoded, bytes: number): void {
    const { exchange, headers } = admitted;
    // It may have ended while the body arrived. Slots that are taken now would never be released.
    if (this.#over) return exchange.respond(404, headers);
    this.lastUsedAt = this.#now();
    const problem = batchProblem(message, this.#revision);
    if (problem) return respondError(admitted, 400, undefined, problem);
    const { isBatch, requests, messages, refusals } = contentsOf(message);
    const repeated = requests.find(({ id }) => this.#posts.has(id));
    if (repeated) return respondError(admitted, 400, repeated.id, inFlight(repeated.id));
    if (requests.length > 0 && !this.#enter(admitted, message, requests)) return;
    exchange.respond(202, headers);
    if (!isBatch) return this.#deliver(message, bytes);
    for (const refusal of refusals) this.#writer.write(messageEvent(refusal), this.#now());
    for (const item of messages) this.#deliver(item, bytes / messages.length);
  }

  /** Takes slots for the requests. False: there are none, and the POST was refused. */
  #enter(admitted: AdmittedRequest, message: Decoded, requests: readonly DecodedRequest[]): boolean {
    if (this.#heldBytes > MAX_HELD_BYTES) {
      const id = message.kind === 'request' ? message.id : undefined;
      busy(admitted, 'The waiting requests of this connection take too much memory', id);
      return false;
    }
    const slot = this.#limiter.enter(admitted, message, this.#id, requests.length);
    if (!slot) return false;
    admitted.reservation?.keep();
    const { reservation, exchange } = admitted;
    const post: SsePost = { slot, reservation, exchange, open: requests.length };
    for (const { id } of requests) this.#posts.set(id, post);
    return true;
  }

  #deliver(message: Decoded, bytes: number): void {
    // A cancelled request gets no answer. If it still waits, it does not start.
    if (message.kind === 'notification' && message.method === 'notifications/cancelled') {
      this.#drop(message.params?.['requestId']);
    }
    if (this.#isHeld && message.kind === 'request') {
      this.#held.push({ message, bytes });
      this.#heldBytes += bytes;
    } else this.#receiver?.receive(message, undefined, bytes);
  }

  #drop(id: unknown): void {
    const at = this.#held.findIndex(({ message }) => message.id === id);
    if (at >= 0) this.#heldBytes -= this.#held.splice(at, 1)[0]!.bytes;
    this.#leave(id);
  }

  hold(held: boolean): void {
    this.#isHeld = held;
    while (!this.#isHeld) {
      const next = this.#held.shift();
      if (!next) return;
      this.#heldBytes -= next.bytes;
      this.#receiver?.receive(next.message, undefined, next.bytes);
    }
  }

  open(receiver: Receiver): void {
    this.#receiver = receiver;
  }

  send(message: JsonRpcMessage): void {
    if (!('method' in message)) {
      this.#revision ??= revisionIn(message);
      this.#leave(message.id);
    }
    if (!this.#over) this.#writer.write(messageEvent(encodeMessage(message)), this.#now());
  }

  keepAlive(now: number, everyMs: number): void {
    if (now - this.#writer.lastAt >= everyMs) this.#writer.keepAlive(now);
  }

  async finish(): Promise<void> {
    this.close();
  }

  close(): void {
    this.#writer.end();
    this.#shut({ kind: 'closed' });
  }

  #shut(end: ConnectionEnd): void {
    if (this.#over) return;
    this.#over = true;
    for (const post of this.#posts.values()) this.#release(post);
    this.#posts = new IdMap();
    this.#held = [];
    this.#end.resolve(end);
  }

  #leave(id: unknown): void {
    const post = isRequestId(id) ? this.#posts.get(id) : undefined;
    if (!post || !isRequestId(id)) return;
    this.#posts.delete(id);
    this.#release(post);
  }

  /** One request of the POST is over. */
  #release(post: SsePost): void {
    this.#limiter.leave(post.slot);
    post.open -= 1;
    if (post.open === 0) post.reservation?.release();
  }
}

/** A POST whose requests wait for answers. */
interface SsePost {
  /** Taken once for each of its requests. */
  readonly slot: TakenSlot;
  /** The memory of its body, kept until the last answer. */
  readonly reservation: BodyReservation | undefined;
  readonly exchange: HttpExchange;
  open: number;
}

const CONGESTED_AT = 1024 * 1024;
const MAX_HELD_BYTES = 1024 * 1024;
