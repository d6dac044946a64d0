import { createDeferred, type Deferred } from '../../../async/deferred.js';
import type { LoggedEvent } from '../../../cluster/event-log.js';
import type { RequestFacts } from '../../../exchange/call.js';
import type { Connection, ConnectionEnd, Receiver } from '../../../exchange/connection.js';
import { decodeLine, encodeMessage } from '../../../wire/codec.js';
import {
  type Decoded,
  type DecodedNotification,
  errorMessage,
  isRequestId,
  type JsonRpcMessage,
  type RequestId,
} from '../../../wire/json-rpc.js';
import { type AdmittedRequest, busy, respondError, respondRefusals } from '../exchange/admitted-request.js';
import { jsonHeaders } from '../exchange/event-writer.js';
import { factsInSession, type HttpExchange, type HttpHeaders } from '../exchange/exchange.js';
import type { Grant } from '../options.js';
import { batchProblem, contentsOf, inFlight, revisionIn } from '../posts/batch.js';
import { epochOf } from './event-ids.js';
import { EarlyCancellations, NOT_KEPT, PendingPost, PendingPosts } from './pending-posts.js';
import type { SessionConnectionOptions } from './session-options.js';
import { type SessionStream, SessionStreams } from './session-streams.js';

/** One for all sessions, of which there may be thousands. */
const ALIVE = Promise.resolve();

/**
 * A legacy session as one connection, assembled from its POSTs and its standing GET. The loss of an HTTP exchange does
 * not end the session: the client may resume the stream.
 */
export class SessionConnection implements Connection {
  readonly id: string;
  readonly label: string;
  readonly principal: string | undefined;
  readonly remote: string | undefined;
  readonly life = ALIVE;
  readonly closed: Promise<ConnectionEnd>;
  /** The client that limits count it for. */
  readonly who: string;
  readonly #options: SessionConnectionOptions;
  #tellEnd!: (end: ConnectionEnd) => void;
  readonly #posts: PendingPosts;
  readonly #streams: SessionStreams;
  readonly epoch: number;
  #earlyCancellations: EarlyCancellations | undefined;
  /** Settles when the repeated handshake is answered. */
  #replaying: { readonly id: RequestId; readonly answered: Deferred<boolean> } | undefined;
  /** Another process has taken it over. Calls that run here still get their answers. */
  #isLost = false;
  #receiver: Receiver | undefined;
  #isHeld = false;
  #isOver = false;
  /** It has sent a request after the handshake. */
  #isUsed = false;
  #openedAt: number;
  /** All answers have the same. To copy them for each took 2 % of the time of a call. */
  #answerHeaders: HttpHeaders | undefined;
  /** Known with the answer to `initialize`. */
  revision: string | undefined;
  lastUsedAt: number;
  /** The credential of its last request, where credentials can end. */
  grant: Grant | undefined;

