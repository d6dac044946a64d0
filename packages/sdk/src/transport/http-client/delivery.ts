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
  readonly flights: InFlightRequests;
  readonly session: LegacyClientSession;
  readonly tools: ToolHeaders;
  warn(warning: string): void;
}

/** Hands messages over to the receiver, and takes note of what they tell about flights, session and tools. */
export class Delivery {
  receiver: Receiver | undefined;
  readonly gate = new RequestGate();
  readonly #options: DeliveryOptions;

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  /** How the answer to a flight, or a stream that belongs to none, is read. */
  reading(flight: InFlightRequest | undefined, cursor: StreamCursor, retryAfterMs?: number): Reading {
    const { label, maxBytes } = this.#options;
    return {
      label,
      maxBytes,
      retryAfterMs,
      onMessage: (message) => this.deliver(message, flight),
      onEvent: (event) => this.event(event, flight, cursor),
      onRetry: (ms) => {
        cursor.retryMs = Math.min(ms, MAX_RETRY_MS);
      },
      ready: () => this.gate.passed(),
    };
  }

  event(event: EventSourceMessage, flight?: InFlightRequest, cursor?: StreamCursor): void {
    cursor?.at(event.id);
    // The empty event that only brings an id (2025-11-25), and events of other kinds.
    if (event.data === '' || (event.event !== undefined && event.event !== 'message')) return;
    if (flight?.calledOff) return;
    this.deliver(decodeEvent(event), flight);
    // The server should end the stream now; one that does not is not waited for.
    if (flight && !flight.live) {
      flight.lingering ??= this.#options.clock.after(LINGER_MS, () => flight.abort(), { background: true });
    }
  }

  deliver(message: Decoded, from: InFlightRequest | undefined): void {
    const { flights } = this.#options;
    switch (message.kind) {
      case 'batch':
        for (const item of message.items) this.deliver(item, from);
        return;
      case 'result':
      case 'error':
        return this.#answer(message, from);
      case 'invalid': {
        const flight = flights.of(message.answers);
        if (flight) flights.land(flight);
        return this.receiver?.receive(message);
      }
      default:
        return this.receiver?.receive(message, from?.id);
    }
  }

  learn(message: DecodedResult): DecodedResult {
    const result = this.#options.tools.learn(message.result, (tool, why) => {
      this.#options.warn(`the tool ${JSON.stringify(tool)} was left out: ${why}`);
    });
    return result === message.result ? message : { ...message, result };
  }

  #answer(answer: DecodedResult | DecodedError, from: InFlightRequest | undefined): void {
    const { flights, session } = this.#options;
    // Over HTTP an error without id has only one request that it can mean.
    const message = answer.id === undefined && from ? { ...answer, id: from.id } : answer;
    const flight = flights.of(message.id);
    if (!flight) return this.receiver?.receive(message);
    if (message.kind === 'error' && isFirstMismatch(message, flight)) {
      flight.mismatch = message;
      return;
    }
    flights.land(flight);
    const { method } = flight.request;
    if (message.kind === 'result' && method === 'initialize') session.agreed(message.result);
    const lists = message.kind === 'result' && method === 'tools/list' && flight.revision !== undefined;
    this.receiver?.receive(lists ? this.learn(message) : message);
  }
}

/** Once for each flight: the second refusal is the answer. */
function isFirstMismatch({ error }: DecodedError, { mismatch, request, revision }: InFlightRequest): boolean {
  if (mismatch !== undefined || revision === undefined) return false;
  return request.method === 'tools/call' && error.code === ErrorCode.HeaderMismatch;
}

/** How long a stream may stay open after the answer that should end it. */
const LINGER_MS = 1000;
const MAX_RETRY_MS = 60_000;

/** Closed while the receiver has enough to do. */
class RequestGate {
  #closed: Deferred<void> | undefined;

  hold(held: boolean): void {
    if (held) this.#closed ??= createDeferred<void>();
    else {
      this.#closed?.resolve();
      this.#closed = undefined;
    }
  }

  /** Nothing to wait for while it is open. */
  passed(): Promise<void> | undefined {
    return this.#closed?.promise;
  }
}
