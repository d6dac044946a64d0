import { randomUUID } from 'node:crypto';
import { IsthmusError, messageOf, ProtocolError } from '../../errors.js';
import { events } from '../../events.js';
import type { Change, Peer } from '../../exchange/call.js';
import type { InboundCall } from '../../exchange/inbound-calls.js';
import { OutboundRequests } from '../../exchange/outbound-requests.js';
import { ErrorCode } from '../../wire/error-codes.js';
import {
  type DecodedError,
  type DecodedNotification,
  type DecodedRequest,
  type DecodedResult,
  errorMessage,
  isJsonObject,
  isRequestId,
  type JsonObject,
  notificationMessage,
  type RequestId,
  requestMessage,
} from '../../wire/json-rpc.js';
import type {
  InputRequest,
  InputResponse,
  LogEntry,
  LoggingLevel,
  ProgressUpdate,
  ServerCapabilities,
} from '../../wire/model.js';
import { capabilityNames, missingCapability } from '../client-capabilities.js';
import type { ServerDialect } from '../dialect.js';
import { answerProblem } from '../input-rounds.js';
import { isLoggingLevel, reaches } from '../log-levels.js';
import { claimsModern } from '../meta-keys.js';
import { isModernOnly, methodFacts } from '../methods.js';
import { isAtLeast, type LegacyRevision } from '../revisions.js';
import {
  acceptOnce,
  busy,
  methodNotFound,
  type ServingSide,
  sendError,
  sendResult,
  settleWith,
} from '../serving-side.js';
import { toWireError } from '../wire-error.js';
import type { Handshake } from './handshake.js';
import { projectQuestion, usableCapabilities } from './project-questions.js';
import { projectCapabilities, projectImplementation, projectResult } from './project-results.js';
import { runRounds } from './replay-rounds.js';
import { LegacyServerCall, type LegacySession } from './server-call.js';

/** The legacy era, serving: one session per connection, opened by `initialize`. */
export class LegacyServerDialect implements ServerDialect, LegacySession {
  readonly era = 'legacy';
  readonly revision: LegacyRevision;
  readonly peer: Peer;
  readonly #side: ServingSide;
  readonly #asked: OutboundRequests;
  readonly #subscribed = new Set<string>();
  /** Changes that wait for room in the output, by what they are about. */
  readonly #overdue = new Map<string, Change>();
  /** INIT-012: what was not declared in the handshake is not used in the session. */
  #declared: ServerCapabilities | undefined;
  /** LOG-011: until the client sets a level the server chooses. */
  #logLevel: LoggingLevel = 'info';
  #ready = false;
  /** INIT-006: questions wait until the client has said `initialized`. */
  readonly #heldBack = new Map<RequestId, () => void>();
  #unwatch: (() => void) | undefined;
  #stopPinging: () => void = () => {};

  constructor(side: ServingSide, handshake: Handshake) {
    this.#side = side;
    this.revision = handshake.revision;
    this.peer = {
      era: 'legacy',
      revision: handshake.revision,
      info: handshake.info,
      capabilities: usableCapabilities(handshake.capabilities, handshake.revision),
      principal: side.connection.principal,
    };
    this.#asked = new OutboundRequests(side.settings.clock);
  }

