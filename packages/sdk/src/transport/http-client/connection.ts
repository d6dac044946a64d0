import { sharedAbort } from '../../async/abort.js';
import { within } from '../../async/clock.js';
import { createDeferred } from '../../async/deferred.js';
import type { IsthmusError } from '../../errors.js';
import { events } from '../../events.js';
import type { Connection, ConnectionEnd, Receiver } from '../../exchange/connection.js';
import { encodeMessage } from '../../wire/codec.js';
import type { JsonRpcMessage, JsonRpcRequest } from '../../wire/json-rpc.js';
import { traceHeaders } from '../trace-headers.js';
import { createDeadline, type RequestDeadline } from './deadline.js';
import { Delivery } from './delivery.js';
import { lost, networkFailure, noAnswer, notBegun, sessionLost, silent, tooManyWait } from './failures.js';
import { InFlightRequest, InFlightRequests, RequestSlots } from './in-flight-requests.js';
import { LegacyClientSession, leaveSession } from './legacy-session.js';
import { keepStanding, resumeAnswer, StreamCursor } from './legacy-streams.js';
import type { HttpSettings } from './options.js';
import { type AnswerOutcome, type AnswerRefusal, mayBe2024, readAnswer } from './read-answer.js';
import { modernHeaders, POST_HEADERS, refreshTools, sameHeaders, ToolHeaders } from './request-headers.js';
import type { RetryingHttp } from './retrying-http.js';
import { openSse2024 } from './sse-2024.js';

/**
 * A connection to a server over HTTP. Each message is a POST of its own. What a request needs follows from the
 * request itself: with a modern envelope it stands alone; without, it belongs to the session that `initialize`
 * opened, whose streams can be taken up again; and a server of 2024-11-05 has one stream for everything.
 */
export class HttpConnection implements Connection {
  readonly label: string;
  readonly principal = undefined;
  readonly life: Promise<void> = Promise.resolve();
  readonly closed: Promise<ConnectionEnd>;
  /** Where the old transport is insisted on, silence means what it means on any stream. */
  readonly answersAll: boolean;
  readonly asker: RetryingHttp;
  readonly url: URL;
  readonly session = new LegacyClientSession();
  readonly tools = new ToolHeaders();
  readonly delivery: Delivery;
  readonly clock: HttpSettings['clock'];
  readonly #settings: HttpSettings;
  readonly #places: RequestSlots;
  readonly #warn: (warning: string) => void;
  readonly #flights = new InFlightRequests();
  readonly #errands = new Set<Promise<void>>();
  readonly #over = sharedAbort();
  readonly #end = createDeferred<ConnectionEnd>();
  #isOpen = true;
  /** The session is gone or given up: nothing more is asked. */
  #isLost = false;
  /** Where a server of 2024-11-05 wants to be posted to. */
  #endpoint: URL | undefined;
  /** What has to be done before anything else leaves. */
  #preparing: Promise<void> | undefined;
  #refreshing: Promise<void> | undefined;

  constructor(asker: RetryingHttp, url: URL, settings: HttpSettings) {
    this.asker = asker;
    this.url = url;
    this.clock = settings.clock;
    this.#settings = settings;
    this.label = asker.label;
    this.answersAll = settings.sse !== 'only';
    this.closed = this.#end.promise;
    this.#warn = createWarner(this.label, settings.onWarning);
    this.#places = new RequestSlots(settings.maxConcurrent);
    this.delivery = new Delivery({
      label: this.label,
      maxBytes: settings.maxAnswerBytes,
      clock: settings.clock,
      flights: this.#flights,
      session: this.session,
      tools: this.tools,
      warn: this.#warn,
    });
  }

  get usable(): boolean {
    return this.#isOpen && !this.#isLost;
  }

  get congested(): boolean {
    return this.#places.waiting > 0;
  }

