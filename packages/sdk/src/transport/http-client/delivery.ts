import type { EventSourceMessage } from 'eventsource-parser';
import type { Clock } from '../../async/clock.js';
import { createDeferred, type Deferred } from '../../async/deferred.js';
import type { Receiver } from '../../exchange/connection.js';
import { ErrorCode } from '../../wire/error-codes.js';
import type { Decoded, DecodedError, DecodedResult } from '../../wire/json-rpc.js';
import type { InFlightRequest, InFlightRequests } from './in-flight-requests.js';
import type { LegacyClientSession } from './legacy-session.js';
import type { StreamCursor } from './legacy-streams.js';
import { decodeEvent, type Reading } from './read-answer.js';
import type { ToolHeaders } from './request-headers.js';

export interface DeliveryOptions {
  readonly label: string;
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly requests: InFlightRequests;
  readonly session: LegacyClientSession;
  readonly tools: ToolHeaders;
  warn(warning: string): void;
}

/** Hands messages to the receiver, and updates requests, session and tools from them. */
export class Delivery {
  receiver: Receiver | undefined;
  readonly gate = new RequestGate();
  readonly #options: DeliveryOptions;

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  /** How to read the answer to a request, or a stream that belongs to no request. */
  reading(request: InFlightRequest | undefined, cursor: StreamCursor, retryAfterMs?: number): Reading {
    const { label, maxBytes } = this.#options;
    return {
      label,
      maxBytes,
      retryAfterMs,
      onMessage: (message) => this.deliver(message, request),
      onEvent: (event) => this.event(event, request, cursor),
      onRetry: (ms) => {
        cursor.retryMs = Math.min(ms, MAX_RETRY_MS);
      },
      ready: () => this.gate.passed(),
    };
  }

  event(event: EventSourceMessage, request?: InFlightRequest, cursor?: StreamCursor): void {
    cursor?.at(event.id);
    // Skips the empty event that only carries an id (2025-11-25), and events of other kinds.
    if (event.data === '' || (event.event !== undefined && event.event !== 'message')) return;
    if (request?.isCancelled) return;
    this.deliver(decodeEvent(event), request);
    // The server should end the stream after the answer. If it does not, this side closes it.
    if (request && !request.isPending) {
      request.stopLingering ??= this.#options.clock.after(LINGER_MS, () => request.abort(), {
        background: true,
      });
    }
  }

  deliver(message: Decoded, from: InFlightRequest | undefined): void {
    const { requests } = this.#options;
    switch (message.kind) {
      case 'batch':
        for (const item of message.items) this.deliver(item, from);
        return;
      case 'result':
      case 'error':
        return this.#answer(message, from);
      case 'invalid': {
        const request = requests.get(message.answers);
        if (request) requests.settle(request);
        return this.receiver?.receive(message);
      }
      default:
        return this.receiver?.receive(message, from?.id);
    }
  }

  /** Learns the header parameters of listed tools. Returns the result without tools that break the rules. */
  learn(message: DecodedResult): DecodedResult {
    const result = this.#options.tools.learn(message.result, (tool, why) => {
      this.#options.warn(`the tool ${JSON.stringify(tool)} was left out: ${why}`);
    });
    return result === message.result ? message : { ...message, result };
  }

  #answer(answer: DecodedResult | DecodedError, from: InFlightRequest | undefined): void {
    const { requests, session } = this.#options;
    // An error without id on the answer to a POST can only mean the request of that POST.
    const message = answer.id === undefined && from ? { ...answer, id: from.id } : answer;
    const request = requests.get(message.id);
    if (!request) return this.receiver?.receive(message);
    if (message.kind === 'error' && isFirstMismatch(message, request)) {
      request.mismatch = message;
      return;
    }
    requests.settle(request);
    const { method } = request;
    if (message.kind === 'result' && method === 'initialize') session.agreed(message.result);
    const lists = message.kind === 'result' && method === 'tools/list' && request.revision !== undefined;
    this.receiver?.receive(lists ? this.learn(message) : message);
  }
}

/** Once for each request: the second refusal is its answer. */
function isFirstMismatch({ error }: DecodedError, { mismatch, method, revision }: InFlightRequest): boolean {
  if (mismatch !== undefined || revision === undefined) return false;
  return method === 'tools/call' && error.code === ErrorCode.HeaderMismatch;
}

/** How long a stream may stay open after the answer that should end it. */
const LINGER_MS = 1000;
const MAX_RETRY_MS = 60_000;

/** Closed while the receiver wants nothing more. */
class RequestGate {
  #closed: Deferred<void> | undefined;

  hold(held: boolean): void {
    if (held) this.#closed ??= createDeferred<void>();
    else {
      this.#closed?.resolve();
      this.#closed = undefined;
    }
  }

  /** Settles when it opens; undefined while it is open. */
  passed(): Promise<void> | undefined {
    return this.#closed?.promise;
  }
}
