import type { EventSourceMessage } from 'eventsource-parser';
import { createDeferred } from '../../async/deferred.js';
import { within } from '../../async/within.js';
import { IsthmusError } from '../../errors.js';
import { events } from '../../events.js';
import type { Connection, ConnectionEnd, Receiver } from '../../exchange/connection.js';
import { encodeMessage } from '../../wire/codec.js';
import { ErrorCode } from '../../wire/error-codes.js';
import type {
  Decoded,
  DecodedError,
  DecodedResult,
  JsonRpcMessage,
  JsonRpcRequest,
} from '../../wire/json-rpc.js';
import type { Asker } from './asker.js';
import { readSome } from './bodies.js';
import { lost, networkFailure } from './failures.js';
import { Flight } from './flight.js';
import { Flights } from './flights.js';
import { Cursor, followStream } from './follow-stream.js';
import { Gate } from './gate.js';
import { LegacySession } from './legacy-session.js';
import type { HttpSettings } from './options.js';
import { Places } from './places.js';
import { modernHeaders, POST_HEADERS } from './post-headers.js';
import { decodeEvent, type Outcome, type Reading, type Refusal, readAnswer } from './read-answer.js';
import { refreshTools } from './refresh-tools.js';
import { openSse2024 } from './sse-2024.js';
import { ToolHeaders } from './tool-headers.js';

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
  readonly #asker: Asker;
  readonly #url: URL;
  readonly #settings: HttpSettings;
  readonly #places: Places;
  readonly #flights = new Flights();
  readonly #errands = new Set<Promise<void>>();
  readonly #over = new AbortController();
  readonly #end = createDeferred<ConnectionEnd>();
  readonly #gate = new Gate();
  readonly #session = new LegacySession();
  readonly #tools = new ToolHeaders();
  #receiver!: Receiver;
  #isOpen = true;
  #isLost = false;
  /** Where a server of 2024-11-05 wants to be posted to. */
  #endpoint: URL | undefined;
  /** What has to be done before anything else leaves. */
  #preparing: Promise<void> | undefined;
  #refreshing: Promise<void> | undefined;

  constructor(asker: Asker, url: URL, settings: HttpSettings) {
    this.#asker = asker;
    this.#url = url;
    this.#settings = settings;
    this.label = asker.label;
    this.answersAll = settings.sse !== 'only';
    this.closed = this.#end.promise;
    this.#places = new Places(settings.maxConcurrent);
  }

  /** False as soon as nothing more can be asked here, though what is in flight may still be answered. */
  get usable(): boolean {
    return this.#isOpen && !this.#isLost;
  }

  get congested(): boolean {
    return this.#places.waiting > 0;
  }

  open(receiver: Receiver): void {
    this.#receiver = receiver;
    if (this.#settings.sse === 'only') {
      // A failure is that of the first request, which waits for it.
      this.#preparing = this.#openSse();
      this.#preparing.catch(() => {});
    }
  }

  hold(held: boolean): void {
    this.#gate.hold(held);
  }

  send(message: JsonRpcMessage): void {
    if (!this.#isOpen) return;
    const text = encodeMessage(message);
    if (!('method' in message)) return this.#run(this.#tell(text));
    if ('id' in message) return this.#depart(new Flight(message as JsonRpcRequest, text));
    if (message.method === 'notifications/cancelled')
      return this.#cancel(message.params?.['requestId'], text);
    if (message.method === 'notifications/initialized') {
      this.#preparing = this.#settle(text);
      return this.#run(this.#preparing);
    }
    this.#run(this.#tell(text));
  }

  async finish(): Promise<void> {
    if (this.#isOpen) {
      // The system's own sense of time would do, but a test may own it.
      await within(this.#settings.clock, FAREWELL_MS, Promise.all(this.#errands));
      const farewell = this.#leave();
      await within(this.#settings.clock, FAREWELL_MS, farewell);
      this.#shut({ kind: 'finished' });
    }
    await this.closed;
  }

  close(): void {
    if (!this.#isOpen) return;
    void this.#leave();
    this.#shut({ kind: 'closed' });
  }

  #depart(flight: Flight): void {
    if (this.#isLost) return this.#fail(flight, sessionLost(this.label));
    if (flight.request.method === 'initialize') this.#session.begin();
    this.#flights.add(flight);
    this.#places.admit(flight, () => void this.#fly(flight));
  }

  async #fly(flight: Flight): Promise<void> {
    try {
      await this.#preparing;
      if (!flight.live) return;
      flight.begun = true;
      const outcome = this.#endpoint
        ? await this.#postThere(flight, this.#endpoint)
        : await this.#exchange(flight);
      if (flight.live && outcome !== 'elsewhere') {
        throw lost(`${this.label} ended its answer to ${flight.request.method} without the result`);
      }
    } catch (error) {
      if (flight.live) this.#fail(flight, networkFailure(error, this.label));
    } finally {
      flight.lingering?.();
    }
  }

  /** `elsewhere`: the answer will come on another stream. */
  async #exchange(flight: Flight): Promise<'elsewhere' | undefined> {
    const headers = this.#headersOf(flight);
    const answer = await this.#post(flight.text, headers, flight.signal);
    if (flight.request.method === 'initialize') this.#session.assigned(answer);
    const cursor = new Cursor();
    let outcome: Outcome;
    try {
      outcome = await readAnswer(answer, this.#reading(flight, cursor, this.#asker.retryAfter(answer)));
    } catch (error) {
      // A legacy stream with event ids can be taken up where it broke off.
      if (!flight.live || cursor.lastEventId === undefined || flight.revision !== undefined) throw error;
      outcome = { kind: 'read' };
    }
    if (outcome.kind === 'refused') return this.#refused(flight, outcome);
    if (flight.live && flight.mismatch) return this.#correct(flight, headers);
    if (flight.live && outcome.kind === 'accepted') throw this.#noAnswer(flight);
    const resumable = flight.revision === undefined && cursor.lastEventId !== undefined;
    if (flight.live && resumable) await this.#resume(flight, cursor);
    return undefined;
  }

  async #refused(flight: Flight, refusal: Refusal): Promise<'elsewhere' | undefined> {
    const { status, message, failure } = refusal;
    if (flight.revision === undefined && this.#session.isLostBy(refusal)) {
      this.#fail(flight, sessionLost(this.label, status));
      this.#loseSession();
      return undefined;
    }
    if (flight.request.method === 'initialize' && this.#mayBe2024(refusal)) {
      const found = await this.#openSse().then(
        () => true,
        () => false,
      );
      if (found) return this.#postThere(flight, this.#endpoint!);
    }
    if (failure.code === 'UNAUTHORIZED' || !message) throw failure;
    // The time that it asks for must not get lost.
    if (refusal.mayTryLater) throw failure;
    this.#deliver(message, flight);
    if (flight.live && flight.mismatch) return this.#correct(flight, this.#headersOf(flight));
    if (flight.live) throw failure;
    return undefined;
  }

  /** HTTP-064: the tool's annotations may have changed since it was listed, or it never was. */
  async #correct(flight: Flight, sent: Record<string, string>): Promise<'elsewhere' | undefined> {
    const refusal = flight.mismatch!;
    this.#refreshing ??= this.#refreshTools(flight).finally(() => {
      this.#refreshing = undefined;
    });
    await this.#refreshing.catch(() => {});
    if (!flight.live) return undefined;
    if (sameHeaders(sent, this.#headersOf(flight))) {
      this.#deliver(refusal, flight);
      return undefined;
    }
    return this.#exchange(flight);
  }

  async #refreshTools(flight: Flight): Promise<void> {
    const timed = this.#timed();
    try {
      await refreshTools(flight.request, async (request, text) => {
        const headers = modernHeaders(request, flight.revision!, this.#tools);
        const answer = await this.#post(text, headers, timed.signal);
        let result: DecodedResult | undefined;
        const onMessage = (message: Decoded) => {
          if (message.kind === 'result') result = message;
        };
        const reading = this.#reading(undefined, new Cursor(), undefined);
        const onEvent = (event: EventSourceMessage) => onMessage(decodeEvent(event));
        await readAnswer(answer, { ...reading, onMessage, onEvent });
        return result && this.#learn(result).result;
      });
    } finally {
      timed.callOff();
    }
  }

  /** LHTTP-022: the rest of the answer comes on a GET that says what was heard last. */
  async #resume(flight: Flight, cursor: Cursor): Promise<void> {
    const failure = await followStream({
      label: this.label,
      clock: this.#settings.clock,
      cursor,
      signal: flight.signal,
      patience: MAX_BARREN,
      resumes: true,
      get: (lastEventId) => this.#get(lastEventId, flight.signal),
      read: async (answer) => {
        await readAnswer(answer, this.#reading(flight, cursor, undefined));
      },
      isOver: () => !flight.live,
    });
    if (failure) throw lost(`The answer to ${flight.request.method} broke off: ${failure.message}`, failure);
  }

  /** The standing stream of a session, for what belongs to no request. A server need not have one (LHTTP-016). */
  async #stand(onTried: () => void): Promise<void> {
    const cursor = new Cursor();
    const failure = await followStream({
      label: this.label,
      clock: this.#settings.clock,
      cursor,
      signal: this.#over.signal,
      patience: Number.POSITIVE_INFINITY,
      resumes: false,
      get: (lastEventId) => this.#get(lastEventId, this.#over.signal),
      read: async (answer) => {
        await readAnswer(answer, this.#reading(undefined, cursor, undefined));
      },
      onTried,
      isOver: () => !this.usable,
    });
    if (failure && failure.status !== 405 && failure.status !== 404) {
      this.#warn(`there is no stream for what the server says by itself: ${failure.message}`);
    }
  }

  async #get(lastEventId: string | undefined, signal: AbortSignal) {
    const headers = {
      accept: 'text/event-stream',
      ...this.#session.headers,
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    };
    const answer = await this.#asker.ask({ method: 'GET', url: this.#url, headers, signal });
    if (answer.status === 404 && this.#session.hasId) this.#loseSession();
    return answer;
  }

  /** The end of the handshake. What comes next waits until the server can be heard, lest its questions get lost. */
  async #settle(text: string): Promise<void> {
    await this.#tell(text);
    if (this.#endpoint || !this.usable) return;
    const tried = createDeferred<void>();
    void this.#stand(() => tried.resolve());
    await within(this.#settings.clock, STANDING_MS, tried.promise);
  }

  /** A message that has no answer of its own. */
  async #tell(text: string): Promise<void> {
    if (this.#endpoint === undefined) await this.#preparing?.catch(() => {});
    const { signal, callOff } = this.#timed();
    try {
      const headers = { ...POST_HEADERS, ...this.#session.headers };
      const answer = await this.#post(text, headers, signal, this.#endpoint);
      const outcome = await readAnswer(answer, this.#reading(undefined, new Cursor(), undefined));
      if (outcome.kind !== 'refused') return;
      if (this.#session.isLostBy(outcome)) this.#loseSession();
      else this.#warn(`a message was not taken: ${outcome.failure.message}`);
    } catch (error) {
      if (this.#isOpen) this.#warn(`a message was not taken: ${networkFailure(error, this.label).message}`);
    } finally {
      callOff();
    }
  }

  /** HTTP-024: a modern request is called off by closing its stream; a legacy one has to be told, too (LHTTP-013). */
  #cancel(requestId: unknown, text: string): void {
    const flight = this.#flights.of(requestId);
    if (!flight) return;
    const isKnownThere = flight.begun && flight.revision === undefined;
    flight.calledOff = true;
    this.#flights.land(flight);
    if (!isKnownThere) return flight.abort();
    this.#run(this.#tell(text).finally(() => flight.abort()));
  }

  async #postThere(flight: Flight, endpoint: URL): Promise<'elsewhere' | undefined> {
    const headers = { ...POST_HEADERS, ...this.#session.headers };
    const answer = await this.#post(flight.text, headers, flight.signal, endpoint);
    const outcome = await readAnswer(answer, this.#reading(flight, new Cursor(), undefined));
    if (outcome.kind !== 'refused') return 'elsewhere';
    if (!outcome.message) throw outcome.failure;
    this.#deliver(outcome.message, flight);
    return undefined;
  }

  async #openSse(): Promise<void> {
    const { clock, postTimeoutMs, maxAnswerBytes } = this.#settings;
    const waiting = new AbortController();
    const abort = () => waiting.abort(this.#over.signal.reason);
    this.#over.signal.addEventListener('abort', abort, { once: true });
    const callOff = clock.after(postTimeoutMs, () => waiting.abort(silent(this.label, postTimeoutMs)));
    const onEvent = (event: EventSourceMessage) => this.#event(event, undefined, new Cursor());
    try {
      this.#endpoint = await openSse2024({
        asker: this.#asker,
        url: this.#url,
        signal: waiting.signal,
        maxBytes: maxAnswerBytes,
        onEvent,
        ready: () => this.#gate.passed(),
        onEnd: (error) => this.#shut({ kind: 'lost', error }),
      });
    } catch (error) {
      waiting.abort();
      throw error;
    } finally {
      callOff();
    }
  }

  #mayBe2024({ status, message }: Refusal): boolean {
    if (this.#settings.sse !== 'auto' || !(status === 400 || status === 404 || status === 405)) return false;
    return message === undefined || !isModern(message);
  }

  #reading(flight: Flight | undefined, cursor: Cursor, retryAfterMs: number | undefined): Reading {
    return {
      label: this.label,
      maxBytes: this.#settings.maxAnswerBytes,
      retryAfterMs,
      onMessage: (message) => this.#deliver(message, flight),
      onEvent: (event) => this.#event(event, flight, cursor),
      onRetry: (ms) => {
        cursor.retryMs = Math.min(ms, MAX_RETRY_MS);
      },
      ready: () => this.#gate.passed(),
    };
  }

  #event(event: EventSourceMessage, flight: Flight | undefined, cursor: Cursor): void {
    cursor.at(event.id);
    // The empty event that only brings an id (2025-11-25), and events of other kinds.
    if (event.data === '' || (event.event !== undefined && event.event !== 'message')) return;
    if (!flight?.calledOff) this.#deliver(decodeEvent(event), flight);
    // The server should end the stream now; one that does not is not waited for.
    if (flight && !flight.live) {
      flight.lingering ??= this.#settings.clock.after(LINGER_MS, () => flight.abort(), { background: true });
    }
  }

  #deliver(message: Decoded, from: Flight | undefined): void {
    if (!this.#isOpen) return;
    switch (message.kind) {
      case 'batch':
        for (const item of message.items) this.#deliver(item, from);
        return;
      case 'result':
      case 'error':
        return this.#answer(message, from);
      case 'invalid':
        this.#landed(message.answers);
        return this.#receiver.receive(message);
      default:
        this.#receiver.receive(message);
    }
  }

  #answer(answer: DecodedResult | DecodedError, from: Flight | undefined): void {
    // Over HTTP an error without id has only one request that it can mean.
    const message = answer.id === undefined && from ? { ...answer, id: from.id } : answer;
    const flight = this.#flights.of(message.id);
    if (!flight) return this.#receiver.receive(message);
    const { method } = flight.request;
    if (message.kind === 'error' && this.#isMismatch(message, flight)) {
      flight.mismatch = message;
      return;
    }
    this.#flights.land(flight);
    if (message.kind === 'result' && method === 'initialize') this.#session.agreed(message.result);
    const lists = message.kind === 'result' && method === 'tools/list' && flight.revision !== undefined;
    this.#receiver.receive(lists ? this.#learn(message) : message);
  }

  /** Once for each flight: the second refusal is the answer. */
  #isMismatch(message: DecodedError, flight: Flight): boolean {
    const { method } = flight.request;
    const isFirst = flight.mismatch === undefined && flight.revision !== undefined;
    return isFirst && method === 'tools/call' && message.error.code === ErrorCode.HeaderMismatch;
  }

  #learn(message: DecodedResult): DecodedResult {
    const result = this.#tools.learn(message.result, (tool, why) => {
      this.#warn(`the tool ${JSON.stringify(tool)} was left out: ${why}`);
    });
    return result === message.result ? message : { ...message, result };
  }

  #landed(id: unknown): void {
    const flight = this.#flights.of(id);
    if (flight) this.#flights.land(flight);
  }

  #fail(flight: Flight, error: IsthmusError): void {
    this.#flights.land(flight);
    if (!this.#isOpen) return;
    if (this.#receiver.failed) this.#receiver.failed(flight.id, error);
    else this.#shut({ kind: 'lost', error });
  }

  #noAnswer(flight: Flight): IsthmusError {
    const message = `${this.label} took ${flight.request.method} without answering it`;
    return new IsthmusError('INVALID_RESULT', message, { sent: 'maybe' });
  }

  /** What is still in flight was sent before this was known; it gets a moment for an answer of its own. */
  #loseSession(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    void within(this.#settings.clock, LAST_ANSWERS_MS, this.#flights.empty()).then(() => {
      this.#shut({ kind: 'lost', error: sessionLost(this.label) });
    });
  }

  #headersOf({ request, revision }: Flight): Record<string, string> {
    if (revision !== undefined) return modernHeaders(request, revision, this.#tools);
    return { ...POST_HEADERS, ...this.#session.headers };
  }

  #post(body: string, headers: Record<string, string>, signal: AbortSignal, url = this.#url) {
    return this.#asker.ask({ method: 'POST', url, headers, body, signal });
  }

  /** For what has no deadline of its own. */
  #timed(): { readonly signal: AbortSignal; readonly callOff: () => void } {
    const { clock, postTimeoutMs } = this.#settings;
    const controller = new AbortController();
    const abort = () => controller.abort(this.#over.signal.reason);
    const forget = clock.after(postTimeoutMs, () => controller.abort(silent(this.label, postTimeoutMs)), {
      background: true,
    });
    this.#over.signal.addEventListener('abort', abort, { once: true });
    return {
      signal: controller.signal,
      callOff: () => {
        forget();
        this.#over.signal.removeEventListener('abort', abort);
      },
    };
  }

  #run(errand: Promise<void>): void {
    this.#errands.add(errand);
    void errand.catch(() => {}).finally(() => this.#errands.delete(errand));
  }

  /** SESS-008: says that the session is no longer needed. Nobody waits long for it, and nothing depends on it. */
  async #leave(): Promise<void> {
    if (!this.#session.hasId || this.#isLost) return;
    this.#isLost = true;
    const { clock } = this.#settings;
    const controller = new AbortController();
    const callOff = clock.after(DELETE_MS, () => controller.abort());
    const { headers } = this.#session;
    try {
      const request = { method: 'DELETE', url: this.#url, headers, signal: controller.signal } as const;
      const answer = await this.#asker.ask(request);
      await readSome(answer.body, MAX_BODY_BYTES);
    } catch {
      // The server will find out by itself.
    } finally {
      callOff();
    }
  }

  #shut(end: ConnectionEnd): void {
    if (!this.#isOpen) return;
    this.#end.resolve(end);
    if (end.kind === 'lost') {
      for (const flight of this.#flights.all()) {
        if (!flight.begun) this.#fail(flight, lost(`${this.label} was lost`, end.error).with({ sent: 'no' }));
      }
    }
    this.#isOpen = false;
    for (const flight of this.#flights.all()) {
      this.#flights.land(flight);
      flight.abort();
    }
    this.#over.abort();
  }

  #warn(warning: string): void {
    if (events.dropped.hasSubscribers) {
      events.dropped.publish({ connection: this.label, why: warning, message: undefined });
    }
    try {
      this.#settings.onWarning?.(`${this.label}: ${warning}`);
    } catch (error) {
      if (events.handlerFailed.hasSubscribers) events.handlerFailed.publish({ method: 'onWarning', error });
    }
  }
}

function sessionLost(label: string, status?: number): IsthmusError {
  const message = `${label} no longer knows the session`;
  return new IsthmusError('CONNECTION_CLOSED', message, { sent: 'no', status });
}

function silent(label: string, ms: number): IsthmusError {
  return new IsthmusError('TIMED_OUT', `${label} said nothing for ${ms} ms`, { sent: 'maybe' });
}

function isModern({ error }: DecodedError): boolean {
  return error.code <= ErrorCode.HeaderMismatch && error.code >= ErrorCode.UnsupportedProtocolVersion;
}

function sameHeaders(a: Record<string, string>, b: Record<string, string>): boolean {
  const names = Object.keys({ ...a, ...b });
  return names.every((name) => a[name] === b[name]);
}

/** How long a stream may stay open after the answer that should end it. */
const LINGER_MS = 1000;
/** How long the first calls of a session wait for its standing stream. */
const STANDING_MS = 500;
const FAREWELL_MS = 2000;
const DELETE_MS = 2000;
const LAST_ANSWERS_MS = 2000;
/** How often in a row taking up a stream may bring nothing. */
const MAX_BARREN = 5;
const MAX_RETRY_MS = 60_000;
const MAX_BODY_BYTES = 16 * 1024;