  open(receiver: Receiver): void {
    this.delivery.receiver = receiver;
    if (this.#settings.sse !== 'only') return;
    this.#preparing = this.#openSse();
    // A failure is that of the first request, which waits for it.
    this.#preparing.catch(() => {});
  }

  hold(held: boolean): void {
    this.delivery.gate.hold(held);
  }

  send(message: JsonRpcMessage): void {
    if (!this.#isOpen) return;
    const text = encodeMessage(message);
    if (!('method' in message)) return this.#run(this.#tell(text));
    if ('id' in message) return this.#depart(new InFlightRequest(message as JsonRpcRequest, text));
    switch (message.method) {
      case 'notifications/cancelled':
        return this.#cancel(message.params?.['requestId'], text);
      case 'notifications/initialized':
        this.#preparing = this.#settle(text);
        return this.#run(this.#preparing);
      default:
        return this.#run(this.#tell(text));
    }
  }

  async finish(): Promise<void> {
    if (this.#isOpen) {
      await within(this.clock, FAREWELL_MS, Promise.all(this.#errands));
      await this.#leave();
      this.#shut({ kind: 'finished' });
    }
    await this.closed;
  }

  close(): void {
    if (!this.#isOpen) return;
    void this.#leave();
    this.#shut({ kind: 'closed' });
  }

  #depart(flight: InFlightRequest): void {
    if (this.#isLost) return this.#fail(flight, sessionLost(this.label));
    if (flight.request.method === 'initialize') this.session.begin();
    this.#flights.add(flight);
    if (!this.#places.admit(flight, () => void this.#fly(flight)))
      this.#fail(flight, tooManyWait(this.label));
  }

  async #fly(flight: InFlightRequest): Promise<void> {
    try {
      await this.#preparing;
      if (!flight.live) return;
      flight.begun = true;
      const where = this.#endpoint
        ? await this.#postTo(this.#endpoint, flight)
        : await this.#exchange(flight);
      if (flight.live && where === 'here') {
        throw lost(`${this.label} ended its answer to ${flight.request.method} without the result`);
      }
    } catch (error) {
      if (flight.live) this.#fail(flight, networkFailure(error, this.label));
    } finally {
      flight.lingering?.();
    }
  }

  async #exchange(flight: InFlightRequest): Promise<AnswerPlace> {
    const headers = this.#headersOf(flight);
    const answer = await this.#post(flight.text, headers, flight.signal);
    if (flight.request.method === 'initialize') this.session.assigned(answer);
    const cursor = new StreamCursor();
    const mayResume = () => flight.live && flight.revision === undefined && cursor.lastEventId !== undefined;
    let outcome: AnswerOutcome;
    try {
      outcome = await readAnswer(
        answer,
        this.delivery.reading(flight, cursor, this.asker.retryAfter(answer)),
      );
    } catch (error) {
      // A legacy stream with event ids can be taken up where it broke off.
      if (!mayResume()) throw error;
      outcome = { kind: 'read' };
    }
    if (outcome.kind === 'refused') return this.#refused(flight, outcome, headers);
    if (flight.live && flight.mismatch) return this.#correct(flight, headers);
    if (flight.live && outcome.kind === 'accepted') throw noAnswer(this.label, flight.request.method);
    if (mayResume()) await resumeAnswer(this, flight, cursor);
    return 'here';
  }

  async #refused(
    flight: InFlightRequest,
    refusal: AnswerRefusal,
    sent: Record<string, string>,
  ): Promise<AnswerPlace> {
    const { status, message, failure } = refusal;
    if (flight.revision === undefined && this.session.isLostBy(refusal)) {
      this.#fail(flight, sessionLost(this.label, status));
      this.#loseSession();
      return 'here';
    }
    if (flight.request.method === 'initialize' && this.#settings.sse === 'auto' && mayBe2024(refusal)) {
      // Where that fails, too, the first refusal is the one that says something.
      await this.#openSse().catch(() => {});
      if (this.#endpoint) return this.#postTo(this.#endpoint, flight);
    }
    // The challenge, or the time to wait, must not get lost.
    if (!message || failure.code === 'UNAUTHORIZED' || refusal.mayTryLater) throw failure;
    this.delivery.deliver(message, flight);
    if (flight.live && flight.mismatch) return this.#correct(flight, sent);
    if (flight.live) throw failure;
    return 'here';
  }

  /** The tool's annotations may have changed since it was listed, or it never was: with better headers, once more. */
  async #correct(flight: InFlightRequest, sent: Record<string, string>): Promise<AnswerPlace> {
    const refusal = flight.mismatch!;
    this.#refreshing ??= this.#bounded(({ signal }) => refreshTools(this, flight, signal)).finally(() => {
      this.#refreshing = undefined;
    });
    await this.#refreshing.catch(() => {});
    if (!flight.live) return 'here';
    if (!sameHeaders(sent, this.#headersOf(flight))) return this.#exchange(flight);
    this.delivery.deliver(refusal, flight);
    return 'here';
  }

  /** A modern request is called off by closing its stream (HTTP-024); a legacy server has to be told (LHTTP-010). */
  #cancel(requestId: unknown, text: string): void {
    const flight = this.#flights.of(requestId);
    if (!flight) return;
    const isKnownThere = flight.begun && flight.revision === undefined;
    flight.calledOff = true;
    this.#flights.land(flight);
    if (!isKnownThere) return flight.abort();
    this.#run(this.#tell(text).finally(() => flight.abort()));
  }

  /** The end of the handshake. What comes next waits until the server can be heard, lest its questions get lost. */
  async #settle(text: string): Promise<void> {
    await this.#tell(text);
    if (this.#endpoint || !this.usable) return;
    const tried = createDeferred<void>();
    void keepStanding(this, {
      signal: this.#over.signal,
      onTried: tried.resolve,
      onLost: () => this.#loseSession(),
      warn: this.#warn,
    });
    await within(this.clock, STANDING_MS, tried.promise);
  }

  /** A message that has no answer of its own. */
  async #tell(text: string): Promise<void> {
    await this.#preparing?.catch(() => {});
    try {
      await this.#bounded(async ({ signal }) => {
        const answer = await this.#post(text, this.#legacyHeaders, signal, this.#endpoint);
        const outcome = await readAnswer(answer, this.delivery.reading(undefined, new StreamCursor()));
        if (outcome.kind !== 'refused') return;
        if (!this.session.isLostBy(outcome)) throw outcome.failure;
        this.#loseSession();
      });
    } catch (error) {
      if (this.#isOpen) this.#warn(`a message was not taken: ${networkFailure(error, this.label).message}`);
    }
  }