  /** Answers the `initialize` that opened this session. */
  welcome(id: InboundCall['id']): void {
    const inbound = acceptOnce(this.#side, id);
    if (!inbound) return;
    const { service } = this.#side;
    this.#declared = service.capabilities();
    sendResult(this.#side, inbound, {
      protocolVersion: this.revision,
      capabilities: projectCapabilities(this.#declared, this.revision),
      serverInfo: projectImplementation(service.info, this.revision),
      ...(service.instructions !== undefined && { instructions: service.instructions }),
    });
  }

  request(request: DecodedRequest): void {
    if (claimsModern(request.params)) return this.#refuseModern(request);
    const inbound = acceptOnce(this.#side, request.id);
    if (!inbound) return;
    const { method } = request;
    const params = request.params ?? NO_PARAMS;
    try {
      const answer = this.#sessionMethod(method, params);
      if (answer) return sendResult(this.#side, inbound, answer);
    } catch (error) {
      return sendError(this.#side, inbound, toWireError(error, method, 'legacy'));
    }
    const facts = methodFacts(method);
    if (isModernOnly(method) || (facts && !this.#side.service.capabilities()[facts.capability])) {
      return sendError(this.#side, inbound, methodNotFound(method));
    }
    const admitted = this.#side.calls.admit(inbound, () =>
      this.#run(inbound, method, params, facts?.rounds ?? false),
    );
    if (!admitted) sendError(this.#side, inbound, toWireError(busy(this.#side.settings), method, 'legacy'));
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
        if (isRequestId(token)) this.#asked.extend(token);
        return;
      }
      default:
        this.#drop('unexpected notification', method);
    }
  }

  response(response: DecodedResult | DecodedError): void {
    if (!this.#asked.settle(response)) this.#drop('answer to no open request', response);
  }

  inputEnded(): void {
    this.#asked.fail(
      new IsthmusError('CONNECTION_CLOSED', 'the client closed its side and can no longer answer'),
    );
    this.retire();
  }

  drained(): void {
    const overdue = [...this.#overdue.values()];
    this.#overdue.clear();
    for (const change of overdue) this.#publish(change);
  }

  retire(): void {
    this.#stopPinging();
    this.#unwatch?.();
    this.#unwatch = undefined;
  }

  dispose(reason: string): void {
    this.retire();
    this.#asked.fail(new IsthmusError('CONNECTION_CLOSED', reason));
    for (const inbound of this.#side.calls.pending()) this.#side.calls.cancel(inbound.id, reason);
  }

  progress(call: LegacyServerCall, update: ProgressUpdate): void {
    const meta = call.params['_meta'];
    const progressToken = isJsonObject(meta) ? meta['progressToken'] : undefined;
    if (!isRequestId(progressToken)) return;
    const { message, ...plain } = update;
    const said = message !== undefined && isAtLeast(this.revision, '2025-03-26');
    this.#notify('notifications/progress', { progressToken, ...plain, ...(said && { message }) });
  }

  log(entry: LogEntry): void {
    if (this.#declared?.logging && reaches(entry.level, this.#logLevel))
      this.#notify('notifications/message', { ...entry });
  }

  /** Sends a real request to the client; the caller's signal calls it off. */
  async ask(request: InputRequest, signal: AbortSignal): Promise<InputResponse> {
    const { method } = request;
    const missing = missingCapability(request, this.peer.capabilities);
    if (missing) {
      throw new IsthmusError('CAPABILITY_MISSING', `The client did not declare ${capabilityNames(missing)}`);
    }
    const question = projectQuestion(request, this.revision, randomUUID);
    if (question.kind === 'inexpressible') throw new IsthmusError('CAPABILITY_MISSING', question.why);
    const answer = await this.#request(
      method,
      question.params,
      this.#side.settings.askTimeoutMs,
      signal,
    ).catch((error: unknown) => {
      throw error instanceof ProtocolError ? refusedByPeer(method, error) : error;
    });
    const problem = answerProblem(request, answer);
    if (problem !== undefined) {
      throw new ProtocolError(ErrorCode.InvalidParams, `The client's answer to ${method} ${problem}`);
    }
    return answer as InputResponse;
  }

  get awaitsPeer(): boolean {
    return this.#asked.size > 0;
  }

  #initialized(): void {
    if (this.#ready) return;
    this.#ready = true;
    this.#unwatch = this.#side.service.watch((change) => this.#publish(change));
    this.#startPinging();
    for (const send of this.#heldBack.values()) send();
    this.#heldBack.clear();
  }

  /** Methods that concern the session itself and never reach the service. */
  #sessionMethod(method: string, params: JsonObject): JsonObject | undefined {
    switch (method) {
      case 'initialize':
        throw new ProtocolError(ErrorCode.InvalidRequest, 'This connection is already initialized');
      case 'ping':
        return {};
      case 'logging/setLevel':
        this.#requireCapability(method, this.#side.service.capabilities().logging);
        if (!isLoggingLevel(params['level'])) {
          throw new ProtocolError(ErrorCode.InvalidParams, 'level must be one of debug … emergency');
        }
        this.#logLevel = params['level'];
        return {};
      case 'resources/subscribe':
      case 'resources/unsubscribe': {
        this.#requireCapability(method, this.#side.service.capabilities().resources?.subscribe);
        const uri = params['uri'];
        if (typeof uri !== 'string') throw new ProtocolError(ErrorCode.InvalidParams, 'uri must be a string');
        if (method === 'resources/subscribe') this.#subscribed.add(uri);
        else this.#subscribed.delete(uri);
        return {};
      }
      default:
        return undefined;
    }
  }

  /** Explicit, never a silent downgrade: a modern client would not recognise a legacy answer. */
  #refuseModern({ id, method }: DecodedRequest): void {
    const error = {
      code: ErrorCode.InvalidRequest,
      message: `${method} carries a modern envelope, but this connection was opened with initialize (${this.revision})`,
    };
    const { connection } = this.#side;
    if (events.refused.hasSubscribers) events.refused.publish({ connection: connection.label, id, error });
    connection.send(errorMessage(id, error));
  }

  #requireCapability(method: string, capability: unknown): void {
    if (!capability) throw new ProtocolError(ErrorCode.MethodNotFound, `Method not found: ${method}`);
  }

  #run(inbound: InboundCall, method: string, params: JsonObject, mayAsk: boolean): void {
    const { service, calls, settings } = this.#side;
    const call = new LegacyServerCall(this, method, params);
    inbound.onCancel = (reason) => call.cancel(reason);
    let finished = false;
    const finish = () => {
      if (finished) return;
      finished = true;
      call.end();
      calls.release();
    };
    settleWith(
      () => runRounds(service, call, mayAsk, settings.clock),
      (result) => {
        finish();
        if (inbound.live) sendResult(this.#side, inbound, projectResult(method, result, this.revision));
      },
      (thrown) => {
        finish();
        if (inbound.live) sendError(this.#side, inbound, toWireError(thrown, method, 'legacy'));
      },
    );
  }

  #publish(change: Change): void {
    if (change.kind === 'resource' ? !this.#subscribed.has(change.uri) : !this.#declared?.[change.kind])
      return;
    if (this.#side.connection.congested) {
      this.#overdue.set(change.kind === 'resource' ? `resource ${change.uri}` : change.kind, change);
      return;
    }
    this.#side.connection.send(
      change.kind === 'resource'
        ? notificationMessage('notifications/resources/updated', { uri: change.uri })
        : notificationMessage(`notifications/${change.kind}/list_changed`),
    );
  }

  /** Progress and logs are for the moment; when the peer does not read they are not worth its memory. */
  #notify(method: string, params: JsonObject): void {
    const { connection } = this.#side;
    if (connection.congested) return this.#drop('the peer does not read', params);
    try {
      connection.send(notificationMessage(method, params));
    } catch (error) {
      this.#drop(messageOf(error), params);
    }
  }

  #request(
    method: string,
    params: JsonObject | undefined,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<JsonObject> {
    const { connection, calls } = this.#side;
    return this.#asked.request({
      what: method,
      timeoutMs,
      signal,
      send: (id) => {
        // The id doubles as progress token, so that a client at work can ask for more time.
        const meta = params?.['_meta'];
        const _meta = { ...(isJsonObject(meta) && meta), progressToken: id };
        const send = () => connection.send(requestMessage(id, method, { ...params, _meta }));
        if (this.#ready) send();
        else this.#heldBack.set(id, send);
        calls.reviewInput();
      },
      giveUp: (requestId, reason) => {
        if (this.#heldBack.delete(requestId)) return;
        connection.send(notificationMessage('notifications/cancelled', { requestId, reason }));
      },
    });
  }

  /** PING-002, PING-003: an idle peer that no longer answers is let go. */
  #startPinging(): void {
    const { settings, connection } = this.#side;
    if (settings.pingIntervalMs <= 0) return;
    const next = () => {
      if (this.#unwatch)
        this.#stopPinging = settings.clock.after(settings.pingIntervalMs, ping, { background: true });
    };
    const ping = () => {
      this.#request('ping', undefined, settings.pingIntervalMs).then(next, (error: unknown) => {
        if (error instanceof IsthmusError && error.code === 'TIMED_OUT') connection.close();
        else if (error instanceof ProtocolError) next();
      });
    };
    next();
  }

  #drop(why: string, message: unknown): void {
    if (events.dropped.hasSubscribers) {
      events.dropped.publish({ connection: this.#side.connection.label, why, message });
    }
  }
}

const NO_PARAMS: JsonObject = Object.freeze({});

function refusedByPeer(method: string, error: ProtocolError): IsthmusError {
  return new IsthmusError(
    'REFUSED_BY_PEER',
    `The client refused ${method}: ${error.message} (${error.code})`,
    {
      cause: error,
    },
  );
}
