import { traceHeaders } from '../trace-headers.js';
import { bounded, type RequestDeadline } from './deadline.js';
import type { Delivery } from './delivery.js';
import { noAnswer } from './failures.js';
import type { InFlightRequest } from './in-flight-requests.js';
import type { LegacyClientSession } from './legacy-session.js';
import { type LegacyStreams, StreamCursor } from './legacy-streams.js';
import { type AnswerOutcome, type AnswerRefusal, mayBe2024, readAnswer } from './read-answer.js';
import {
  modernHeaders,
  POST_HEADERS,
  refreshTools,
  sameHeaders,
  type ToolHeaders,
} from './request-headers.js';
import type { RetryingHttp } from './retrying-http.js';
import type { Sse2024 } from './sse-2024.js';

/** How the exchange of a request ended. */
export type ExchangeEnd =
  /** The answer to its POST was read to the end. */
  | { readonly kind: 'read' }
  /** The answer comes on another stream. */
  | { readonly kind: 'elsewhere' }
  /** The server no longer knows the session. */
  | { readonly kind: 'session-lost'; readonly status: number };

export interface RequestExchangeOptions {
  readonly http: RetryingHttp;
  readonly url: URL;
  readonly session: LegacyClientSession;
  readonly tools: ToolHeaders;
  readonly delivery: Delivery;
  readonly streams: LegacyStreams;
  readonly sse: Sse2024;
  /** Whether a refused `initialize` may be tried over the transport of 2024-11-05. */
  readonly maySwitchToSse: boolean;
  deadline(): RequestDeadline;
}

/** Posts messages and hands over what comes back on the answers. */
export class RequestExchange {
  readonly #options: RequestExchangeOptions;
  #refreshing: Promise<void> | undefined;

  constructor(options: RequestExchangeOptions) {
    this.#options = options;
  }

  run(request: InFlightRequest): Promise<ExchangeEnd> {
    const { endpoint } = this.#options.sse;
    return endpoint ? this.#postTo(endpoint, request) : this.#exchange(request);
  }

  /** Posts a message that has no answer of its own. Settles with the refusal, if there was one. */
  async postMessage(text: string, signal: AbortSignal): Promise<AnswerRefusal | undefined> {
    const { delivery, sse } = this.#options;
    const answer = await this.#post(text, this.#legacyHeaders, signal, sse.endpoint);
    const outcome = await readAnswer(answer, delivery.reading(undefined, new StreamCursor()));
    return outcome.kind === 'refused' ? outcome : undefined;
  }

  async #exchange(request: InFlightRequest): Promise<ExchangeEnd> {
    const { http, session, delivery, streams } = this.#options;
    const headers = this.#headersOf(request);
    const answer = await this.#post(request.text, headers, request.signal);
    if (request.method === 'initialize') session.assigned(answer);
    const cursor = new StreamCursor();
    const mayResume = () =>
      request.isPending && request.revision === undefined && cursor.lastEventId !== undefined;
    let outcome: AnswerOutcome;
    try {
      outcome = await readAnswer(answer, delivery.reading(request, cursor, http.retryAfter(answer)));
    } catch (error) {
      // A legacy stream with event ids can be resumed after its last event.
      if (!mayResume()) throw error;
      outcome = { kind: 'read' };
    }
    if (outcome.kind === 'refused') return this.#refused(request, outcome, headers);
    if (request.isPending && request.mismatch) return this.#correctHeaders(request, headers);
    if (request.isPending && outcome.kind === 'accepted') throw noAnswer(http.label, request.method);
    if (mayResume()) await streams.resumeAnswer(request, cursor);
    return READ;
  }

  async #refused(
    request: InFlightRequest,
    refusal: AnswerRefusal,
    sent: Record<string, string>,
  ): Promise<ExchangeEnd> {
    const { session, sse, delivery, maySwitchToSse } = this.#options;
    const { status, message, failure } = refusal;
    if (request.revision === undefined && session.isLostBy(refusal)) return { kind: 'session-lost', status };
    if (request.method === 'initialize' && maySwitchToSse && mayBe2024(refusal)) {
      // If this fails as well, the first refusal is the better error.
      await sse.open().catch(() => {});
      if (sse.endpoint) return this.#postTo(sse.endpoint, request);
    }
    // A message would hide the challenge, or the time to wait, that the failure carries.
    if (!message || failure.code === 'UNAUTHORIZED' || refusal.mayTryLater) throw failure;
    delivery.deliver(message, request);
    if (request.isPending && request.mismatch) return this.#correctHeaders(request, sent);
    if (request.isPending) throw failure;
    return READ;
  }

  /** The tool was never listed, or its annotations have changed since: lists the tools, and repeats the request once. */
  async #correctHeaders(request: InFlightRequest, sent: Record<string, string>): Promise<ExchangeEnd> {
    const { delivery, deadline } = this.#options;
    const refusal = request.mismatch!;
    this.#refreshing ??= bounded(deadline(), (signal) =>
      refreshTools(this.#options, request, signal),
    ).finally(() => {
      this.#refreshing = undefined;
    });
    await this.#refreshing.catch(() => {});
    if (!request.isPending) return READ;
    if (!sameHeaders(sent, this.#headersOf(request))) return this.#exchange(request);
    delivery.deliver(refusal, request);
    return READ;
  }

  async #postTo(endpoint: URL, request: InFlightRequest): Promise<ExchangeEnd> {
    const { delivery } = this.#options;
    const headers = withTrace(this.#legacyHeaders, request);
    const answer = await this.#post(request.text, headers, request.signal, endpoint);
    const outcome = await readAnswer(answer, delivery.reading(request, new StreamCursor()));
    if (outcome.kind !== 'refused') return { kind: 'elsewhere' };
    if (!outcome.message) throw outcome.failure;
    delivery.deliver(outcome.message, request);
    return READ;
  }

  get #legacyHeaders(): Record<string, string> {
    return { ...POST_HEADERS, ...this.#options.session.headers };
  }

  #headersOf(request: InFlightRequest): Record<string, string> {
    const { message, revision } = request;
    const { tools } = this.#options;
    const own = revision === undefined ? this.#legacyHeaders : modernHeaders(message, revision, tools);
    return withTrace(own, request);
  }

  #post(body: string, headers: Record<string, string>, signal: AbortSignal, url = this.#options.url) {
    return this.#options.http.send({ method: 'POST', url, headers, body, signal });
  }
}

function withTrace(headers: Record<string, string>, { message }: InFlightRequest): Record<string, string> {
  const trace = traceHeaders(message.params);
  return trace ? { ...headers, ...trace } : headers;
}

const READ: ExchangeEnd = { kind: 'read' };
