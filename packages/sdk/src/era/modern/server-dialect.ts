import { ProtocolError } from '../../errors.js';
import type { Peer } from '../../exchange/call.js';
import type { InboundCall } from '../../exchange/inbound-calls.js';
import { ErrorCode } from '../../wire/error-codes.js';
import {
  type DecodedError,
  type DecodedNotification,
  type DecodedRequest,
  type DecodedResult,
  isJsonObject,
  isRequestId,
  type JsonObject,
  type RequestId,
} from '../../wire/json-rpc.js';
import type { InputResponses, LogEntry, ProgressUpdate } from '../../wire/model.js';
import { deriveText, hasText } from '../../wire/result-text.js';
import { isInputRequired } from '../input-rounds.js';
import { isLegacyOnly, type MethodFacts, methodFacts } from '../methods.js';
import { MODERN_REVISIONS } from '../revisions.js';
import {
  acceptOnce,
  busy,
  dropped,
  methodNotFound,
  refuse,
  type ServerDialect,
  type ServerDialectContext,
  sendError,
  sendInPassing,
  sendResult,
  settleWith,
  toWireError,
} from '../server-dialect-context.js';
import { readEnvelope, tooLateForSession, unsupportedVersion, type ValidEnvelope } from './envelope.js';
import { Listens } from './listens.js';
import { tooManyParked } from './parked-calls.js';
import { digestRequest } from './sealed-state.js';
import { type Attachment, ModernServerCall } from './server-call.js';
import type { ModernServerState } from './server-state.js';

/** The modern era, serving: nothing is remembered from one request to the next but what the request names. */
export class ModernServerDialect implements ServerDialect {
  readonly era = 'modern';
  readonly revision = undefined;
  readonly awaitsPeer = false;
  readonly #side: ServerDialectContext;
  readonly #runtime: ModernServerState;
  /** Made by the first subscription; over HTTP most connections have none. */
  #listens: Listens | undefined;

  constructor(side: ServerDialectContext, runtime: ModernServerState) {
    this.#side = side;
    this.#runtime = runtime;
  }