  constructor(options: SessionConnectionOptions) {
    const { store, retryMs, now } = options;
    this.#options = options;
    this.id = options.id;
    this.label = `http session ${options.id.slice(0, 8)}`;
    this.principal = options.principal;
    this.remote = options.remote;
    this.who = options.who;
    this.closed = new Promise((resolve) => {
      this.#tellEnd = resolve;
    });
    this.lastUsedAt = now();
    this.#openedAt = this.lastUsedAt;
    this.epoch = options.continuity?.epoch ?? 1;
    this.#posts = new PendingPosts(options.limiter);
    this.#streams = new SessionStreams(options.who, {
      store,
      log: options.continuity?.log,
      epoch: options.continuity?.epoch,
      retryMs,
      primes: () => this.#canResume,
      now,
      onDrain: () => {
        if (!this.congested) this.#receiver?.drained();
      },
    });
  }

  get congested(): boolean {
    return this.#streams.waiting > CONGESTED_AT;
  }

  get hasCalls(): boolean {
    return this.#posts.size > 0;
  }

  /** What comes while the process ends has been let in: the other processes were asked first. */
  get takesLate(): boolean {
    return this.#options.continuity !== undefined;
  }

  /** It has no running call and no open standing stream. */
  get isIdle(): boolean {
    return this.#posts.size === 0 && !this.#streams.isStandingRead;
  }

  /** What closing it would cost its client. 0: it was never used. 3: a call is running. */
  get usefulness(): number {
    if (this.#posts.size > 0) return 3;
    if (this.#streams.isStandingRead) return 2;
    return this.#isUsed ? 1 : 0;
  }

  /** When it was last of use. A session that was never used counts from its opening. */
  get usefulAt(): number {
    return this.#isUsed ? this.lastUsedAt : this.#openedAt;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether new requests belong to another process. */
  get isLost(): boolean {
    return this.#isLost;
  }

  hold(held: boolean): void {
    this.#isHeld = held;
    while (!this.#isHeld) {
      const messages = this.#posts.takeHeld();
      if (!messages) return;
      this.#deliver(messages);
    }
  }

  open(receiver: Receiver): void {
    this.#receiver = receiver;
  }

  factsOf(id: RequestId): RequestFacts | undefined {
    const post = this.#posts.get(id);
    return post && factsInSession(post.exchange.facts(), this.id);
  }

  /** Takes a POST of this session. Its answer ends with the last answer to its requests. False: it was refused. */
  post(request: AdmittedRequest, message: Decoded): boolean {
    const { exchange } = request;
    const { headers, now } = this.#options;
    if (this.#isOver) {
      exchange.respond(404, headers);
      return false;
    }
    this.lastUsedAt = now();
    const problem = batchProblem(message, this.revision);
    if (problem) {
      respondError({ exchange, headers }, 400, undefined, problem);
      return false;
    }
    const { isBatch, requests, messages, refusals } = contentsOf(message);
    const repeated = requests.find(({ id }) => this.#posts.get(id));
    if (repeated) {
      respondError({ exchange, headers }, 400, repeated.id, inFlight(repeated.id));
      return false;
    }
    const post = requests.length > 0 ? this.#enter(request, message, requests.length, refusals) : undefined;
    // Answers and notifications are never limited: running calls may wait for them.
    if (requests.length > 0 && !post) return false;
    if (post) this.#posts.add(post, requests);
    if (this.#isHeld && post) this.#posts.hold(post, messages);
    else this.#deliver(messages);
    if (!post) respondRefusals({ exchange, headers }, refusals, isBatch);
    return true;
  }

  #deliver(messages: readonly Decoded[]): void {
    const { continuity } = this.#options;
    for (const item of messages) {
      if (continuity && item.kind !== 'batch') continuity.memory.sent(item);
      this.#receiver?.receive(item);
      if (item.kind === 'notification') this.#heedCancellation(item);
      else if (item.kind === 'request') this.#cancelEarly(item.id);
    }
  }

  /**
   * Begins a session that another process has had: repeats its handshake, and what the client has set since. False: the
   * service refuses the session.
   */
  async replay(revision: string): Promise<boolean> {
    const replay = this.#options.continuity?.memory.replay();
    if (!replay) return false;
    this.#replaying = { id: replay.id, answered: createDeferred<boolean>() };
    this.revision = revision;
    this.#isUsed = true;
    const { answered } = this.#replaying;
    this.#receiver?.receive(asDecoded(replay.initialize));
    const isAccepted = await answered.promise;
    this.#replaying = undefined;
    if (!isAccepted || this.#isOver) return false;
    for (const message of replay.rest) this.#receiver?.receive(asDecoded(message));
    this.#receiver?.missed?.();
    return true;
  }

  /** Another process has taken it over. */
  lose(): void {
    this.#isLost = true;
    this.#receiver?.lost?.();
    if (this.#posts.size === 0) this.#shut();
  }

  /** Takes a slot for each request. The handshake counts as a request without a session. */
  #enter(
    request: AdmittedRequest,
    message: Decoded,
    count: number,
    refusals: readonly string[],
  ): PendingPost | undefined {
    const { limiter, now } = this.#options;
    const slot = limiter.enter(request, message, this.revision === undefined ? undefined : this.id, count);
    if (!slot) return undefined;
    this.#isUsed ||= this.revision !== undefined;
    return new PendingPost(request, slot, count, message.kind === 'batch', [...refusals], now());
  }

  /** Opens the standing GET, or with the id of the last event resumes a stream. */
  get(
    exchange: HttpExchange,
    lastEventId: string | undefined,
    past?: readonly LoggedEvent[],
  ): 'attached' | 'unknown' | 'over' {
    const { headers, now } = this.#options;
    this.lastUsedAt = now();
    if (lastEventId !== undefined) return this.#streams.resume(exchange, headers, lastEventId, past);
    this.#streams.openStanding(exchange, headers);
    return 'attached';
  }

  /** The events of an earlier process, if the stream that the client resumes belongs to one. */
  pastOf(lastEventId: string): Promise<readonly LoggedEvent[]> | undefined {
    const { continuity } = this.#options;
    if (!continuity || epochOf(lastEventId) >= this.epoch) return undefined;
    return continuity.log?.read() ?? Promise.resolve([]);
  }

  /** Whether the client resumes the answer to a request that runs here. */
  isAtWork(lastEventId: string): boolean {
    return this.#streams.isAtWork(lastEventId);
  }

  get hasStanding(): boolean {
    return this.#streams.hasStanding;
  }

  send(message: JsonRpcMessage, about?: RequestId): void {
    if (this.#isOver) return;
    if (this.#replaying && !('method' in message) && message.id === this.#replaying.id) {
      return this.#replaying.answered.resolve(!('error' in message));
    }
    const json = encodeMessage(message);
    if (!('method' in message)) {
      const id = message.id ?? undefined;
      if (id !== undefined) this.#options.continuity?.memory.answered(id, 'error' in message);
      return this.#answer(id, json, message);
    }
    const post = about === undefined ? undefined : this.#posts.get(about);
    if (post) this.#streamOf(post).send(json);
    else this.#streams.sendStanding(json);
  }

  keepAlive(now: number, everyMs: number): void {
    for (const post of this.#posts.all()) {
      if (!post.stream && now - post.startedAt >= everyMs) this.#streamOf(post);
    }
    this.#streams.keepAlive(now, everyMs);
    this.#detachForPolling(now);
  }

  /** Ends the streams of clients that can resume after a while. They come back for the rest. */
  #detachForPolling(now: number): void {
    const { pollAfterMs } = this.#options;
    if (pollAfterMs === undefined || !this.#canResume) return;
    for (const post of this.#posts.all()) {
      const { stream } = post;
      if (!stream && now - post.startedAt >= pollAfterMs) this.#streamOf(post).detach();
      else if (stream?.isRead && now - stream.attachedAt >= pollAfterMs) stream.detach();
    }
  }

  /** The server ends. Another process may take the session over. */
  async finish(): Promise<void> {
    if (this.#isOver) return;
    if (!this.#isLost && this.revision !== undefined) this.#options.continuity?.released();
    this.#shut();
  }

  close(): void {
    if (this.#isOver) return;
    if (!this.#isLost) this.#options.continuity?.ended();
    this.#shut();
  }

  #shut(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#replaying?.answered.resolve(false);
    this.#posts.close(this.#options.headers);
    this.#streams.close();
    this.#options.store?.close?.();
    this.#tellEnd({ kind: 'closed' });
  }

  get #canResume(): boolean {
    return this.#options.store !== undefined && (this.revision ?? '') >= '2025-11-25';
  }

  #answer(id: RequestId | undefined, json: string, message: JsonRpcMessage): void {
    const { onOpened, now } = this.#options;
    this.lastUsedAt = now();
    const post = id === undefined ? undefined : this.#posts.get(id);
    if (!post || id === undefined) return;
    const isLast = this.#posts.settle(id, post);
    if (this.revision === undefined) {
      this.revision = revisionIn(message);
      this.#openedAt = this.lastUsedAt;
      if (this.revision !== undefined && !onOpened()) return this.#refuseSession(post, id);
      const { continuity } = this.#options;
      if (this.revision !== undefined && continuity && !post.stream) {
        void continuity.opened().then(() => this.#conclude(post, id, json, message, isLast));
        return;
      }
      if (this.revision !== undefined) void continuity?.opened();
    }
    this.#conclude(post, id, json, message, isLast);
    if (this.#isLost && this.#posts.size === 0) this.#shut();
  }

  /** Sends an answer to the client. */
  #conclude(post: PendingPost, id: RequestId, json: string, message: JsonRpcMessage, isLast: boolean): void {
    const { headers, plainHeaders } = this.#options;
    const { stream } = post;
    if (stream) {
      stream.send(json, encodeMessage(errorMessage(id, NOT_KEPT)));
      if (!isLast) return;
      stream.end();
      // SESS-001: a handshake that failed opens no session, even if it failed late.
      if (this.revision === undefined) return this.close();
      this.#streams.ended(stream);
      return;
    }
    post.answers.push(json);
    if (!isLast) return;
    if (this.revision === undefined && 'error' in message) {
      // SESS-001: a handshake that failed opens no session.
      post.respond(jsonHeaders(plainHeaders), message, json);
      return this.close();
    }
    this.#answerHeaders ??= jsonHeaders(headers);
    post.respond(this.#answerHeaders, message, json);
  }

  /** Other sessions were opened during the handshake. */
  #refuseSession({ exchange }: PendingPost, id: RequestId): void {
    busy({ exchange, headers: this.#options.plainHeaders }, 'All sessions are taken', id);
    this.close();
  }

  /** A cancelled request gets no answer. The answer to its POST still has to end. */
  #heedCancellation({ method, params }: DecodedNotification): void {
    const id = params?.['requestId'];
    if (method !== 'notifications/cancelled' || !isRequestId(id)) return;
    const post = this.#posts.get(id);
    if (!post) return this.#rememberCancellation(id, { kind: 'notification', method, params });
    if (!this.#posts.settle(id, post)) return;
    this.#posts.dropHeld(post);
    this.#streamOf(post).end();
  }

  /** On the way through other processes a cancellation may overtake its request. */
  #rememberCancellation(id: RequestId, cancellation: DecodedNotification): void {
    if (!this.#options.continuity) return;
    this.#earlyCancellations ??= new EarlyCancellations();
    this.#earlyCancellations.remember(id, cancellation, this.#options.now());
  }

  #cancelEarly(id: RequestId): void {
    const cancellation = this.#earlyCancellations?.take(id, this.#options.now());
    if (!cancellation) return;
    this.#receiver?.receive(cancellation);
    this.#heedCancellation(cancellation);
  }

  /** Turns the answer into a stream, since something has to be sent before it. Most answers never become one. */
  #streamOf(post: PendingPost): SessionStream {
    if (post.stream) return post.stream;
    const stream = this.#streams.create(this.#posts.idsOf(post));
    post.stream = stream;
    stream.attach(post.exchange, this.#options.headers);
    for (const json of post.answers.splice(0)) stream.send(json);
    return stream;
  }
}

/** A message that is repeated here has not come over the wire. */
function asDecoded(message: JsonRpcMessage): Decoded {
  return decodeLine(Buffer.from(encodeMessage(message)));
}

const CONGESTED_AT = 1024 * 1024;
