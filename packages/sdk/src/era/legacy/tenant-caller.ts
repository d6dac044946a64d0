import { IsthmusError } from '../../errors.js';
import type { Change, OpenListen, OutgoingCall, ServerFacts } from '../../exchange/call.js';
import { isJsonObject, type JsonObject, type RequestId } from '../../wire/json-rpc.js';
import type { LoggingLevel, SubscriptionFilter } from '../../wire/model.js';
import {
  type CallSuspender,
  mayExtend,
  type Tenant,
  type TenantCaller,
  tell,
} from '../client-dialect-context.js';
import { methodFacts } from '../methods.js';
import { reaches, toLog, toProgress } from '../reports.js';
import type { LegacyRevision } from '../revisions.js';
import type { AttributableCall } from './call-attribution.js';
import type { SharedLegacySession } from './client-dialect.js';

/** Makes the calls of one tenant of a legacy session. */
export class LegacyTenantCaller implements TenantCaller {
  readonly era = 'legacy';
  readonly tenant: Tenant;
  readonly #session: SharedLegacySession;
  #listens: Set<OpenListen> | undefined;
  #left: IsthmusError | undefined;
  /** The level that this tenant set; the session has the lowest level of all tenants. */
  logLevel: LoggingLevel | undefined;

  /** The host's own calls belong to no principal. */
  readonly #isHidden: boolean;

  constructor(tenant: Tenant, session: SharedLegacySession, isHidden = false) {
    this.tenant = tenant;
    this.#session = session;
    this.#isHidden = isHidden;
  }

  get revision(): LegacyRevision {
    return this.#session.revision;
  }

  get server(): ServerFacts {
    return this.#session.server;
  }

  isAsked({ behalf }: OutgoingCall): boolean {
    return this.#session.attribution.isAnswering(behalf?.owner ?? this);
  }

  call(call: OutgoingCall, suspender?: CallSuspender): Promise<JsonObject> {
    if (this.#left) return Promise.reject(this.#left);
    const { behalf, logLevel } = call;
    if (behalf && logLevel !== undefined && !this.#session.logsFrom(logLevel)) {
      return this.#sendWithLevel(call, suspender);
    }
    return this.#call(call, suspender);
  }

  #call(call: OutgoingCall, suspender: CallSuspender | undefined): Promise<JsonObject> {
    // With one tenant the owner of a question is clear.
    if (!this.#session.isShared || !mayBeAskedAbout(call.method)) return this.#send(call, undefined);
    const { attribution } = this.#session;
    const key = `${call.method} ${String(call.params['name'] ?? call.params['uri'])}`;
    const attributable = attribution.enter(this, key, call.behalf);
    if (!attributable) return this.#sendInTurn(call, key, suspender);
    attributable.outgoing = call;
    attributable.suspender = suspender;
    return this.#send(call, attributable);
  }

  async listen(
    wanted: SubscriptionFilter,
    onChange: (change: Change) => void,
    timeoutMs: number,
  ): Promise<OpenListen> {
    const open = await this.#session.subscriptions.open(wanted, onChange, timeoutMs);
    this.#listens ??= new Set();
    const listens = this.#listens;
    listens.add(open);
    void open.ended.then(() => listens.delete(open));
    return open;
  }

  setLogLevel(level: LoggingLevel, timeoutMs: number): Promise<void> {
    return this.#session.setLogLevel(this, level, timeoutMs);
  }

  rootsChanged(): void {
    this.#session.rootsChanged();
  }

  leave(why: string): void {
    const error = new IsthmusError('CANCELLED', why, { sent: 'maybe' });
    this.#left = error.with({ sent: 'no' });
    this.#session.left(this, error);
    this.#session.attribution.refuse(this.#left, this);
    this.#session.requests.abandon(this, error);
    for (const open of this.#listens ?? []) open.stop();
  }

  /**
   * A log line names no request: it belongs to the only call that wants logs, or to the tenant. If the tenant makes calls
   * on behalf of clients, it belongs to the calls of one client, and only while no other client has calls in flight.
   */
  log(params: JsonObject, byOthers: boolean): void {
    const entry = toLog(params);
    const isWanted = (level = this.logLevel ?? 'info') => !byOthers || reaches(entry.level, level);
    const open = this.#session.requests.open().filter(({ owner }) => owner === this);
    const [first] = open;
    if (first?.behalf && open.every(({ behalf }) => behalf?.owner === first.behalf!.owner)) {
      const told = open.find(({ onLog }) => onLog);
      if (told && isWanted(told.logLevel)) told.onLog?.(params);
      return;
    }
    if (!isWanted()) return;
    const wanting = open.filter(({ onLog, behalf }) => onLog && !behalf);
    if (wanting.length === 1) wanting[0]!.onLog!(params);
    else tell('onLog', this.tenant.onLog, entry);
  }

  /** Lowers the log level first. If the server refuses that, the call is sent all the same. */
  async #sendWithLevel(call: OutgoingCall, suspender: CallSuspender | undefined): Promise<JsonObject> {
    await this.#session.raiseLogLevel(this, call.logLevel!, call.timeoutMs);
    return this.#call(call, suspender);
  }

  async #sendInTurn(
    call: OutgoingCall,
    key: string,
    suspender: CallSuspender | undefined,
  ): Promise<JsonObject> {
    const { attribution, clock } = this.#session;
    const began = clock.now();
    suspender?.suspend(call);
    const attributable = await attribution.wait(this, key, call, call.behalf);
    suspender?.resume(call);
    attributable.outgoing = call;
    attributable.suspender = suspender;
    if (this.#left) {
      attribution.leave(attributable);
      throw this.#left;
    }
    const waited = clock.now() - began;
    const timeoutMs = Math.max(1, call.timeoutMs - waited);
    const maxTimeoutMs = Math.max(1, call.maxTimeoutMs - waited);
    return this.#send({ ...call, timeoutMs, maxTimeoutMs }, attributable);
  }

  #send(call: OutgoingCall, attributable: AttributableCall | undefined): Promise<JsonObject> {
    const { requests, attribution, scopes, isShared } = this.#session;
    const isTold = isShared && !this.#isHidden;
    const scope = isTold ? scopes.enter(call.behalf?.principal ?? this.tenant.principal) : undefined;
    return requests.request({
      what: call.method,
      owner: this,
      behalf: call.behalf,
      progressToken: call.progressToken,
      logLevel: call.logLevel,
      timeoutMs: call.timeoutMs,
      maxTimeoutMs: call.maxTimeoutMs,
      signal: call.signal,
      send: (id) => {
        if (attributable) attributable.id = id;
        this.#session.sendRequest(id, call.method, withToken(call, id));
      },
      giveUp: (requestId, reason) => {
        if (attributable) attribution.linger(requestId, attributable);
        if (scope) scopes.linger(scope);
        this.#session.cancel(requestId, reason);
      },
      onSettled:
        (attributable || scope) &&
        (() => {
          if (attributable) attribution.leave(attributable);
          if (scope) scopes.leave(scope);
        }),
      onProgress: call.onProgress && ((update) => tell('onProgress', call.onProgress, toProgress(update))),
      onLog: call.onLog && ((entry) => tell('onLog', call.onLog, toLog(entry))),
    });
  }
}

/** `tasks/result`: a task may ask until its result is there. */
function mayBeAskedAbout(method: string): boolean {
  return methodFacts(method)?.rounds ?? method === 'tasks/result';
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