  async #postTo(endpoint: URL, flight: InFlightRequest): Promise<AnswerPlace> {
    const answer = await this.#post(
      flight.text,
      withTrace(this.#legacyHeaders, flight),
      flight.signal,
      endpoint,
    );
    const outcome = await readAnswer(answer, this.delivery.reading(flight, new StreamCursor()));
    if (outcome.kind !== 'refused') return 'elsewhere';
    if (!outcome.message) throw outcome.failure;
    this.delivery.deliver(outcome.message, flight);
    return 'here';
  }

  async #openSse(): Promise<void> {
    const deadline = this.#deadline();
    try {
      this.#endpoint = await openSse2024({
        asker: this.asker,
        url: this.url,
        signal: deadline.signal,
        maxBytes: this.#settings.maxAnswerBytes,
        onEvent: (event) => this.delivery.event(event),
        ready: () => this.delivery.gate.passed(),
        onEnd: (error) => this.#shut({ kind: 'lost', error }),
      });
      // From now on it lives as long as the connection.
      deadline.stopClock();
    } catch (error) {
      deadline.callOff();
      throw error;
    }
  }

  #fail(flight: InFlightRequest, error: IsthmusError): void {
    this.#flights.land(flight);
    if (this.#isOpen) this.delivery.receiver?.failed?.(flight.id, error);
  }

  /** What is still in flight was sent before this was known; it gets a moment for an answer of its own. */
  #loseSession(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    void within(this.clock, LAST_ANSWERS_MS, this.#flights.empty()).then(() => {
      this.#shut({ kind: 'lost', error: sessionLost(this.label) });
    });
  }

  async #leave(): Promise<void> {
    if (!this.session.hasId || this.#isLost) return;
    this.#isLost = true;
    await leaveSession(this);
  }

  #shut(end: ConnectionEnd): void {
    if (!this.#isOpen) return;
    this.#end.resolve(end);
    for (const flight of this.#flights.all()) {
      // What waited for a place certainly did not leave.
      if (end.kind === 'lost' && !flight.begun) this.#fail(flight, notBegun(this.label, end.error));
    }
    this.#isOpen = false;
    this.delivery.receiver = undefined;
    this.delivery.gate.hold(false);
    for (const flight of this.#flights.all()) {
      this.#flights.land(flight);
      flight.abort();
    }
    this.#over.abort();
  }

  get #legacyHeaders(): Record<string, string> {
    return { ...POST_HEADERS, ...this.session.headers };
  }

  #headersOf(flight: InFlightRequest): Record<string, string> {
    const { request, revision } = flight;
    const own = revision === undefined ? this.#legacyHeaders : modernHeaders(request, revision, this.tools);
    return withTrace(own, flight);
  }

  #post(body: string, headers: Record<string, string>, signal: AbortSignal, url = this.url) {
    return this.asker.ask({ method: 'POST', url, headers, body, signal });
  }

  /** For what has no deadline of its own. */
  #deadline(): RequestDeadline {
    const { postTimeoutMs } = this.#settings;
    return createDeadline(
      this.clock,
      postTimeoutMs,
      () => silent(this.label, postTimeoutMs),
      this.#over.signal,
    );
  }

  async #bounded(work: (deadline: RequestDeadline) => Promise<void>): Promise<void> {
    const deadline = this.#deadline();
    try {
      await work(deadline);
    } finally {
      deadline.callOff();
    }
  }

  #run(errand: Promise<void>): void {
    this.#errands.add(errand);
    void errand.catch(() => {}).finally(() => this.#errands.delete(errand));
  }
}

function withTrace(headers: Record<string, string>, { request }: InFlightRequest): Record<string, string> {
  const trace = traceHeaders(request.params);
  return trace ? { ...headers, ...trace } : headers;
}

/** Whether the answer to a request was to come with its own POST, or comes on another stream. */
type AnswerPlace = 'here' | 'elsewhere';

/** How long the first calls of a session wait for its standing stream. */
const STANDING_MS = 500;
const FAREWELL_MS = 2000;
const LAST_ANSWERS_MS = 2000;

/** Tells the caller, and whoever watches, of what nothing else reports. */
export function createWarner(
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
      // The caller's failure is its own.
      if (events.handlerFailed.hasSubscribers) events.handlerFailed.publish({ method: 'onWarning', error });
    }
  };
}
