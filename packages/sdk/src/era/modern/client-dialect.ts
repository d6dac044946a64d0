import { IsthmusError } from '../../errors.js';
import type {
  CallerIdentity,
  Change,
  ForeignNotification,
  OpenListen,
  OutgoingCall,
} from '../../exchange/call.js';
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
} from '../../wire/json-rpc.js';
import type { LoggingLevel, SubscriptionFilter } from '../../wire/model.js';
import { capabilitiesOf } from '../answers.js';
import type { NegotiatedConnection } from '../client/negotiated-connection.js';
import type { Tenant } from '../client/tenant.js';
import { TenantCaller } from '../client/tenant-caller.js';
import { type ClientDialect, canCarryTo, carryTo, report, tell } from '../client-dialect-context.js';
import { TASKS_EXTENSION } from '../extensions.js';
import { isForeignNotification } from '../methods.js';
import { toLog } from '../reports.js';
import { ClientEnvelopes } from './client-envelopes.js';
import { ClientListen, ClientListens } from './client-listens.js';
import { ModernRequest } from './client-request.js';
import { ClientRounds } from './client-rounds.js';

/** The client side of the modern era: requests are stateless, and the server sends none. */
export class ModernClientDialect implements ClientDialect {
  readonly connection: NegotiatedConnection;
  readonly #listens: ClientListens;
  readonly #rounds: ClientRounds;
  /** Built once for each tenant; a request adds its progress token or log level. */
  readonly #envelopes = new WeakMap<Tenant, JsonObject>();
  readonly #envelopesWithTasks = new WeakMap<Tenant, JsonObject>();
  readonly #clients: ClientEnvelopes;
  readonly #lingering = new Map<RequestId, { readonly caller: TenantCaller; readonly until: number }>();

