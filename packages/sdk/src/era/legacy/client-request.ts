import type { IsthmusError } from '../../errors.js';
import type { OutgoingCall } from '../../exchange/call.js';
import type { OutboundRequest } from '../../exchange/pending-request.js';
import { tellNumber } from '../../exchange/tap.js';
import {
  isJsonObject,
  type JsonObject,
  notificationMessage,
  type RequestId,
  requestMessage,
} from '../../wire/json-rpc.js';
import type { NegotiatedConnection } from '../client/negotiated-connection.js';
import type { TenantCaller } from '../client/tenant-caller.js';
import { mayExtend, tell } from '../client-dialect-context.js';
import { toLog, toProgress } from '../reports.js';
import type { AttributableCall } from './attribution/attributable-call.js';
import type { CallAttribution } from './attribution/call-attribution.js';
import type { GivenUpCalls } from './attribution/given-up-calls.js';
import type { AskedOwners } from './attribution/session-calls.js';
import type { QuestionScope, Scopes } from './scopes.js';

/** What the requests of a legacy session share. */
export interface LegacySession {
  readonly connection: NegotiatedConnection;
  readonly attribution: CallAttribution;
  /** Calls that were given up, but that the server may still run. */
  readonly givenUp: GivenUpCalls<AttributableCall>;
  /** Who is being asked a question. */
  readonly asked: AskedOwners;
  readonly scopes: Scopes;
  /** Whether there may be several tenants. */
  readonly isShared: boolean;
}

/** The request of a call on a legacy session. */
export class LegacyRequest implements OutboundRequest {
  readonly what: string;
  readonly owner: TenantCaller;
  readonly call: OutgoingCall;
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  readonly #session: LegacySession;
  /** Undefined if the server cannot ask about it, or if there is only one tenant. */
  readonly #attributable: AttributableCall | undefined;
  readonly #scope: QuestionScope | undefined;
  #id: RequestId | undefined;

  /** `waitedMs` is subtracted from the time of the call. */
  constructor(
    session: LegacySession,
    owner: TenantCaller,
    call: OutgoingCall,
    attributable: AttributableCall | undefined,
    waitedMs: number,
  ) {
    this.what = call.method;
    this.owner = owner;
    this.call = call;
    this.timeoutMs = waitedMs > 0 ? Math.max(1, call.timeoutMs - waitedMs) : call.timeoutMs;
    this.maxTimeoutMs = waitedMs > 0 ? Math.max(1, call.maxTimeoutMs - waitedMs) : call.maxTimeoutMs;
    this.#session = session;
    this.#attributable = attributable;
    if (attributable) attributable.request = this;
    const { tenant } = owner;
    this.#scope =
      session.isShared && !tenant.isHidden
        ? session.scopes.enter(call.behalf?.principal ?? tenant.principal)
        : undefined;
  }

  send(id: RequestId): void {
    this.#id = id;
    const { call } = this;
    const { connection } = this.#session.connection;
    if (connection.tap !== undefined) tellNumber(connection.tap, id, call);
    connection.send(requestMessage(id, call.method, withToken(call, id)));
  }

  giveUp(requestId: RequestId, reason: string): void {
    const { scopes, connection } = this.#session;
    this.#attributable?.giveUp(requestId);
    if (this.#scope) scopes.linger(this.#scope);
    connection.connection.send(notificationMessage('notifications/cancelled', { requestId, reason }));
  }

  settled(hasResult: boolean): void {
    this.#attributable?.end();
    if (this.#scope) this.#session.scopes.leave(this.#scope);
    this.owner.limiter?.end(this.call, hasResult);
  }

  progress(params: JsonObject): void {
    if (this.call.onProgress) tell('onProgress', this.call.onProgress, toProgress(params));
  }

  log(params: JsonObject): void {
    this.owner.log(toLog(params), this.call.onLog);
  }

  /** It waits for a user. */
  rest(): void {
    const { requests } = this.#session.connection;
    const giveUp = (error: IsthmusError) => this.#id !== undefined && requests.giveUp(this.#id, error);
    this.owner.limiter?.suspend(this.call, this.owner, giveUp);
  }

  /** The server works on it again. */
  resume(): void {
    this.owner.limiter?.resume(this.call);
  }
}

/** The progress token is the id of the request, never one from the params: that could be the id of another request. */
function withToken(call: OutgoingCall, id: RequestId): JsonObject {
  const { _meta: own } = call.params;
  if (own === undefined && !mayExtend(call)) return call.params;
  const { progressToken, ...rest } = isJsonObject(own) ? own : {};
  return {
    ...call.params,
    _meta: mayExtend(call) ? { ...rest, progressToken: call.progressToken ?? id } : rest,
  };
}
