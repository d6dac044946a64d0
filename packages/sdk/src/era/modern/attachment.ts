import type { ForeignNotification, Peer, RequestEnvelope, RequestFacts } from '../../exchange/call.js';
import type { InboundCall } from '../../exchange/inbound-calls.js';
import { isJsonObject, type JsonObject, type RequestId } from '../../wire/json-rpc.js';
import type { LogEntry, LoggingLevel, ProgressUpdate } from '../../wire/model.js';
import { frameResult, isAsRead } from '../../wire/passed-result.js';
import { deriveText, hasText } from '../../wire/result-text.js';
import { takesTasks } from '../extensions.js';
import { isInputRequired } from '../input-rounds.js';
import { META } from '../meta-keys.js';
import { isCacheable, type MethodFacts } from '../methods.js';
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
  notify(notification: ForeignNotification): void;
  readonly request: RequestFacts | undefined;
  /** The number of the call for a tap, while there is one. */
  readonly number: number | undefined;
  /** The request goes on with an earlier call. */
  continues(number: number): void;
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

  get number(): number | undefined {
    return this.#side.connection.tap?.numberOf(this.inbound.id);
  }

  continues(number: number): void {
    this.#side.connection.tap?.relate('to-server', this.inbound.id, number);
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
    const isKept = isCacheable(this.#method, this.#facts);
    if (isAsRead(result) && isComplete(result, own.value, isKept)) {
      return sendResult(this.#side, this.inbound, result);
    }
    const _meta = isJsonObject(meta) ? { ...meta, ...own.value } : own.value;
    // The literal comes before the spread: the other way round costs half as much again per request.
    const complete = { resultType: 'complete', ...result, _meta };
    // RTYPE-005: other values belong to extensions, and this server knows one.
    if (!isInputRequired(complete) && !this.#isTask(complete)) complete.resultType = 'complete';
    const sent =
      isKept && complete.resultType === 'complete'
        ? { ttlMs: 0, cacheScope: 'private', ...complete }
        : complete;
    if (hasText(result)) keepText(result, sent);
    else if (!isKept && isPlain(result)) frameResult(sent, result, COMPLETE, own.member);
    sendResult(this.#side, this.inbound, sent);
  }

  /** TASK-M-003, TASK-M-020: only a call of a tool becomes a task, and only for a client that takes one. */
  #isTask({ resultType }: JsonObject): boolean {
    return resultType === 'task' && this.#method === 'tools/call' && takesTasks(this.peer.capabilities);
  }

  refuse(thrown: unknown): void {
    sendError(this.#side, this.inbound, toWireError(thrown, this.#method, 'modern'));
  }

  progress(update: ProgressUpdate): void {
    const { progressToken } = this.#envelope;
    if (progressToken === undefined) return;
    sendInPassing(this.#side, 'notifications/progress', { progressToken, ...update }, this.inbound.id);
  }

  notify({ method, params }: ForeignNotification): void {
    sendInPassing(this.#side, method, params, this.inbound.id);
  }

  /** LOG-001: only a server that declares logging logs. */
  log(entry: LogEntry): void {
    if (this.#side.service.capabilities().logging)
      sendInPassing(this.#side, 'notifications/message', { ...entry }, this.inbound.id);
  }
}

/** Whether a result of a modern server has all that this server would add, with the same values. */
function isComplete(result: JsonObject, own: JsonObject, isKept: boolean): boolean {
  if (result['resultType'] !== 'complete') return false;
  if (isKept && (result['ttlMs'] === undefined || result['cacheScope'] === undefined)) return false;
  const meta = result['_meta'];
  return isJsonObject(meta) && isSame(meta[META.serverInfo], own[META.serverInfo]);
}

/** Compares plain members; others count as different. */
function isSame(a: unknown, b: unknown): boolean {
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  for (const name in a) if (a[name] !== b[name]) return false;
  for (const name in b) if (!(name in a)) return false;
  return true;
}

/** Whether all members of a result are written as they are, and none is one that this server adds. */
function isPlain(result: JsonObject): boolean {
  return (
    result['_meta'] === undefined && result['resultType'] === undefined && result['toJSON'] === undefined
  );
}

const COMPLETE = '"resultType":"complete",';

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