  constructor(connection: NegotiatedConnection) {
    this.connection = connection;
    this.#clients = new ClientEnvelopes(connection.verdict.revision);
    this.#listens = new ClientListens({
      sendListen: (id, { owner, plan }) => {
        const params = { notifications: plan.wanted, _meta: this.envelopeOf(owner, plan.as) };
        connection.connection.send(requestMessage(id, 'subscriptions/listen', params));
      },
      cancel: (id, why) => this.cancel(id, why),
      reject: (id, error) => connection.requests.reject(id, error),
    });
    this.#rounds = new ClientRounds(connection.settings.maxRounds);
  }

  call(caller: TenantCaller, call: OutgoingCall, listener: ResultListener): void {
    this.connection.requests.send(new ModernRequest(this, caller, call, call.params, false), listener);
  }

  isAsked(caller: TenantCaller): boolean {
    return this.#rounds.isAsked(caller);
  }

  listen(
    caller: TenantCaller,
    wanted: SubscriptionFilter,
    onChange: (change: Change) => void,
    timeoutMs: number,
    as?: CallerIdentity,
  ): Promise<OpenListen> {
    const { requests, clock, settings } = this.connection;
    const listen = new ClientListen(this.#listens, caller, {
      wanted,
      as,
      onChange(change) {
        settings.onChange(change);
        onChange(change);
      },
    });
    const acknowledged = listen.opened(() => requests.send(listen, listen));
    const callOff = clock.after(timeoutMs, () => {
      const message = `subscriptions/listen was not acknowledged within ${timeoutMs} ms`;
      listen.stop(new IsthmusError('TIMED_OUT', message));
    });
    void acknowledged.catch(() => {}).finally(callOff);
    return acknowledged;
  }

  async setLogLevel(caller: TenantCaller, level: LoggingLevel): Promise<void> {
    caller.logLevel = level;
  }

  notify({ method, params }: ForeignNotification): void {
    const { connection, label } = this.connection;
    if (connection.congested) return report(label, 'the server does not read', method);
    connection.send(notificationMessage(method, params));
  }

  left(caller: TenantCaller, error: IsthmusError): void {
    this.#rounds.end(error, caller);
  }

  /** Answers the questions of a call, and sends it again with the answers, until it is complete. */
  answerRounds(caller: TenantCaller, call: OutgoingCall, first: JsonObject): Promise<JsonObject> {
    return this.#rounds.answer(caller, call, first, (params) =>
      this.connection.requests.request(new ModernRequest(this, caller, call, params, true)),
    );
  }

  /** A request that had asked for logs was given up, and the server may still run it. */
  gaveUp(id: RequestId, caller: TenantCaller): void {
    const now = this.connection.clock.now();
    for (const [old, { until }] of this.#lingering) if (until <= now) this.#lingering.delete(old);
    this.#lingering.set(id, { caller, until: now + LINGER_MS });
  }

  cancel(requestId: RequestId, reason: string): void {
    this.connection.connection.send(notificationMessage('notifications/cancelled', { requestId, reason }));
  }

  /** The `_meta` of the requests of a tenant, or of the client that it makes a request for. */
  envelopeOf({ tenant }: TenantCaller, as: CallerIdentity | undefined, takesTasks = false): JsonObject {
    if (as) return this.#clients.of(as.info ?? tenant.info, as.capabilities);
    const kept = takesTasks ? this.#envelopesWithTasks : this.#envelopes;
    const known = kept.get(tenant);
    if (known) return known;
    const { info, answers } = tenant;
    const extensions = takesTasks ? { ...tenant.extensions, [TASKS_EXTENSION]: {} } : tenant.extensions;
    const capabilities = { ...capabilitiesOf(answers), ...(extensions && { extensions }) };
    const own = this.#clients.of(info, capabilities);
    kept.set(tenant, own);
    return own;
  }

  /** JRPC-013: a modern server must not send requests, and a client cannot answer one (JRPC-014). */
  request(request: DecodedRequest): void {
    report(this.connection.label, 'a modern server sent a request', request);
  }

  notification(notification: DecodedNotification, about?: RequestId): void {
    const { method, params = {} } = notification;
    const { requests, label } = this.connection;
    switch (method) {
      case 'notifications/progress':
        if (requests.progress(params)) return;
        break;
      case 'notifications/message':
        return this.#log(params, about);
      case 'notifications/cancelled':
        // Some servers end a subscription like this (wire sheet §17).
        if (isRequestId(params['requestId']) && this.#listens.has(params['requestId'])) {
          requests.settle({ kind: 'result', id: params['requestId'], result: {} });
          return;
        }
        break;
      default:
        if (this.#listens.deliver(method, params)) return;
        if (isForeignNotification(method) && this.#carry({ method, params }, about)) return;
    }
    report(label, 'a notification that matches nothing', notification);
  }

  response(response: DecodedResult | DecodedError): void {
    if (this.connection.requests.settle(response)) return;
    if (response.id !== undefined) this.#lingering.delete(response.id);
    report(this.connection.label, 'an answer to no open request', response);
  }

  /** Calls between two rounds have no request in flight, so they are ended here. */
  ended(error: IsthmusError): void {
    this.#rounds.end(error);
  }

  /** A notification of an extension goes to the call on whose stream it came, or to the only call in flight. */
  #carry(notification: ForeignNotification, about: RequestId | undefined): boolean {
    const { requests } = this.connection;
    const [only, another] = about === undefined ? requests.open().filter(canCarryTo) : [requests.get(about)];
    return !another && carryTo(only?.call, notification);
  }

  /**
   * A log line names no request: it belongs to the only one that asked for logs. If several requests of one tenant did, it
   * belongs to that tenant; otherwise it belongs to none.
   */
  #log(params: JsonObject, about: RequestId | undefined): void {
    const { requests, callers, clock, settings } = this.connection;
    // Over HTTP it comes on the stream of its request.
    const told = about === undefined ? undefined : requests.get(about);
    if (told?.call?.onLog) return told.log?.(params);
    const wanting = requests.open().filter((open) => open.wantsLogs);
    const [only, another] = wanting;
    const now = clock.now();
    const lingering = [...this.#lingering.values()].filter(({ until }) => until > now);
    const owners = new Set([...wanting.map(({ owner }) => owner), ...lingering.map(({ caller }) => caller)]);
    if (only?.call?.onLog && !another && owners.size === 1) return only.log?.(params);
    const [owner] = owners.size > 0 ? owners : callers;
    const caller = owners.size === 1 || (owners.size === 0 && callers.size === 1) ? owner : undefined;
    if (caller instanceof TenantCaller) caller.log(toLog(params), caller.tenant.onLog);
    else tell('onLog', settings.onLog, toLog(params));
  }
}

/** How long a given-up call may still log. */
const LINGER_MS = 60_000;