  /** Almost every result carries just this. Built once, for as long as the service is what it was. */
  get #resultMeta(): JsonObject {
    return this.#runtime.resultMeta(this.#side.service);
  }

  request(request: DecodedRequest): void {
    if (request.method === 'initialize') {
      const requested = String(request.params?.['protocolVersion'] ?? '');
      const { eras } = this.#side.settings;
      const error = eras.includes('legacy') ? tooLateForSession(requested) : unsupportedVersion(requested);
      return refuse(this.#side, request.id, error);
    }
    const { principal, remote } = this.#side.connection;
    const envelope = readEnvelope(request.params, principal, remote);
    if (envelope.kind === 'refused') return refuse(this.#side, request.id, envelope.error);
    this.accepted(request, envelope);
  }

  /** A request whose envelope was read and found valid. */
  accepted(request: DecodedRequest, envelope: ValidEnvelope): void {
    const inbound = acceptOnce(this.#side, request.id);
    if (!inbound) return;
    const { method } = request;
    const params = request.params!;
    if (method === 'server/discover') return sendResult(this.#side, inbound, this.#discovery());
    if (method === 'subscriptions/listen') return this.#listen(inbound, params, envelope.peer);
    const facts = methodFacts(method);
    if (isLegacyOnly(method) || (facts && !this.#side.service.capabilities()[facts.capability])) {
      return sendError(this.#side, inbound, methodNotFound(method));
    }
    const at = new StreamAttachment(this.#side, inbound, envelope, method, facts, this.#runtime);
    const admitted = this.#side.calls.admit(inbound, () => this.#run(method, params, facts, at));
    if (!admitted) sendError(this.#side, inbound, toWireError(busy(this.#side), method, 'modern'));
  }

  notification({ method, params }: DecodedNotification): void {
    const id = params?.['requestId'];
    if (method !== 'notifications/cancelled' || !isRequestId(id))
      return dropped(this.#side, 'unexpected notification', method);
    const reason = params?.['reason'];
    this.#side.calls.cancel(id, typeof reason === 'string' ? reason : undefined);
  }

  /** JRPC-014: a modern client sends none; there is nothing it could answer. */
  response(response: DecodedResult | DecodedError): void {
    dropped(this.#side, 'unexpected response', response);
  }

  inputEnded(): void {
    this.retire();
  }

  drained(): void {
    this.#listens?.drained();
  }

  retire(): void {
    for (const { inbound, result } of this.#listens?.closeAll() ?? []) this.#closing(inbound, result);
  }

  dispose(reason: string): void {
    this.#listens?.closeAll();
    for (const inbound of this.#side.calls.pending()) this.#side.calls.cancel(inbound.id, reason);
  }

  #run(method: string, params: JsonObject, facts: MethodFacts | undefined, at: StreamAttachment): void {
    const mayAsk = facts?.rounds ?? false;
    if (mayAsk && (params['requestState'] !== undefined || params['inputResponses'] !== undefined)) {
      void this.#retry(method, params, at);
      return;
    }
    this.#start({ method, params, mayAsk, answers: undefined, state: undefined }, at);
  }

  #start(request: ConstructorParameters<typeof ModernServerCall>[1], at: StreamAttachment): void {
    const call = new ModernServerCall(this.#runtime, request, at);
    at.inbound.running = call;
    settleWith(
      () => this.#side.service.handle(call),
      (result) => call.complete(result),
      (thrown) => call.fail(thrown),
    );
  }

  /** The next round of an earlier request: wakes the parked handler, or runs a replaying one again. */
  async #retry(method: string, params: JsonObject, at: StreamAttachment): Promise<void> {
    try {
      const answers = readAnswers(params['inputResponses']);
      const text = params['requestState'];
      if (text === undefined) {
        return this.#start({ method, params, mayAsk: true, answers, state: undefined }, at);
      }
      if (typeof text !== 'string') throw badState('must be a string');
      const binding = { digest: digestRequest(method, params), principal: at.peer.principal };
      const state = await this.#runtime.seal.open(text, binding, this.#side.settings.clock.now());
      if (!state) throw badState('was altered, has expired or belongs to another request');
      if (!at.live) return at.release();
      if (state.kind === 'replay') {
        return this.#start({ method, params, mayAsk: true, answers, state: state.value }, at);
      }
      if (state.home !== this.#runtime.home) throw badState(ELSEWHERE);
      const call = this.#runtime.parked.find(state.id);
      if (!call) throw this.#gone(state.id);
      call.checkRetry(answers, at.peer.capabilities);
      this.#runtime.parked.leave(state.id);
      at.inbound.running = call;
      call.resume(at, answers);
    } catch (error) {
      at.release();
      at.refuse(error);
    }
  }

  #gone(id: string): ProtocolError {
    const { parked, settings } = this.#runtime;
    if (!parked.wasDisplaced(id)) return badState('was used already, or its call is gone');
    return badState(`is of no use any more: ${tooManyParked(settings.maxParked)}`);
  }

  #listen(inbound: InboundCall, params: JsonObject, peer: Peer): void {
    const fail = (error: unknown) =>
      sendError(this.#side, inbound, toWireError(error, 'subscriptions/listen', 'modern'));
    try {
      const { connection, service, settings } = this.#side;
      this.#listens ??= new Listens(connection, service, settings.maxListens, (ended, result) =>
        this.#closing(ended, result),
      );
      this.#listens.open(inbound, params, peer)?.catch(fail);
    } catch (error) {
      fail(error);
    }
  }

  #closing(inbound: InboundCall, result: { readonly _meta: JsonObject }): void {
    const _meta = { ...this.#resultMeta, ...result._meta };
    sendResult(this.#side, inbound, { resultType: 'complete', _meta });
  }

  #discovery(): JsonObject {
    const { service } = this.#side;
    return {
      resultType: 'complete',
      supportedVersions: MODERN_REVISIONS,
      capabilities: service.capabilities(),
      ...(service.instructions !== undefined && { instructions: service.instructions }),
      ttlMs: service.discoveryCache?.ttlMs ?? 0,
      cacheScope: service.discoveryCache?.cacheScope ?? 'private',
      _meta: this.#resultMeta,
    };
  }
}

/** A call's hold on one request of a byte stream. */
class StreamAttachment implements Attachment {
  readonly inbound: InboundCall;
  readonly #side: ServerDialectContext;
  readonly #envelope: ValidEnvelope;
  readonly #method: string;
  readonly #facts: MethodFacts | undefined;
  readonly #runtime: ModernServerState;
  #released = false;

  constructor(
    side: ServerDialectContext,
    inbound: InboundCall,
    envelope: ValidEnvelope,
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
    // Of whoever answers now: what stands behind a bridge may be another than when it was asked.
    const own = this.#runtime.resultMeta(this.#side.service);
    const _meta = isJsonObject(meta) ? { ...meta, ...own } : own;
    // The literal comes before the spread: the other way round costs half as much again per request.
    const complete = { resultType: 'complete', ...result, _meta };
    // RTYPE-005: other values belong to extensions, and none is declared here.
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

/** A large result that was handed on is not written anew. */
function keepText(result: JsonObject, sent: JsonObject): void {
  const { resultType, ttlMs, cacheScope, _meta } = sent;
  const before = ttlMs === undefined ? { resultType } : { resultType, ttlMs, cacheScope };
  deriveText(result, sent, {
    left: ['resultType', 'ttlMs', 'cacheScope', '_meta'],
    before,
    after: { _meta },
  });
}

/** MRTR-025: malformed answers are an error; surplus ones are ignored later. */
function readAnswers(value: unknown): InputResponses {
  if (value === undefined) return {};
  if (!isJsonObject(value))
    throw new ProtocolError(ErrorCode.InvalidParams, 'inputResponses must be an object');
  for (const [key, answer] of Object.entries(value)) {
    if (isJsonObject(answer)) continue;
    throw new ProtocolError(
      ErrorCode.InvalidParams,
      `inputResponses[${JSON.stringify(key)}] must be an object`,
    );
  }
  return value as InputResponses;
}

/** Where replicas share a key, and the one with the handler has not been asked (or has been started anew). */
const ELSEWHERE =
  'belongs to a call that waits in another process. Only that one can go on with it: send all rounds of a call to the same replica, or make the call again';

function badState(why: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, `requestState ${why}`);
}
