import type { Clock } from '../../async/clock.js';
import { type IsthmusError, ProtocolError } from '../../errors.js';
import type { ServerFacts } from '../../exchange/call.js';
import type { OutboundRequests } from '../../exchange/outbound-requests.js';
import { ErrorCode } from '../../wire/error-codes.js';
import {
  type DecodedError,
  type DecodedNotification,
  type DecodedRequest,
  type DecodedResult,
  errorMessage,
  isRequestId,
  type JsonObject,
  notificationMessage,
  type RequestId,
  requestMessage,
  resultMessage,
} from '../../wire/json-rpc.js';
import type { InputRequest, LoggingLevel } from '../../wire/model.js';
import {
  type ClientDialect,
  type ClientDialectContext,
  report,
  type Tenant,
  type TenantCaller,
  tell,
} from '../client-dialect-context.js';
import { reaches, toLog } from '../reports.js';
import type { LegacyRevision } from '../revisions.js';
import { changeOf } from '../subscriptions.js';
import { CallAttribution } from './call-attribution.js';
import { LegacyQuestions } from './client-questions.js';
import { LegacySubscriptions } from './client-subscriptions.js';
import { Scopes } from './scopes.js';
import { LegacyTenantCaller } from './tenant-caller.js';

/** What the tenants of a legacy session share. */
export interface SharedLegacySession {
  readonly revision: LegacyRevision;
  readonly server: ServerFacts;
  readonly clock: Clock;
  readonly requests: OutboundRequests;
  readonly subscriptions: LegacySubscriptions;
  readonly attribution: CallAttribution;
  readonly scopes: Scopes;
  /** Whether there may be several tenants. */
  readonly isShared: boolean;
  sendRequest(id: RequestId, method: string, params: JsonObject): void;
  cancel(id: RequestId, reason: string): void;
  setLogLevel(caller: LegacyTenantCaller, level: LoggingLevel, timeoutMs: number): Promise<void>;
  /** Whether the session already logs from this level on, or the server has no logging. */
  logsFrom(level: LoggingLevel): boolean;
  raiseLogLevel(caller: LegacyTenantCaller, level: LoggingLevel, timeoutMs: number): Promise<void>;
  rootsChanged(): void;
  left(caller: LegacyTenantCaller, error: IsthmusError): void;
}

/** The client side of the legacy era: one session per connection; the server may ask at any time. */
export class LegacyClientDialect implements ClientDialect, SharedLegacySession {
  readonly era = 'legacy';
  readonly revision: LegacyRevision;
  readonly server: ServerFacts;
  readonly clock: Clock;
  readonly requests: OutboundRequests;
  readonly subscriptions: LegacySubscriptions;
  readonly attribution: CallAttribution;
  readonly scopes: Scopes;
  readonly isShared: boolean;
  readonly #side: ClientDialectContext;
  readonly #callers = new Set<LegacyTenantCaller>();
  readonly #questions: LegacyQuestions;
  /** The level of the session. */
  #applied: { readonly level: LoggingLevel; readonly done: Promise<unknown> } | undefined;
  /** The tenants that have ever set a level. */
  readonly #levelSetters = new WeakSet<LegacyTenantCaller>();
  #levelSetterCount = 0;

  constructor(
    side: ClientDialectContext,
    requests: OutboundRequests,
    revision: LegacyRevision,
    server: ServerFacts,
  ) {
    this.#side = side;
    this.clock = side.clock;
    this.requests = requests;
    this.revision = revision;
    this.server = server;
    this.isShared = side.questions !== undefined;
    this.attribution = new CallAttribution(side.questions ?? 'refuse', side.clock, {
      onRest: (call) =>
        call.suspender?.suspend(
          call.outgoing!,
          (error) => call.id !== undefined && requests.giveUp(call.id, error),
        ),
      onResume: (call) => call.suspender?.resume(call.outgoing!),
    });
    this.scopes = new Scopes(side.clock);
    this.#questions = new LegacyQuestions(side, requests, this, this.#callers);
    this.subscriptions = new LegacySubscriptions(
      server.capabilities,
      this.clock,
      (method, uri, timeoutMs, signal) => this.#plain(method, { uri }, timeoutMs, signal),
    );
  }

  join(tenant: Tenant, hidden = false): TenantCaller {
    const caller = new LegacyTenantCaller(tenant, this, hidden);
    if (hidden) return caller;
    this.#callers.add(caller);
    this.#questions.joined();
    return caller;
  }

