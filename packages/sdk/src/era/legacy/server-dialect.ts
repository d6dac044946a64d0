import { IsthmusError, ProtocolError } from '../../errors.js';
import type { ForeignNotification, Peer, RequestFacts, ServedSession } from '../../exchange/call.js';
import type { InboundCall } from '../../exchange/inbound-calls.js';
import { instructionsOf } from '../../exchange/instructions-of.js';
import { ErrorCode } from '../../wire/error-codes.js';
import {
  type DecodedError,
  type DecodedNotification,
  type DecodedRequest,
  type DecodedResult,
  isRequestId,
  type JsonObject,
  type RequestId,
} from '../../wire/json-rpc.js';
import type {
  InputRequest,
  InputResponse,
  LogEntry,
  LoggingLevel,
  ProgressUpdate,
} from '../../wire/model.js';
import { answerRounds } from '../answer-rounds.js';
import { cannotAsk, type InputRequired, isInputRequired } from '../input-rounds.js';
import { claimsModern } from '../meta-keys.js';
import { isForeignNotification, isModernOnly, methodFacts } from '../methods.js';
import { isAtLeast, type LegacyRevision } from '../revisions.js';
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
  sendInPassing,
  sendResult,
  toWireError,
} from '../server-dialect-context.js';
import {
  type Handshake,
  projectCapabilities,
  projectImplementation,
  usableCapabilities,
  withoutNews,
} from './handshake.js';
import { projectResult } from './project-results.js';
import { LegacyServerCall, type LegacyServerSession } from './server-call.js';
import { ServerNews } from './server-news.js';
import { ServerQuestions } from './server-questions.js';

/** The server side of the legacy era: one session per connection, opened by `initialize`. */
export class LegacyServerDialect implements ServerDialect, LegacyServerSession {
  readonly era = 'legacy';
  readonly revision: LegacyRevision;
  /** `scopes` and `clientId`: of the last request that subscribed to something. */
  readonly peer: Peer & { scopes?: readonly string[] | undefined; clientId?: string | undefined };
  readonly #side: ServerDialectContext;
  readonly #questions: ServerQuestions;
  readonly #news: ServerNews;
  #hasBegun = false;
  #ownServed: ServedSession | undefined;

  constructor(side: ServerDialectContext, handshake: Handshake) {
    this.#side = side;
    this.revision = handshake.revision;
    this.peer = {
      era: 'legacy',
      revision: handshake.revision,
      info: handshake.info,
      capabilities: usableCapabilities(handshake.capabilities, handshake.revision),
      principal: side.connection.principal,
      remote: side.connection.remote,
    };
    this.#questions = new ServerQuestions(side, this.peer, this.revision);
    this.#news = new ServerNews(side, this);
  }

  learnGrant(id: InboundCall['id']): void {
    const { scopes, clientId } = this.requestOf(id) ?? {};
    Object.assign(this.peer, { scopes, clientId });
  }

