import type { IsthmusError } from '../../errors.js';
import type { Change, ForeignNotification, OpenListen, OutgoingCall } from '../../exchange/call.js';
import type { ResultListener } from '../../exchange/late-result.js';
import {
  type DecodedError,
  type DecodedNotification,
  type DecodedRequest,
  type DecodedResult,
  isRequestId,
  type JsonObject,
  notificationMessage,
  type RequestId,
  requestMessage,
  resultMessage,
} from '../../wire/json-rpc.js';
import type { InputRequest, LoggingLevel, SubscriptionFilter } from '../../wire/model.js';
import type { NegotiatedConnection } from '../client/negotiated-connection.js';
import type { TenantCaller } from '../client/tenant-caller.js';
import { type ClientDialect, report, tell } from '../client-dialect-context.js';
import { isForeignNotification, methodFacts } from '../methods.js';
import { changeOf } from '../subscriptions.js';
import type { AttributableCall } from './attribution/attributable-call.js';
import { CallAttribution } from './attribution/call-attribution.js';
import { GivenUpCalls } from './attribution/given-up-calls.js';
import { AskedOwners } from './attribution/session-calls.js';
import { CLARITY_MS } from './attribution/suspects.js';
import { LegacyLogs } from './client-logs.js';
import { LegacyQuestions } from './client-questions.js';
import { LegacyRequest, type LegacySession } from './client-request.js';
import { LegacySubscriptions } from './client-subscriptions.js';
import { Scopes } from './scopes.js';

/** The client side of the legacy era: one session per connection; the server may ask at any time. */
export class LegacyClientDialect implements ClientDialect, LegacySession {
  readonly connection: NegotiatedConnection;
  readonly attribution: CallAttribution;
  readonly givenUp: GivenUpCalls<AttributableCall>;
  readonly asked = new AskedOwners();
  readonly scopes: Scopes;
  readonly isShared: boolean;
  readonly #logs: LegacyLogs;
  readonly #questions: LegacyQuestions;
  readonly #subscriptions: LegacySubscriptions;

