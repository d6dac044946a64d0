import { ProtocolError } from '../../errors.js';
import type { ForeignNotification } from '../../exchange/call.js';
import type { JsonObject, RequestId } from '../../wire/json-rpc.js';
import type { LoggingLevel } from '../../wire/model.js';
import type { TenantCaller } from '../client/tenant-caller.js';
import { canCarryTo, carryTo, tell } from '../client-dialect-context.js';
import { reaches, toLog } from '../reports.js';
import type { LegacySession } from './client-request.js';

/** The log level of a legacy session, which is the lowest that any tenant wants, and the tenant that a log line is for. */
export class LegacyLogs {
  readonly #session: LegacySession;
  readonly #request: LevelRequest;
  /** The level of the session. */
  #applied: { readonly level: LoggingLevel; readonly done: Promise<unknown> } | undefined;
  /** The tenants that have ever set a level. */
  readonly #levelSetters = new WeakSet<TenantCaller>();
  #levelSetterCount = 0;

  constructor(session: LegacySession, request: LevelRequest) {
    this.#session = session;
    this.#request = request;
  }

  async setLevel(caller: TenantCaller, level: LoggingLevel, timeoutMs: number): Promise<void> {
    const before = caller.logLevel;
    caller.logLevel = level;
    if (!this.#levelSetters.has(caller)) this.#levelSetterCount += 1;
    this.#levelSetters.add(caller);
    const wanted = this.#wantedLevel()!;
    const shared = this.#session.connection.callers.size > 1 && wanted === this.#applied?.level;
    try {
      // Tenants that want the same level wait for the same answer.
      await (shared ? this.#applied!.done : this.#apply(wanted, timeoutMs));
    } catch (error) {
      caller.logLevel = before;
      throw error;
    }
  }

  /** Whether the session already logs from this level on, or the server has no logging. */
  reach(level: LoggingLevel): boolean {
    if (!this.#session.connection.server.capabilities.logging) return true;
    return this.#applied !== undefined && reaches(level, this.#applied.level);
  }

  /** Lowers the level of the session. Each tenant filters its own logs, so others do not get more than they want. */
  async raise(caller: TenantCaller, level: LoggingLevel, timeoutMs: number): Promise<void> {
    const before = caller.logLevel;
    await this.setLevel(caller, level, timeoutMs).catch((error) => {
      if (!(error instanceof ProtocolError)) throw error;
      // The server has refused once; it is not asked again for every call.
      caller.logLevel = before ?? level;
      this.#applied ??= { level, done: Promise.resolve() };
    });
  }

  left(caller: TenantCaller): void {
    if (caller.logLevel === undefined || this.#session.connection.callers.size === 0) return;
    // The protocol cannot reset the level; `info` is what servers are expected to send by default.
    const level = this.#wantedLevel() ?? 'info';
    if (level !== this.#applied?.level) this.#apply(level, QUIET_MS).catch(() => {});
  }

  /** A log line names no request. It belongs to the only tenant that has a call in flight, or to none. */
  deliver(params: JsonObject, about: RequestId | undefined): void {
    const { connection, scopes } = this.#session;
    // Over HTTP it comes on the stream of its request.
    const told = about === undefined ? undefined : connection.requests.get(about);
    if (told?.call?.behalf) {
      if (told.call.onLog) told.log?.(params);
      return;
    }
    // With several principals the owner would be a guess, so only the operator gets it.
    const caller = scopes.areSeveral ? undefined : this.#owner();
    if (!caller) return tell('onLog', connection.settings.onLog, toLog(params));
    // Another tenant, perhaps gone by now, may have set a lower level than this one wants.
    const byOthers = this.#levelSetterCount > (this.#levelSetters.has(caller) ? 1 : 0);
    this.#deliverTo(caller, params, byOthers);
  }

  /**
   * A notification of an extension names no request either. It goes to the call on whose stream it came, or to the only
   * tenant that it can belong to. False: there is none.
   */
  carry(notification: ForeignNotification, about: RequestId | undefined): boolean {
    const { connection, scopes } = this.#session;
    const told = about === undefined ? undefined : connection.requests.get(about);
    const caller = told || scopes.areSeveral ? undefined : this.#owner();
    const open = connection.requests
      .open()
      .filter((request) => request.owner === caller && canCarryTo(request));
    const [only, another] = told ? [told] : open;
    if (!another && carryTo(only?.call, notification)) return true;
    const onNotification = caller?.tenant.onNotification;
    tell('onNotification', onNotification, notification);
    return onNotification !== undefined;
  }

  #owner(): TenantCaller | undefined {
    const { connection, givenUp, scopes } = this.#session;
    const { callers, requests } = connection;
    /** The line may be of a call of another tenant that was given up. */
    const mayBeOther = (owner: TenantCaller) => givenUp.some(({ caller }) => caller !== owner);
    if (callers.size === 1) {
      const [only] = callers;
      const isOther = mayBeOther(only!) || scopes.mayBeOther(only!.tenant.principal);
      return isOther ? undefined : only;
    }
    const inFlight = new Set(requests.open().map(({ owner }) => owner));
    const [owner, another] = [...callers].filter((caller) => inFlight.has(caller));
    return owner && !another && !mayBeOther(owner) ? owner : undefined;
  }

  /**
   * The line belongs to the only call that wants logs, or to the tenant. If the tenant makes calls on behalf of clients,
   * it belongs to the calls of one client, and only while no other client has calls in flight.
   */
  #deliverTo(caller: TenantCaller, params: JsonObject, byOthers: boolean): void {
    const entry = toLog(params);
    const isWanted = (level = caller.logLevel ?? 'info') => !byOthers || reaches(entry.level, level);
    const open = this.#session.connection.requests.open().filter(({ owner }) => owner === caller);
    const behalf = open[0]?.call?.behalf;
    if (behalf && open.every(({ call }) => call?.behalf?.owner === behalf.owner)) {
      const told = open.find(({ call }) => call?.onLog);
      if (told && isWanted(told.call?.logLevel)) told.log?.(params);
      return;
    }
    if (!isWanted()) return;
    const wanting = open.filter(({ call }) => call?.onLog && !call.behalf);
    if (wanting.length === 1) wanting[0]!.log?.(params);
    else caller.log(entry, caller.tenant.onLog);
  }

  async #apply(level: LoggingLevel, timeoutMs: number): Promise<void> {
    const before = this.#applied;
    const applied = { level, done: this.#request('logging/setLevel', { level }, timeoutMs) };
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
    for (const { logLevel } of this.#session.connection.callers) {
      if (logLevel !== undefined && (wanted === undefined || reaches(wanted, logLevel))) wanted = logLevel;
    }
    return wanted;
  }
}

type LevelRequest = (method: string, params: JsonObject, timeoutMs: number) => Promise<unknown>;

/** The timeout of a request whose answer is not needed. */
const QUIET_MS = 10_000;
