import { createDeferred } from '../../../async/deferred.js';
import { retryAfterOf } from '../../../era/classify-http.js';
import type { Connection, ConnectionEnd, Receiver } from '../../../exchange/connection.js';
import type { TakenSlot } from '../../../exchange/fair-slots.js';
import { IdMap } from '../../../exchange/id-map.js';
import { encodeInParts, encodeMessage } from '../../../wire/codec.js';
import { ErrorCode } from '../../../wire/error-codes.js';
import {
  type Decoded,
  type DecodedNotification,
  errorMessage,
  isRequestId,
  type JsonRpcErrorBody,
  type JsonRpcMessage,
  type RequestId,
} from '../../../wire/json-rpc.js';
import type { BodyReservation, RequestsAtWork } from '../admission/request-limits.js';
import { type AdmittedRequest, busy, respondError, respondRefusals } from '../exchange/admitted-request.js';
import { jsonHeaders } from '../exchange/event-writer.js';
import type { HttpExchange, HttpHeaders } from '../exchange/exchange.js';
import type { Grant } from '../options.js';
import { batchProblem, contentsOf, inFlight, revisionIn } from '../posts/batch.js';
import { type EventStore, PROCESS_EVENTS } from './event-store.js';
import { SessionStream, Unheard } from './session-streams.js';

export interface SessionConnectionOptions {
  readonly id: string;
  readonly principal: string | undefined;
  /** The address that opened it. */
  readonly remote?: string | undefined;
  /** Whom limits count it for. */
  readonly who: string;
  readonly store: EventStore | undefined;
  readonly retryMs: number | undefined;
  /** POST streams of clients that know how to resume are closed after this; undefined: they stay. */
  readonly pollAfterMs: number | undefined;
  /** On every answer, with the session's id. */
  readonly headers: HttpHeaders;
  /** The same without it: for a handshake that failed. */
  readonly plainHeaders: HttpHeaders;
  /** Where its requests take their places until they are answered. */
  readonly atWork: RequestsAtWork;
  /** The handshake was accepted. False: there is no room for the session after all. */
  onOpened(): boolean;
  now(): number;
}

/**
 * A legacy session as one connection, assembled from its POSTs and its standing GET. The end of one of them is
 * not the end of anything else: a client that lost a stream may come back for it.
 */
export class SessionConnection implements Connection {
  readonly id: string;
  readonly label: string;
  readonly principal: string | undefined;
  readonly remote: string | undefined;
  readonly life = Promise.resolve();
  readonly closed: Promise<ConnectionEnd>;
  /** Whom limits count it for. */
  readonly who: string;
  readonly #options: SessionConnectionOptions;
  readonly #end = createDeferred<ConnectionEnd>();
  #posts = new IdMap<Post>();
  readonly #streams = new Map<string, SessionStream>();
  readonly #standing: SessionStream;
  /** For the standing stream, while there is none. */
  readonly #unheard: Unheard;
  /** POSTs that came while the receiver had enough to do. */
  #held: HeldPost[] = [];
  #receiver: Receiver | undefined;
  #isHeld = false;
  #over = false;
  #count = 0;
  /** It has asked for something, besides being opened. */
  #isUsed = false;
  #openedAt: number;
  /** Known with the answer to initialize. */
  revision: string | undefined;
  lastUsedAt: number;
  /** What its last request was allowed with, where that can end. */
  grant: Grant | undefined;

  constructor(options: SessionConnectionOptions) {
    this.#options = options;
    this.id = options.id;
    this.label = `http session ${options.id.slice(0, 8)}`;
    this.principal = options.principal;
    this.remote = options.remote;
    this.who = options.who;
    this.closed = this.#end.promise;
    this.#unheard = new Unheard(options.who, PROCESS_EVENTS);
    this.lastUsedAt = options.now();
    this.#openedAt = this.lastUsedAt;
    this.#standing = this.#newStream();
  }