  constructor(connection: NegotiatedConnection) {
    const { clock, settings, server } = connection;
    this.connection = connection;
    this.isShared = settings.questions !== undefined;
    this.givenUp = new GivenUpCalls(clock, CLARITY_MS);
    this.attribution = new CallAttribution(settings.questions ?? 'refuse', clock, this.givenUp, this.asked);
    this.scopes = new Scopes(clock);
    this.#logs = new LegacyLogs(this, (method, params, ms) => this.#request(method, params, ms));
    this.#questions = new LegacyQuestions(this);
    this.#subscriptions = new LegacySubscriptions(server.capabilities, clock, (method, uri, ms, signal) =>
      this.#request(method, { uri }, ms, signal),
    );
  }

  joined(): void {
    this.#questions.joined();
  }

  /** `hasLevel`: the log level is low enough, or the server has refused to lower it. */
  call(caller: TenantCaller, call: OutgoingCall, listener: ResultListener, hasLevel = false): void {
    const { method, behalf, logLevel } = call;
    if (behalf && logLevel !== undefined && !hasLevel && !this.#logs.reach(logLevel)) {
      return void this.#callWithLevel(caller, call, listener, logLevel);
    }
    let attributable: AttributableCall | undefined;
    this.#questions.calls(call);
    // With one tenant the owner of a question is clear. A question of a task names the task (TASK-L-033).
    if (this.isShared && methodFacts(method)?.rounds) {
      const begun = this.attribution.begin(caller, call);
      if (begun instanceof Promise) return void this.#callInTurn(caller, call, listener, begun);
      attributable = begun;
    }
    this.connection.requests.send(new LegacyRequest(this, caller, call, attributable, 0), listener);
  }

  isAsked(caller: TenantCaller, { behalf }: OutgoingCall): boolean {
    return this.asked.has(behalf?.owner ?? caller);
  }

  listen(
    _caller: TenantCaller,
    wanted: SubscriptionFilter,
    onChange: (change: Change) => void,
    timeoutMs: number,
  ): Promise<OpenListen> {
    return this.#subscriptions.open(wanted, onChange, timeoutMs);
  }

  setLogLevel(caller: TenantCaller, level: LoggingLevel, timeoutMs: number): Promise<void> {
    return this.#logs.setLevel(caller, level, timeoutMs);
  }

  rootsChanged(): void {
    this.connection.connection.send(notificationMessage('notifications/roots/list_changed'));
  }

  notify({ method, params }: ForeignNotification): void {
    const { connection, label } = this.connection;
    if (connection.congested) return report(label, 'the server does not read', method);
    connection.send(notificationMessage(method, params));
  }

  left(caller: TenantCaller, error: IsthmusError): void {
    this.#questions.refuse(caller, error);
    this.#logs.left(caller);
    this.attribution.refuse(error.with({ sent: 'no' }), caller);
  }

  request(request: DecodedRequest, about?: RequestId): void {
    const { id, method, params } = request;
    const { connection } = this.connection;
    if (method === 'ping') return connection.send(resultMessage(id, {}));
    void this.#questions.answer(id, { method, params: params ?? {} } as InputRequest, about);
  }

  notification(notification: DecodedNotification, about?: RequestId): void {
    const { method, params = {} } = notification;
    switch (method) {
      case 'notifications/progress':
        if (this.connection.requests.progress(params)) return;
        break;
      case 'notifications/message':
        return this.#logs.deliver(params, about);
      case 'notifications/cancelled':
        if (isRequestId(params['requestId']) && this.#questions.takeBack(params['requestId'])) return;
        break;
      case 'notifications/elicitation/complete':
        return this.#elicited(params['elicitationId']);
      case 'notifications/tasks/status':
        // The follower of a task asks for its state (TASK-L-061).
        return;
      default: {
        const change = changeOf(method, params);
        if (change) {
          this.connection.settings.onChange(change);
          return this.#subscriptions.deliver(change);
        }
        if (isForeignNotification(method) && this.#logs.carry({ method, params }, about)) return;
      }
    }
    report(this.connection.label, 'a notification that matches nothing', notification);
  }

  response(response: DecodedResult | DecodedError): void {
    if (this.connection.requests.settle(response)) return;
    if (response.id !== undefined) this.givenUp.remove(response.id)?.answeredLate();
    report(this.connection.label, 'an answer to no open request', response);
  }

  ended(error: IsthmusError): void {
    this.#subscriptions.ended(error);
    this.attribution.refuse(error.with({ sent: 'no' }));
    this.#questions.ended(error);
  }

  /** Lowers the log level first. If the server refuses that, the call is sent all the same. */
  async #callWithLevel(
    caller: TenantCaller,
    call: OutgoingCall,
    listener: ResultListener,
    level: LoggingLevel,
  ): Promise<void> {
    try {
      await this.#logs.raise(caller, level, call.timeoutMs);
    } catch (error) {
      caller.limiter?.end(call, false);
      return listener.fail(error);
    }
    this.call(caller, call, listener, true);
  }

  /** Waits for other calls that are known to ask. */
  async #callInTurn(
    caller: TenantCaller,
    call: OutgoingCall,
    listener: ResultListener,
    begun: Promise<AttributableCall>,
  ): Promise<void> {
    const { limiter } = caller;
    const { clock, requests } = this.connection;
    const began = clock.now();
    limiter?.suspend(call, caller);
    let attributable: AttributableCall;
    try {
      attributable = await begun;
      if (caller.left) attributable.end();
      if (caller.left) throw caller.left;
    } catch (error) {
      limiter?.end(call, false);
      return listener.fail(error);
    }
    limiter?.resume(call);
    const waitedMs = clock.now() - began;
    requests.send(new LegacyRequest(this, caller, call, attributable, waitedMs), listener);
  }

  #request(method: string, params: JsonObject, timeoutMs: number, signal?: AbortSignal): Promise<JsonObject> {
    const { connection, requests } = this.connection;
    return requests.request({
      what: method,
      owner: this,
      timeoutMs,
      maxTimeoutMs: timeoutMs,
      signal,
      send: (id) => connection.send(requestMessage(id, method, params)),
      giveUp: (requestId, reason) =>
        connection.send(notificationMessage('notifications/cancelled', { requestId, reason })),
    });
  }

  /** The notification does not say who was asked; each tenant checks the id. */
  #elicited(id: unknown): void {
    if (typeof id !== 'string') return;
    for (const { tenant } of this.connection.callers) tell('onElicited', tenant.onElicited, id);
  }
}
