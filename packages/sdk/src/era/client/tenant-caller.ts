import { IsthmusError } from '../../errors.js';
import type {
  Caller,
  CallerIdentity,
  Change,
  Era,
  ForeignNotification,
  OpenListen,
  OutgoingCall,
  ServerFacts,
} from '../../exchange/call.js';
import type { ResultListener } from '../../exchange/late-result.js';
import type { JsonObject } from '../../wire/json-rpc.js';
import type { LogEntry, LoggingLevel, SubscriptionFilter } from '../../wire/model.js';
import { type ClientDialect, tell } from '../client-dialect-context.js';
import type { EraVerdict } from './era-verdict.js';
import type { NegotiatedConnection } from './negotiated-connection.js';
import type { Tenant, TenantLimiter } from './tenant.js';

/** Makes the calls of one tenant on one connection, until the tenant leaves or the connection ends. */
export class TenantCaller implements Caller {
  readonly tenant: Tenant;
  readonly limiter: TenantLimiter | undefined;
  /**
   * Settles with the reason when no new calls can be made. Each caller has its own promise: on a promise of the
   * connection, the reactions of closed tenants would stay in memory for as long as the connection.
   */
  readonly ended: Promise<IsthmusError>;
  /** The log level that the tenant has set. */
  logLevel: LoggingLevel | undefined;
  readonly #connection: NegotiatedConnection;
  readonly #dialect: ClientDialect;
  #end!: (error: IsthmusError) => void;
  /** Set when the tenant has left: the error of its calls. */
  left: IsthmusError | undefined;
  /** Why calls are refused. */
  #over: IsthmusError | undefined;
  /** Most tenants have none. */
  #listens: Set<OpenListen> | undefined;

  constructor(
    tenant: Tenant,
    connection: NegotiatedConnection,
    dialect: ClientDialect,
    limiter: TenantLimiter | undefined,
  ) {
    this.tenant = tenant;
    this.#connection = connection;
    this.#dialect = dialect;
    this.limiter = limiter;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    tenant.callers.add(this);
  }

  get era(): Era {
    return this.#connection.verdict.era;
  }

  get revision(): string {
    return this.#connection.verdict.revision;
  }

  get server(): ServerFacts {
    return this.#connection.server;
  }

  get verdict(): EraVerdict {
    return this.#connection.verdict;
  }

  /** Whether calls can be made at this moment. A call may fail without the connection. */
  get isUsable(): boolean {
    return this.#over === undefined && this.#connection.isUsable;
  }

  /** Whether the owner of this call is being asked a question: then the call must not wait for other calls. */
  isAsked(call: OutgoingCall): boolean {
    return this.#dialect.isAsked(this, call);
  }

  call(call: OutgoingCall): Promise<JsonObject> {
    return new Promise((complete, fail) => this.callFor({ complete, fail }, call));
  }

  /** The same without a promise: the listener is told in the turn in which the answer comes. */
  callFor(listener: ResultListener, call: OutgoingCall): void {
    if (this.#over) listener.fail(this.#over);
    else if (!this.limiter || this.limiter.begin(call, this)) this.#dialect.call(this, call, listener);
    else void this.#callLater(listener, call, this.limiter);
  }

  async listen(
    wanted: SubscriptionFilter,
    onChange: (change: Change) => void,
    timeoutMs: number,
    as?: CallerIdentity,
  ): Promise<OpenListen> {
    if (this.#over) throw this.#over;
    const release = this.limiter?.holdSubscription();
    try {
      const open = await this.#dialect.listen(this, wanted, onChange, timeoutMs, as);
      this.#listens ??= new Set();
      const listens = this.#listens.add(open);
      void open.ended.then(() => {
        listens.delete(open);
        release?.();
      });
      return open;
    } catch (error) {
      release?.();
      throw error;
    }
  }

  async setLogLevel(level: LoggingLevel, timeoutMs: number): Promise<void> {
    if (this.#over) throw this.#over;
    await this.#dialect.setLogLevel(this, level, timeoutMs);
  }

  rootsChanged(): void {
    this.#dialect.rootsChanged?.();
  }

  notify(notification: ForeignNotification): void {
    if (!this.#over) this.#dialect.notify(notification);
  }

  /** Delivers a log line: to a callback of the tenant or of a call, and to the host. */
  log(entry: LogEntry, callback: ((entry: LogEntry) => void) | undefined): void {
    this.#connection.settings.onTenantLog?.(this.tenant, entry);
    tell('onLog', callback, entry);
  }

  /** Adds the number of the process to an error, where a host keeps processes. */
  attribute(error: unknown): unknown {
    const { generation } = this.#connection.settings;
    if (generation === undefined || !(error instanceof IsthmusError)) return error;
    return error.generation === undefined ? error.with({ generation }) : error;
  }

  /** The connection takes no new calls. Calls in flight may go on. */
  retire(error: IsthmusError): void {
    this.#over ??= error.with({ sent: 'no' });
    this.#end(error);
  }

  /** The connection has ended. */
  lost(error: IsthmusError): void {
    this.tenant.callers.delete(this);
    this.retire(error);
  }

  /** Ends the calls, questions and subscriptions of the tenant. The connection goes on for the others. */
  leave(why: string): void {
    const error = new IsthmusError('CANCELLED', why, { sent: 'maybe' });
    this.left = error.with({ sent: 'no' });
    this.#over = this.left;
    this.tenant.callers.delete(this);
    this.limiter?.refuse(this, this.left);
    this.#connection.callers.delete(this);
    this.#dialect.left(this, error);
    // Subscriptions stop before the other requests are abandoned, so that their end is a regular one.
    for (const open of this.#listens ?? []) open.stop();
    this.#connection.requests.abandon(this, error);
  }

  /** Calls in flight fail at once. */
  async close(): Promise<void> {
    if (this.tenant.ownsConnection) await this.#connection.close();
    else this.leave('The conversation has ended');
  }

  async #callLater(listener: ResultListener, call: OutgoingCall, limiter: TenantLimiter): Promise<void> {
    try {
      const begun = await limiter.wait(call, this);
      if (!this.#over) return this.#dialect.call(this, begun, listener);
      limiter.end(begun, false);
      listener.fail(this.#over);
    } catch (error) {
      listener.fail(error);
    }
  }
}
