import { sharedAbort } from '../../async/abort.js';
import { within } from '../../async/clock.js';
import { createDeferred } from '../../async/deferred.js';
import type { IsthmusError } from '../../errors.js';
import { events } from '../../events.js';
import type { Connection, ConnectionEnd, Receiver } from '../../exchange/connection.js';
import type { LazyLine, TapLine } from '../../exchange/tap.js';
import { decodeText, encodeMessage } from '../../wire/codec.js';
import { type JsonRpcMessage, type JsonRpcRequest, requestMessage } from '../../wire/json-rpc.js';
import { bounded, createDeadline, pause, type RequestDeadline } from './deadline.js';
import { Delivery } from './delivery.js';
import { lost, networkFailure, neverSent, sessionLost, timedOut, tooManyWaiting } from './failures.js';
import { InFlightRequest, InFlightRequests, RequestSlots } from './in-flight-requests.js';
import { LegacyClientSession } from './legacy-session.js';
import { LegacyStreams } from './legacy-streams.js';
import type { HttpSettings } from './options.js';
import { RequestExchange } from './request-exchange.js';
import { ToolHeaders } from './request-headers.js';
import type { RetryingHttp } from './retrying-http.js';
import { Sse2024 } from './sse-2024.js';

/**
 * A connection to a server over HTTP. Each message is a POST of its own. A request with a modern envelope needs nothing
 * else. A legacy one belongs to the session that `initialize` opened, whose streams can be resumed. A server of
 * 2024-11-05 has one stream for everything.
 */
export class HttpConnection implements Connection {
  readonly label: string;
  readonly principal = undefined;
  readonly life: Promise<void> = Promise.resolve();
  readonly closed: Promise<ConnectionEnd>;
  /** With the old transport alone, a request may stay unanswered as on any stream. */
  readonly answersAll: boolean;
  readonly #settings: HttpSettings;
  readonly #tapped: LazyLine | undefined;
  readonly #session: LegacyClientSession;
  readonly #streams: LegacyStreams;
  readonly #sse: Sse2024;
  readonly #delivery: Delivery;
  readonly #exchange: RequestExchange;
  readonly #slots: RequestSlots;
  readonly #warn: (warning: string) => void;
  readonly #requests = new InFlightRequests();
  /** Messages on their way that have no answer of their own. */
  readonly #posts = new Set<Promise<void>>();
  readonly #over = sharedAbort();
  readonly #end = createDeferred<ConnectionEnd>();
  #isOpen = true;
  /** The server has lost the session, or this side has left it. No further request is sent. */
  #isSessionOver = false;
  /** Requests and messages wait for this before they leave. */
  #preparing: Promise<void> | undefined;