  /** Answers the `initialize` that opened this session. False if the service refuses the session. */
  welcome(id: InboundCall['id']): boolean {
    const { service, connection } = this.#side;
    const declared = connection.brief ? withoutNews(service.capabilities()) : service.capabilities();
    this.learnGrant(id);
    try {
      this.#news.open(declared, this.#served());
    } catch (error) {
      refuse(this.#side, id, toWireError(error, 'initialize', 'legacy'));
      return false;
    }
    const inbound = acceptOnce(this.#side, id);
    if (!inbound) return true;
    const instructions = instructionsOf(service, this.peer);
    sendResult(this.#side, inbound, {
      protocolVersion: this.revision,
      capabilities: projectCapabilities(declared, this.revision, this.peer.principal),
      serverInfo: projectImplementation(service.info, this.revision),
      ...(instructions !== undefined && { instructions }),
    });
    return true;
  }

  request(request: DecodedRequest): void {
    if (claimsModern(request.params)) return this.#refuseModern(request);
    const inbound = acceptOnce(this.#side, request.id);
    if (!inbound) return;
    const { method } = request;
    const params = request.params ?? NO_PARAMS;
    try {
      const answer = this.#sessionMethod(method, params, request.id);
      if (answer instanceof Promise) return this.#answerLater(inbound, method, answer);
      if (answer) return sendResult(this.#side, inbound, answer);
    } catch (error) {
      return this.#fail(inbound, method, error);
    }
    const facts = methodFacts(method);
    if (isModernOnly(method) || (facts && !this.#side.service.capabilities()[facts.capability])) {
      return sendError(this.#side, inbound, methodNotFound(method));
    }
    const call = new LegacyServerCall(this, inbound, method, params, facts?.rounds ?? false);
    if (this.#side.calls.takeSlot()) this.#run(call);
    else this.#runLater(call);
  }

  #answerLater(inbound: InboundCall, method: string, answer: Promise<JsonObject>): void {
    answer.then(
      (result) => sendResult(this.#side, inbound, result),
      (error) => this.#fail(inbound, method, error),
    );
  }

  #fail(inbound: InboundCall, method: string, error: unknown): void {
    sendError(this.#side, inbound, toWireError(error, method, 'legacy'));
  }

  notification({ method, params }: DecodedNotification): void {
    switch (method) {
      case 'notifications/initialized':
        return this.#initialized();
      case 'notifications/cancelled': {
        const id = params?.['requestId'];
        const reason = params?.['reason'];
        if (isRequestId(id)) this.#side.calls.cancel(id, typeof reason === 'string' ? reason : undefined);
        return;
      }
      case 'notifications/progress': {
        const token = params?.['progressToken'];
        if (isRequestId(token)) this.#questions.extend(token);
        return;
      }
      case 'notifications/roots/list_changed':
        if (!this.#news.rootsChanged()) dropped(this.#side, 'unexpected notification', method);
        return;
      default:
        if (this.#side.service.notify && isForeignNotification(method))
          return this.#side.service.notify({ method, params: params ?? {} }, this.peer);
        dropped(this.#side, 'unexpected notification', method);
    }
  }

  response(response: DecodedResult | DecodedError): void {
    if (!this.#questions.settle(response)) dropped(this.#side, 'answer to no open request', response);
  }

  inputEnded(): void {
    this.#questions.fail(
      new IsthmusError('CONNECTION_CLOSED', 'the client closed its side and can no longer answer'),
    );
    this.retire();
  }

  drained(): void {
    this.#news.drained();
  }

  missed(): void {
    this.#news.missed();
  }

  lost(): void {
    this.#questions.fail(
      new IsthmusError(
        'CONNECTION_CLOSED',
        'another process has taken the session over, and gets the answers',
      ),
    );
    this.retire();
  }

  retire(): void {
    this.#questions.stopPinging();
    this.#news.retire();
  }

  dispose(reason: string): void {
    this.retire();
    this.#news.end();
    this.#questions.fail(new IsthmusError('CONNECTION_CLOSED', reason));
    for (const inbound of this.#side.calls.pending()) this.#side.calls.cancel(inbound.id, reason);
  }

  requestOf(id: RequestId): RequestFacts | undefined {
    return this.#side.connection.factsOf?.(id);
  }

  numberOf(id: RequestId): number | undefined {
    return this.#side.connection.tap?.numberOf(id);
  }

  progress(call: LegacyServerCall, update: ProgressUpdate): void {
    const { progressToken } = call;
    if (progressToken === undefined) return;
    const { message, ...plain } = update;
    const said = message !== undefined && isAtLeast(this.revision, '2025-03-26');
    const params = { progressToken, ...plain, ...(said && { message }) };
    sendInPassing(this.#side, 'notifications/progress', params, call.id);
  }

  log(call: LegacyServerCall, entry: LogEntry): void {
    this.#news.log(entry, call.id);
  }

  notify(call: LegacyServerCall, { method, params }: ForeignNotification): void {
    sendInPassing(this.#side, method, params, call.id);
  }

  ask(call: LegacyServerCall, request: InputRequest, signal: AbortSignal): Promise<InputResponse> {
    return this.#questions.ask(request, signal, call.id);
  }

  get awaitsPeer(): boolean {
    return this.#questions.open;
  }

  get logLevel(): LoggingLevel | undefined {
    return this.#news.logLevel;
  }

  #initialized(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#questions.begin();
    this.#news.begin();
  }

  /** For calls that outlive their request. */
  get served(): ServedSession {
    this.#ownServed ??= this.#served();
    return this.#ownServed;
  }

  /** The session for a service that keeps something for it. */
  #served(): ServedSession {
    const { connection } = this.#side;
    return {
      peer: this.peer,
      isReachable: () =>
        this.#hasBegun &&
        !this.#news.isRetired &&
        !connection.brief &&
        !connection.isOver &&
        (connection.hasStanding ?? true),
      log: (entry) => this.#news.log(entry, undefined),
      ask: (request, signal) => this.#questions.ask(request, signal, undefined),
      changed: (change) => this.#news.publish(change),
      notify: ({ method, params }) => sendInPassing(this.#side, method, params, undefined),
      elicited: (elicitationId) => {
        if (!isAtLeast(this.revision, '2025-11-25')) return;
        sendInPassing(this.#side, 'notifications/elicitation/complete', { elicitationId }, undefined);
      },
      end: () => connection.close(),
    };
  }

  /** Methods of the session itself, which never reach the service. */
  #sessionMethod(
    method: string,
    params: JsonObject,
    id: RequestId,
  ): JsonObject | Promise<JsonObject> | undefined {
    switch (method) {
      case 'initialize':
        throw new ProtocolError(ErrorCode.InvalidRequest, 'This connection is already initialized');
      case 'ping':
        return {};
      case 'logging/setLevel':
        return this.#news.setLogLevel(params);
      case 'resources/subscribe':
      case 'resources/unsubscribe':
        return this.#news.subscribe(method, params, id);
      default:
        return undefined;
    }
  }

  /** An error, not a legacy answer: a modern client would not recognise that. */
  #refuseModern({ id, method }: DecodedRequest): void {
    refuse(this.#side, id, {
      code: ErrorCode.InvalidRequest,
      message: `${method} carries a modern envelope, but this connection was opened with initialize (${this.revision})`,
    });
  }

  #runLater(call: LegacyServerCall): void {
    const isQueued = this.#side.calls.enqueue(call.inbound, () => this.#run(call));
    if (!isQueued) this.#fail(call.inbound, call.method, busy(this.#side));
  }

  #run(call: LegacyServerCall): void {
    call.inbound.running = call;
    runCall(this.#side.service, call);
  }

  completed(call: LegacyServerCall, result: JsonObject): void {
    if (!isInputRequired(result)) return this.#answer(call, result);
    if (!call.mayAsk) throw cannotAsk(call.method);
    this.#askRounds(call, result);
  }

  failed(call: LegacyServerCall, thrown: unknown): void {
    if (call.end()) this.#side.calls.release();
    if (call.inbound.live) this.#fail(call.inbound, call.method, thrown);
  }

  #answer(call: LegacyServerCall, result: JsonObject): void {
    if (call.end()) this.#side.calls.release();
    const { inbound, method } = call;
    if (inbound.live) sendResult(this.#side, inbound, projectResult(method, result, this.revision));
  }

  #askRounds(call: LegacyServerCall, first: InputRequired): void {
    const { service, settings } = this.#side;
    answerRounds((again) => service.handle(again), call, settings.clock, first)
      .then((result) => this.#answer(call, result))
      .catch((error) => this.failed(call, error));
  }
}

const NO_PARAMS: JsonObject = Object.freeze({});
