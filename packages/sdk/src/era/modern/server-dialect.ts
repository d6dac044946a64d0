import { ProtocolError } from '../../errors.js';
import type { Peer, RequestEnvelope } from '../../exchange/call.js';
import type { InboundCall } from '../../exchange/inbound-calls.js';
import { instructionsOf } from '../../exchange/instructions-of.js';
import { ErrorCode } from '../../wire/error-codes.js';
import {
  type DecodedError,
  type DecodedNotification,
  type DecodedRequest,
  type DecodedResult,
  isJsonObject,
  isRequestId,
  type JsonObject,
} from '../../wire/json-rpc.js';
import type { InputResponses } from '../../wire/model.js';
import { isForeignNotification, isLegacyOnly, type MethodFacts, methodFacts } from '../methods.js';
import { MODERN_REVISIONS } from '../revisions.js';
import {
  acceptOnce,
  busy,
  dropped,
  methodNotFound,
  refuse,
  runCall,
  type ServerDialect,
  type ServerDialectContext,
  sendError,
  sendResult,
  toWireError,
} from '../server-dialect-context.js';
import { ConnectionAttachment } from './attachment.js';
import { notifier, readEnvelope, tooLateForSession, unsupportedVersion } from './envelope.js';
import { Listens } from './listens.js';
import { tooManyParked } from './parked-calls.js';
import { digestRequest } from './sealed-state.js';
import { ModernServerCall } from './server-call.js';
import type { ModernServerState } from './server-state.js';

/** The server side of the modern era: requests are stateless, except that a request may name a parked call. */
export class ModernServerDialect implements ServerDialect {
  readonly era = 'modern';
  readonly revision = undefined;
  readonly awaitsPeer = false;
  readonly #side: ServerDialectContext;
  readonly #runtime: ModernServerState;
  /** Created by the first subscription; over HTTP most connections have none. */
  #listens: Listens | undefined;

  constructor(side: ServerDialectContext, runtime: ModernServerState) {
    this.#side = side;
    this.#runtime = runtime;
  }

  /** The `_meta` of almost every result; built once per service. */
  get #resultMeta(): JsonObject {
    return this.#runtime.resultMeta(this.#side.service).value;
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

  /** Handles a request whose envelope is valid. */
  accepted(request: DecodedRequest, envelope: RequestEnvelope): void {
    const inbound = acceptOnce(this.#side, request.id);
    if (!inbound) return;
    const { method } = request;
    const params = request.params!;
    if (method === 'server/discover') return this.#discover(inbound, envelope.peer);
    if (method === 'subscriptions/listen') return this.#listen(inbound, params, envelope.peer);
    const facts = methodFacts(method);
    if (isLegacyOnly(method) || (facts && !this.#side.service.capabilities()[facts.capability])) {
      return sendError(this.#side, inbound, methodNotFound(method));
    }
    const at = new ConnectionAttachment(this.#side, inbound, envelope, method, facts, this.#runtime);
    if (this.#side.calls.takeSlot()) this.#run(method, params, facts, at);
    else this.#runLater(method, params, facts, at);
  }

  #runLater(
    method: string,
    params: JsonObject,
    facts: MethodFacts | undefined,
    at: ConnectionAttachment,
  ): void {
    const isQueued = this.#side.calls.enqueue(at.inbound, () => this.#run(method, params, facts, at));
    if (!isQueued) at.refuse(busy(this.#side));
  }

  notification({ method, params }: DecodedNotification): void {
    const id = params?.['requestId'];
    const { service, connection } = this.#side;
    if (service.notify && isForeignNotification(method))
      return service.notify(
        { method, params: params ?? {} },
        notifier(params, connection.principal, connection.remote),
      );
    if (method !== 'notifications/cancelled' || !isRequestId(id))
      return dropped(this.#side, 'unexpected notification', method);
    const reason = params?.['reason'];
    this.#side.calls.cancel(id, typeof reason === 'string' ? reason : undefined);
  }

  /** JRPC-014: a modern client must not send responses, since the server sends no requests. */
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

  #run(method: string, params: JsonObject, facts: MethodFacts | undefined, at: ConnectionAttachment): void {
    const mayAsk = facts?.rounds ?? false;
    if (mayAsk && (params['requestState'] !== undefined || params['inputResponses'] !== undefined)) {
      void this.#retry(method, params, at);
      return;
    }
    runCall(
      this.#side.service,
      this.#begin({ method, params, mayAsk, answers: undefined, state: undefined }, at),
    );
  }

  #begin(
    request: ConstructorParameters<typeof ModernServerCall>[1],
    at: ConnectionAttachment,
  ): ModernServerCall {
    const call = new ModernServerCall(this.#runtime, request, at);
    at.inbound.running = call;
    return call;
  }

  /** The next round of an earlier request: resumes the parked call, or runs a replaying handler again. */
  async #retry(method: string, params: JsonObject, at: ConnectionAttachment): Promise<void> {
    try {
      const answers = readAnswers(params['inputResponses']);
      const text = params['requestState'];
      if (text === undefined) {
        const first = { method, params, mayAsk: true, answers, state: undefined };
        return runCall(this.#side.service, this.#begin(first, at));
      }
      if (typeof text !== 'string') throw badState('must be a string');
      const binding = { digest: digestRequest(method, params), principal: at.peer.principal };
      const state = await this.#runtime.seal.open(text, binding, this.#side.settings.clock.now());
      if (!state) throw badState('was altered, has expired or belongs to another request');
      if (!at.live) return at.release();
      if (state.kind === 'replay') {
        const next = { method, params, mayAsk: true, answers, state: state.value };
        return runCall(this.#side.service, this.#begin(next, at));
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
    if (!parked.wasDisplaced(id)) return badState('was used already, or its call has ended');
    return badState(`is no longer valid: ${tooManyParked(settings.maxParked)}`);
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

  #discover(inbound: InboundCall, peer: Peer): void {
    const { service, connection } = this.#side;
    const { scopes, clientId } = connection.factsOf?.(inbound.id) ?? {};
    const instructions = instructionsOf(service, { ...peer, scopes, clientId });
    // TASK-M-013: the capability for tasks belongs to 2025-11-25. Here tasks are an extension.
    const { tasks, ...capabilities } = service.capabilities();
    sendResult(this.#side, inbound, {
      resultType: 'complete',
      supportedVersions: MODERN_REVISIONS,
      capabilities,
      ...(instructions !== undefined && { instructions }),
      ttlMs: service.discoveryCache?.ttlMs ?? 0,
      cacheScope: service.discoveryCache?.cacheScope ?? 'private',
      _meta: this.#resultMeta,
    });
  }
}

/** MRTR-025: malformed answers are an error; superfluous ones are ignored later. */
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

/** Replicas share the key, and the request reached another one than the replica with the call, or that was restarted. */
const ELSEWHERE =
  'belongs to a call that waits in another process, or in one that has ended, and only that process can continue it: send all rounds of a call to the same replica, or make the call again';

function badState(why: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, `requestState ${why}`);
}