  get congested(): boolean {
    let waiting = 0;
    // A standing stream that nobody reads is no reason to keep the answers back.
    for (const stream of this.#streams.values()) if (stream !== this.#standing) waiting += stream.waiting;
    return waiting > CONGESTED_AT;
  }

  /** Nothing runs, and nobody listens. */
  get isIdle(): boolean {
    return this.#posts.size === 0 && !this.#standing.isRead;
  }

  /** What would be lost if it went: nothing if it was never used, a call if one is at work. */
  get usefulness(): number {
    if (this.#posts.size > 0) return 3;
    if (this.#standing.isRead) return 2;
    return this.#isUsed ? 1 : 0;
  }

  /** When it was last of use. Of sessions that were never used, the one that was opened first comes first. */
  get usefulAt(): number {
    return this.#isUsed ? this.lastUsedAt : this.#openedAt;
  }

  get isOver(): boolean {
    return this.#over;
  }

  hold(held: boolean): void {
    this.#isHeld = held;
    while (!this.#isHeld) {
      const next = this.#held.shift();
      if (!next) return;
      const { post, messages } = next;
      // Some of them may have been cancelled meanwhile.
      this.#deliver(messages.filter((each) => each.kind !== 'request' || this.#posts.get(each.id) === post));
    }
  }

  open(receiver: Receiver): void {
    this.#receiver = receiver;
  }

  /** A POST of this session. The answer to it ends with the last answer to its requests. False: it was refused. */
  post(visit: AdmittedRequest, message: Decoded): boolean {
    const { exchange } = visit;
    const { headers, now } = this.#options;
    if (this.#over) {
      exchange.respond(404, headers);
      return false;
    }
    this.lastUsedAt = now();
    const problem = batchProblem(message, this.revision);
    if (problem) return refuseWith(visit, headers, undefined, problem);
    const { isBatch, requests, messages, refusals } = contentsOf(message);
    const twice = requests.find(({ id }) => this.#posts.has(id));
    if (twice) return refuseWith(visit, headers, twice.id, inFlight(twice.id));
    const post = requests.length > 0 ? this.#enter(visit, message, requests.length, refusals) : undefined;
    // Answers and news get through however much there is to do: it may be what others wait for.
    if (requests.length > 0 && !post) return false;
    for (const { id } of requests) this.#posts.set(id, post!);
    if (this.#isHeld && post) this.#held.push({ post, messages });
    else this.#deliver(messages);
    if (!post) respondRefusals({ exchange, headers }, refusals, isBatch);
    return true;
  }

  #deliver(messages: readonly Decoded[]): void {
    for (const item of messages) {
      this.#receiver?.receive(item);
      if (item.kind === 'notification') this.#heed(item);
    }
  }

  /** Takes a place for each of its requests. The handshake counts as a request without a session. */
  #enter(
    visit: AdmittedRequest,
    message: Decoded,
    count: number,
    refusals: readonly string[],
  ): Post | undefined {
    const { atWork, now } = this.#options;
    const place = atWork.enter(visit, message, this.revision === undefined ? undefined : this.id, count);
    if (!place) return undefined;
    this.#isUsed ||= this.revision !== undefined;
    return new Post(visit, place, count, message.kind === 'batch', [...refusals], now());
  }

  /** The standing GET; a second one takes the place of the first. With the last event's id: goes on from there. */
  get(exchange: HttpExchange, lastEventId: string | undefined): 'attached' | 'unknown' | 'over' {
    this.lastUsedAt = this.#options.now();
    if (lastEventId === undefined) {
      this.#standing.attach(exchange, this.#options.headers);
      for (const json of this.#unheard.take()) this.#standing.send(json);
      return 'attached';
    }
    const missed = this.#options.store?.after(lastEventId);
    const stream = missed && this.#streams.get(missed.stream);
    if (!missed || !stream) return 'unknown';
    if (stream.isOver && missed.events.every(({ json }) => json === '')) return 'over';
    stream.attach(exchange, this.#options.headers, missed.events);
    return 'attached';
  }

  send(message: JsonRpcMessage, about?: RequestId): void {
    if (this.#over) return;
    const json = encodeMessage(message);
    if (!('method' in message)) return this.#answer(message.id ?? undefined, json, message);
    const post = about === undefined ? undefined : this.#posts.get(about);
    if (post) {
      this.#streamOf(post).send(json);
    } else if (this.#standing.begun) {
      this.#standing.send(json);
      // It may come back for the rest, with the id of the last event that it has read.
      if (this.#standing.waiting > CONGESTED_AT) this.#standing.detach();
    } else this.#unheard.add(json);
  }

  keepAlive(now: number, everyMs: number): void {
    for (const post of new Set(this.#posts.values())) {
      if (!post.stream && now - post.startedAt >= everyMs) this.#streamOf(post);
    }
    for (const stream of this.#streams.values()) {
      if (stream.lastAt !== undefined && now - stream.lastAt >= everyMs) stream.keepAlive(now);
    }
    this.#letGo(now);
  }

  /** Clients that can resume are let go after a while, and come back for the rest. */
  #letGo(now: number): void {
    const { pollAfterMs } = this.#options;
    if (pollAfterMs === undefined || !this.#primes) return;
    for (const post of new Set(this.#posts.values())) {
      const { stream } = post;
      if (!stream && now - post.startedAt >= pollAfterMs) this.#streamOf(post).detach();
      else if (stream?.isRead && now - stream.attachedAt >= pollAfterMs) stream.detach();
    }
  }

  async finish(): Promise<void> {
    this.close();
  }

  close(): void {
    if (this.#over) return;
    this.#over = true;
    for (const post of new Set(this.#posts.values())) {
      if (!post.stream) post.exchange.respond(404, this.#options.headers);
      post.forget();
    }
    for (const { place } of this.#posts.values()) this.#options.atWork.leave(place);
    this.#posts = new IdMap();
    this.#held = [];
    for (const stream of this.#streams.values()) stream.end();
    this.#unheard.take();
    this.#options.store?.close?.();
    this.#end.resolve({ kind: 'closed' });
  }

  get #primes(): boolean {
    return this.#options.store !== undefined && (this.revision ?? '') >= '2025-11-25';
  }

  #answer(id: RequestId | undefined, json: string, message: JsonRpcMessage): void {
    const { headers, now } = this.#options;
    this.lastUsedAt = now();
    const post = id === undefined ? undefined : this.#posts.get(id);
    if (!post || id === undefined) return;
    this.#posts.delete(id);
    this.#options.atWork.leave(post.place);
    if (this.revision === undefined) {
      this.revision = revisionIn(message);
      this.#openedAt = this.lastUsedAt;
      if (this.revision !== undefined && !this.#options.onOpened()) return this.#turnAway(post, id);
    }
    const ended = post.answered();
    const { stream } = post;
    if (stream) {
      stream.send(json, encodeMessage(errorMessage(id, NOT_KEPT)));
      if (!ended) return;
      stream.end();
      // SESS-001: a handshake that failed opens nothing, also when it failed late.
      if (this.revision === undefined) return this.close();
      if (!this.#options.store) this.#streams.delete(stream.name);
      return;
    }
    post.answers.push(json);
    if (!ended) return;
    if (this.revision === undefined && 'error' in message) {
      // SESS-001: a handshake that failed opens nothing.
      post.exchange.respond(200, jsonHeaders(withRetryAfter(this.#options.plainHeaders, message)), json);
      return this.close();
    }
    const body = post.isBatch ? `[${post.answers.join(',')}]` : (encodeInParts(message) ?? json);
    post.exchange.respond(200, jsonHeaders(withRetryAfter(headers, message)), body);
  }

  /** Others were opened meanwhile. */
  #turnAway({ exchange }: Post, id: RequestId): void {
    busy({ exchange, headers: this.#options.plainHeaders }, 'All sessions are taken', id);
    this.close();
  }

  /** What the client called off gets no answer; the answer to its POST ends all the same. */
  #heed({ method, params }: DecodedNotification): void {
    const id = params?.['requestId'];
    const post = method === 'notifications/cancelled' && isRequestId(id) ? this.#posts.get(id) : undefined;
    if (!post || !isRequestId(id)) return;
    this.#posts.delete(id);
    this.#options.atWork.leave(post.place);
    if (!post.answered()) return;
    // Its body counts for nothing any more, so it must not be kept either.
    this.#held = this.#held.filter((held) => held.post !== post);
    this.#streamOf(post).end();
  }

  /** Something is to be said before the answer: from now on it is a stream. Most never are. */
  #streamOf(post: Post): SessionStream {
    if (post.stream) return post.stream;
    const stream = this.#newStream();
    post.stream = stream;
    stream.attach(post.exchange, this.#options.headers);
    for (const json of post.answers.splice(0)) stream.send(json);
    return stream;
  }

  #newStream(): SessionStream {
    this.#count += 1;
    const { store, retryMs, now } = this.#options;
    const self = this;
    const stream = new SessionStream(String(this.#count), {
      store,
      retryMs,
      get primes() {
        return self.#primes;
      },
      now,
      onDrain: () => {
        if (!this.congested) this.#receiver?.drained();
      },
    });
    this.#streams.set(stream.name, stream);
    if (this.#streams.size > MAX_STREAMS) this.#forgetOld();
    return stream;
  }

  /** Streams that have ended are kept for those who come back, but not for ever. */
  #forgetOld(): void {
    for (const [name, stream] of this.#streams) {
      if (stream.isOver) this.#streams.delete(name);
      if (this.#streams.size <= MAX_STREAMS / 2) return;
    }
  }
}

interface HeldPost {
  readonly post: Post;
  readonly messages: readonly Decoded[];
}

/** A POST that waits for the answers to its requests. */
class Post {
  readonly exchange: HttpExchange;
  /** For each of its requests. */
  readonly place: TakenSlot;
  /** Once it is one. */
  stream: SessionStream | undefined;
  readonly isBatch: boolean;
  /** What the answer will be, as long as it is no stream. */
  readonly answers: string[];
  readonly startedAt: number;
  /** What its body takes, until the last answer: a legacy call goes on when its client has gone. */
  readonly #room: BodyReservation | undefined;
  #open: number;

  constructor(
    { exchange, room }: AdmittedRequest,
    place: TakenSlot,
    requests: number,
    isBatch: boolean,
    answers: string[],
    startedAt: number,
  ) {
    this.answers = answers;
    this.startedAt = startedAt;
    this.exchange = exchange;
    this.#room = room;
    room?.keep();
    this.place = place;
    this.#open = requests;
    this.isBatch = isBatch;
  }

  /** One more request has its answer. True when it was the last. */
  answered(): boolean {
    this.#open -= 1;
    if (this.#open > 0) return false;
    this.#room?.release();
    return true;
  }

  /** The session has ended. */
  forget(): void {
    this.#room?.release();
  }
}

function withRetryAfter(headers: HttpHeaders, message: JsonRpcMessage): HttpHeaders {
  const later = 'error' in message ? retryAfterOf(message.error) : undefined;
  return later === undefined ? headers : { ...headers, 'retry-after': later };
}

function refuseWith(
  { exchange }: AdmittedRequest,
  headers: HttpHeaders,
  id: RequestId | undefined,
  error: JsonRpcErrorBody,
): false {
  respondError({ exchange, headers }, 400, id, error);
  return false;
}

/** For a client that lost the stream with an answer on it that was too large to be kept. */
const NOT_KEPT: JsonRpcErrorBody = {
  code: ErrorCode.InternalError,
  message: 'The answer was sent and lost, and it is too large to be sent again. The request was executed.',
  data: { reason: 'RESULT_TOO_LARGE', sent: 'maybe' },
};

const CONGESTED_AT = 1024 * 1024;
const MAX_STREAMS = 512;