  left(caller: LegacyTenantCaller, error: IsthmusError): void {
    this.#callers.delete(caller);
    this.#questions.refuse(caller, error);
    if (caller.logLevel === undefined || this.#callers.size === 0) return;
    // The protocol cannot reset the level; `info` is what servers are expected to send by default.
    const level = this.#wantedLevel() ?? 'info';
    if (level !== this.#applied?.level) this.#apply(level, QUIET_MS).catch(() => {});
  }

  sendRequest(id: RequestId, method: string, params: JsonObject): void {
    this.#side.connection.send(requestMessage(id, method, params));
  }

  cancel(requestId: RequestId, reason: string): void {
    this.#side.connection.send(notificationMessage('notifications/cancelled', { requestId, reason }));
  }

  rootsChanged(): void {
    this.#side.connection.send(notificationMessage('notifications/roots/list_changed'));
  }

  async setLogLevel(caller: LegacyTenantCaller, level: LoggingLevel, timeoutMs: number): Promise<void> {
    const before = caller.logLevel;
    caller.logLevel = level;
    if (!this.#levelSetters.has(caller)) this.#levelSetterCount += 1;
    this.#levelSetters.add(caller);
    const wanted = this.#wantedLevel()!;
    const shared = this.#callers.size > 1 && wanted === this.#applied?.level;
    try {
      // Tenants that want the same level wait for the same answer.
      await (shared ? this.#applied!.done : this.#apply(wanted, timeoutMs));
    } catch (error) {
      caller.logLevel = before;
      throw error;
    }
  }

  logsFrom(level: LoggingLevel): boolean {
    if (!this.server.capabilities.logging) return true;
    return this.#applied !== undefined && reaches(level, this.#applied.level);
  }

  /** Lowers the level of the session. Each tenant filters its own logs, so others do not get more than they want. */
  async raiseLogLevel(caller: LegacyTenantCaller, level: LoggingLevel, timeoutMs: number): Promise<void> {
    const before = caller.logLevel;
    await this.setLogLevel(caller, level, timeoutMs).catch((error) => {
      if (!(error instanceof ProtocolError)) throw error;
      // The server has refused once; it is not asked again for every call.
      caller.logLevel = before ?? level;
      this.#applied ??= { level, done: Promise.resolve() };
    });
  }

  request(request: DecodedRequest, about?: RequestId): void {
    const { id, method, params } = request;
    if (method === 'ping') return this.#side.connection.send(resultMessage(id, {}));
    if (!QUESTIONS.has(method)) {
      const error = { code: ErrorCode.MethodNotFound, message: `Method not found: ${method}` };
      return this.#side.connection.send(errorMessage(id, error));
    }
    void this.#questions.answer(id, { method, params: params ?? {} } as InputRequest, about);
  }

  notification(notification: DecodedNotification, about?: RequestId): void {
    const { method, params = {} } = notification;
    switch (method) {
      case 'notifications/progress':
        if (this.requests.progress(params)) return;
        break;
      case 'notifications/message':
        return this.#log(params, about);
      case 'notifications/cancelled':
        if (isRequestId(params['requestId']) && this.#questions.takeBack(params['requestId'])) return;
        break;
      case 'notifications/elicitation/complete':
        return this.#elicited(params['elicitationId']);
      default: {
        const change = changeOf(method, params);
        if (change) {
          this.#side.onChange(change);
          return this.subscriptions.deliver(change);
        }
      }
    }
    report(this.#side, 'a notification that matches nothing', notification);
  }

  response(response: DecodedResult | DecodedError): void {
    if (this.requests.settle(response)) return;
    if (response.id !== undefined) this.attribution.answered(response.id);
    report(this.#side, 'an answer to no open request', response);
  }

  ended(error: IsthmusError): void {
    this.subscriptions.ended(error);
    this.attribution.refuse(error.with({ sent: 'no' }));
    this.#questions.ended(error);
  }

  /** The notification does not say who was asked; each tenant checks the id. */
  #elicited(id: unknown): void {
    if (typeof id !== 'string') return;
    for (const { tenant } of this.#callers) tell('onElicited', tenant.onElicited, id);
  }

  #plain(method: string, params: JsonObject, timeoutMs: number, signal?: AbortSignal): Promise<JsonObject> {
    return this.requests.request({
      what: method,
      owner: this,
      timeoutMs,
      maxTimeoutMs: timeoutMs,
      signal,
      send: (id) => this.sendRequest(id, method, params),
      giveUp: (id, reason) => this.cancel(id, reason),
    });
  }

  async #apply(level: LoggingLevel, timeoutMs: number): Promise<void> {
    const before = this.#applied;
    const applied = { level, done: this.#plain('logging/setLevel', { level }, timeoutMs) };
    this.#applied = applied;
    try {
      await applied.done;
    } catch (error) {
      if (this.#applied === applied) this.#applied = before;
      throw error;
    }
  }

  /** The lowest level that any tenant wants. */
  #wantedLevel(): LoggingLevel | undefined {
    let wanted: LoggingLevel | undefined;
    for (const { logLevel } of this.#callers) {
      if (logLevel !== undefined && (wanted === undefined || reaches(wanted, logLevel))) wanted = logLevel;
    }
    return wanted;
  }

  /** A log line names no request. It belongs to the only tenant that has a call in flight, or to none. */
  #log(params: JsonObject, about: RequestId | undefined): void {
    // Over HTTP it comes on the stream of its request.
    const told = about === undefined ? undefined : this.requests.get(about);
    if (told?.behalf) return told.onLog?.(params);
    // With several principals the owner would be a guess, so only the operator gets it.
    const caller = this.scopes.areSeveral ? undefined : this.#logOwner();
    if (!caller) return tell('onLog', this.#side.onLog, toLog(params));
    // Another tenant, perhaps gone by now, may have set a lower level than this one wants.
    const byOthers = this.#levelSetterCount > (this.#levelSetters.has(caller) ? 1 : 0);
    caller.log(params, byOthers);
  }

  #logOwner(): LegacyTenantCaller | undefined {
    if (this.#callers.size === 1) {
      const [only] = this.#callers;
      const isOther =
        this.attribution.lingersOfOthers(only!) || this.scopes.mayBeOther(only!.tenant.principal);
      return isOther ? undefined : only;
    }
    const inFlight = new Set(this.requests.open().map(({ owner }) => owner));
    const [owner, another] = [...this.#callers].filter((caller) => inFlight.has(caller));
    return owner && !another && !this.attribution.lingersOfOthers(owner) ? owner : undefined;
  }
}

const QUESTIONS: ReadonlySet<string> = new Set([
  'elicitation/create',
  'sampling/createMessage',
  'roots/list',
]);

/** The timeout of a request whose answer is not needed. */
const QUIET_MS = 10_000;
