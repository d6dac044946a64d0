import type { Peer, RequestEnvelope, RequestFacts } from '../../exchange/call.js';
import type { InboundCall } from '../../exchange/inbound-calls.js';
import { isJsonObject, type JsonObject, type RequestId } from '../../wire/json-rpc.js';
import type { LogEntry, LoggingLevel, ProgressUpdate } from '../../wire/model.js';
import { deriveText, hasText } from '../../wire/result-text.js';
import { isInputRequired } from '../input-rounds.js';
import type { MethodFacts } from '../methods.js';
import {
  type ServerDialectContext,
  sendError,
  sendInPassing,
  sendResult,
  toWireError,
} from '../server-dialect-context.js';
import type { ModernServerState } from './server-state.js';

/** The request that a call answers at the moment. Between two rounds a call has none. */
export interface Attachment {
  readonly id: RequestId;
  readonly peer: Peer;
  /** True until the request is answered or cancelled. */
  readonly live: boolean;
  /** Gives the slot of the running call back. A second call is harmless. */
  release(): void;
  answer(result: JsonObject): void;
  refuse(thrown: unknown): void;
  progress(update: ProgressUpdate): void;
  /** `undefined`: the request did not ask for logs (LOG-002). */
  readonly logLevel: LoggingLevel | undefined;
  readonly wantsProgress: boolean;
  log(entry: LogEntry): void;
  readonly request: RequestFacts | undefined;
}

/** An attachment to one request of a connection. */
export class ConnectionAttachment implements Attachment {
  readonly inbound: InboundCall;
  readonly #side: ServerDialectContext;
  readonly #envelope: RequestEnvelope;
  readonly #method: string;
  readonly #facts: MethodFacts | undefined;
  readonly #runtime: ModernServerState;
  #released = false;

  constructor(
    side: ServerDialectContext,
    inbound: InboundCall,
    envelope: RequestEnvelope,
    method: string,
    facts: MethodFacts | undefined,
    runtime: ModernServerState,
  ) {
    this.#side = side;
    this.inbound = inbound;
    this.#envelope = envelope;
    this.#method = method;
    this.#facts = facts;
    this.#runtime = runtime;
  }

  get id(): RequestId {
    return this.inbound.id;
  }

  get peer(): Peer {
    return this.#envelope.peer;
  }

  get live(): boolean {
    return this.inbound.live;
  }

  get request(): RequestFacts | undefined {
    return this.#side.connection.factsOf?.(this.inbound.id);
  }

  get logLevel(): LogEntry['level'] | undefined {
    return this.#envelope.logLevel;
  }

  get wantsProgress(): boolean {
    return this.#envelope.progressToken !== undefined;
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#side.calls.release();
  }

  answer(result: JsonObject): void {
    const meta = result['_meta'];
    // The identity of the server that answers now: the upstream of a bridge may have changed since the request.
    const own = this.#runtime.resultMeta(this.#side.service);
    const _meta = isJsonObject(meta) ? { ...meta, ...own } : own;
    // The literal comes before the spread: the other way round costs half as much again per request.
    const complete = { resultType: 'complete', ...result, _meta };
    // RTYPE-005: other values belong to extensions, and this server declares none.
    if (!isInputRequired(complete)) complete.resultType = 'complete';
    const sent =
      this.#facts?.cacheable && complete.resultType === 'complete'
        ? { ttlMs: 0, cacheScope: 'private', ...complete }
        : complete;
    if (hasText(result)) keepText(result, sent);
    sendResult(this.#side, this.inbound, sent);
  }

  refuse(thrown: unknown): void {
    sendError(this.#side, this.inbound, toWireError(thrown, this.#method, 'modern'));
  }

  progress(update: ProgressUpdate): void {
    const { progressToken } = this.#envelope;
    if (progressToken === undefined) return;
    sendInPassing(this.#side, 'notifications/progress', { progressToken, ...update }, this.inbound.id);
  }

  /** LOG-001: only a server that declares logging logs. */
  log(entry: LogEntry): void {
    if (this.#side.service.capabilities().logging)
      sendInPassing(this.#side, 'notifications/message', { ...entry }, this.inbound.id);
  }
}

/** A large result that is passed on keeps its original text. */
function keepText(result: JsonObject, sent: JsonObject): void {
  const { resultType, ttlMs, cacheScope, _meta } = sent;
  const before = ttlMs === undefined ? { resultType } : { resultType, ttlMs, cacheScope };
  deriveText(result, sent, {
    left: ['resultType', 'ttlMs', 'cacheScope', '_meta'],
    before,
    after: { _meta },
  });
}