  constructor(http: RetryingHttp, url: URL, settings: HttpSettings, tapped?: LazyLine) {
    const { clock, maxAnswerBytes: maxBytes } = settings;
    this.#settings = settings;
    this.#tapped = tapped;
    this.label = http.label;
    this.answersAll = settings.sse !== 'only';
    this.closed = this.#end.promise;
    this.#warn = createWarner(http.label, settings.onWarning);
    this.#slots = new RequestSlots(settings.maxConcurrent);
    const session = new LegacyClientSession(http, url, clock);
    const tools = new ToolHeaders();
    const delivery = new Delivery({
      ...{ label: http.label, maxBytes, clock, session, tools },
      requests: this.#requests,
      warn: this.#warn,
    });
    const deadline = () => this.#deadline();
    const sse = new Sse2024({
      ...{ http, url, maxBytes, deadline },
      onEvent: (event) => delivery.event(event),
      ready: () => delivery.gate.passed(),
      onEnd: (error) => this.#shut({ kind: 'lost', error }),
    });
    const streams = new LegacyStreams({ http, url, clock, session, delivery });
    this.#session = session;
    this.#delivery = delivery;
    this.#sse = sse;
    this.#streams = streams;
    const maySwitchToSse = settings.sse === 'auto';
    this.#exchange = new RequestExchange({
      ...{ http, url, session, tools, delivery, streams, sse, maySwitchToSse, deadline },
    });
  }

  get tap(): TapLine | undefined {
    return this.#tapped?.line;
  }

  get usable(): boolean {
    return this.#isOpen && !this.#isSessionOver;
  }

  get congested(): boolean {
    return this.#slots.waiting > 0;
  }

  open(receiver: Receiver): void {
    this.#delivery.receiver = receiver;
    if (this.#settings.sse !== 'only') return;
    this.#preparing = this.#sse.open();
    // The first request waits for it and reports its failure.
    this.#preparing.catch(() => {});
  }

  hold(held: boolean): void {
    this.#delivery.gate.hold(held);
  }

  send(message: JsonRpcMessage): void {
    if (!this.#isOpen) return;
    const text = encodeMessage(message);
    if (!('method' in message)) return this.#track(this.#post(text, ATTEMPTS));
    if ('id' in message) return this.#sendRequest(new InFlightRequest(message as JsonRpcRequest, text));
    switch (message.method) {
      case 'notifications/cancelled':
        return this.#cancel(message.params?.['requestId'], text);
      case 'notifications/initialized':
        this.#preparing = this.#finishHandshake(text);
        return this.#track(this.#preparing);
      default:
        return this.#track(this.#post(text));
    }
  }

  /** A text that is not a valid request is posted as it is. */
  sendRequestText(text: string): void {
    if (!this.#isOpen) return;
    const message = decodeText(text);
    if (message.kind !== 'request') return this.#track(this.#post(text));
    const { id, method, params } = message;
    this.#sendRequest(new InFlightRequest(requestMessage(id, method, params), text));
  }

  async finish(): Promise<void> {
    if (this.#isOpen) {
      await within(this.#settings.clock, LAST_POSTS_MS, Promise.all(this.#posts));
      await this.#leaveSession();
      this.#shut({ kind: 'finished' });
    }
    await this.closed;
  }

  close(): void {
    if (!this.#isOpen) return;
    void this.#leaveSession();
    this.#shut({ kind: 'closed' });
  }

  #sendRequest(request: InFlightRequest): void {
    if (this.#isSessionOver) return this.#fail(request, sessionLost(this.label));
    if (request.method === 'initialize') this.#session.begin();
    this.#requests.add(request);
    if (!this.#slots.admit(request, () => void this.#run(request)))
      this.#fail(request, tooManyWaiting(this.label));
  }

  async #run(request: InFlightRequest): Promise<void> {
    try {
      await this.#preparing;
      if (!request.isPending) return;
      request.isSent = true;
      const end = await this.#exchange.run(request);
      if (end.kind === 'session-lost') {
        this.#fail(request, sessionLost(this.label, end.status));
        this.#loseSession();
      } else if (request.isPending && end.kind === 'read') {
        throw lost(`${this.label} ended its answer to ${request.method} without a result`);
      }
    } catch (error) {
      if (request.isPending) this.#fail(request, networkFailure(error, this.label));
    } finally {
      request.stopLingering?.();
    }
  }

  /** A modern request is cancelled by closing its stream (HTTP-024); a legacy server needs a message (LHTTP-010). */
  #cancel(requestId: unknown, text: string): void {
    const request = this.#requests.get(requestId);
    if (!request) return;
    const needsMessage = request.isSent && request.revision === undefined;
    request.isCancelled = true;
    this.#requests.settle(request);
    if (!needsMessage) return request.abort();
    this.#track(this.#post(text).finally(() => request.abort()));
  }

  /** Ends the handshake. Requests wait until the standing stream was tried, or questions of the server would be lost. */
  async #finishHandshake(text: string): Promise<void> {
    await this.#post(text, ATTEMPTS);
    if (this.#sse.endpoint || !this.usable) return;
    const tried = createDeferred<void>();
    void this.#streams.keepStanding({
      signal: this.#over.signal,
      onTried: tried.resolve,
      onLost: () => this.#loseSession(),
      warn: this.#warn,
    });
    await within(this.#settings.clock, STANDING_MS, tried.promise);
  }

  /**
   * Posts a message that has no answer of its own. An answer, and the end of the handshake, may be posted again after a
   * failure on the way: a server ignores the second one, and without any it would wait in vain (INIT-006).
   */
  async #post(text: string, attempts = 1): Promise<void> {
    await this.#preparing?.catch(() => {});
    for (let left = attempts - 1; this.#isOpen; left -= 1) {
      try {
        return await bounded(this.#deadline(), (signal) => this.#postOnce(text, signal));
      } catch (error) {
        const failure = networkFailure(error, this.label);
        if (!this.#isOpen) return;
        if (left <= 0 || !isOnTheWay(failure))
          return this.#warn(`a message was not accepted: ${failure.message}`);
        await pause(this.#settings.clock, AGAIN_MS, this.#over.signal).catch(() => {});
      }
    }
  }

  async #postOnce(text: string, signal: AbortSignal): Promise<void> {
    const refusal = await this.#exchange.postMessage(text, signal);
    if (!refusal) return;
    if (!this.#session.isLostBy(refusal)) throw refusal.failure;
    this.#loseSession();
  }

  #track(post: Promise<void>): void {
    this.#posts.add(post);
    void post.catch(() => {}).finally(() => this.#posts.delete(post));
  }

  #fail(request: InFlightRequest, error: IsthmusError): void {
    this.#requests.settle(request);
    if (this.#isOpen) this.#delivery.receiver?.failed?.(request.id, error);
  }

  /** Requests in flight left before the loss was known. They get a moment for an answer of their own. */
  #loseSession(): void {
    if (this.#isSessionOver) return;
    this.#isSessionOver = true;
    void within(this.#settings.clock, LAST_ANSWERS_MS, this.#requests.empty()).then(() => {
      this.#shut({ kind: 'lost', error: sessionLost(this.label) });
    });
  }

  async #leaveSession(): Promise<void> {
    if (!this.#session.hasId || this.#isSessionOver) return;
    this.#isSessionOver = true;
    await this.#session.leave();
  }

  #shut(end: ConnectionEnd): void {
    if (!this.#isOpen) return;
    this.#tapped?.end(end);
    this.#end.resolve(end);
    for (const request of this.#requests.all()) {
      // A request that waited for a slot did not leave.
      if (end.kind === 'lost' && !request.isSent) this.#fail(request, neverSent(this.label, end.error));
    }
    this.#isOpen = false;
    this.#delivery.receiver = undefined;
    this.#delivery.gate.hold(false);
    for (const request of this.#requests.all()) {
      this.#requests.settle(request);
      request.abort();
    }
    this.#over.abort();
  }

  /** For posts that have no deadline of their own. */
  #deadline(): RequestDeadline {
    const { clock, postTimeoutMs: ms } = this.#settings;
    return createDeadline(clock, ms, () => timedOut(this.label, ms), this.#over.signal);
  }
}

/** Reports to the caller, and to subscribers of `events.dropped`, what no error reports. */
function createWarner(
  label: string,
  onWarning: ((warning: string) => void) | undefined,
): (warning: string) => void {
  return (warning) => {
    if (events.dropped.hasSubscribers) {
      events.dropped.publish({ connection: label, why: warning, message: undefined });
    }
    try {
      onWarning?.(`${label}: ${warning}`);
    } catch (error) {
      // A failure in the caller's code must not affect the connection.
      if (events.handlerFailed.hasSubscribers) events.handlerFailed.publish({ method: 'onWarning', error });
    }
  };
}

/** Whether the message may not have reached the server: the connection failed, or a balancer says so. */
function isOnTheWay({ code, status }: IsthmusError): boolean {
  if (status !== undefined) return status === 502 || status === 503 || status === 504;
  return code === 'CONNECTION_CLOSED' || code === 'ADDRESS_UNAVAILABLE';
}

const ATTEMPTS = 4;
const AGAIN_MS = 300;
/** How long the first calls of a session wait for its standing stream. */
const STANDING_MS = 500;
const LAST_POSTS_MS = 2000;
const LAST_ANSWERS_MS = 2000;
