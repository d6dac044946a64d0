import type {
  Caller,
  CallerIdentity,
  Change,
  Era,
  OpenListen,
  OutgoingCall,
  ServerFacts,
} from '../exchange/call.js';
import type { JsonObject } from '../wire/json-rpc.js';
import type { LoggingLevel, SubscriptionFilter } from '../wire/model.js';

/** Each call goes to the process that has least to do; what has to stay in one place stays at home. */
export class PoolCaller implements Caller {
  readonly #home: Caller;
  readonly #pick: () => Caller | undefined;
  #level: { readonly level: LoggingLevel; readonly timeoutMs: number } | undefined;
  readonly #told = new WeakSet<Caller>();

  constructor(home: Caller, pick: () => Caller | undefined) {
    this.#home = home;
    this.#pick = pick;
  }

  get era(): Era {
    return this.#home.era;
  }

  get revision(): string {
    return this.#home.revision;
  }

  get server(): ServerFacts {
    return this.#home.server;
  }

  call(call: OutgoingCall): Promise<JsonObject> {
    const caller = this.#pick() ?? this.#home;
    if (!this.#level || this.#told.has(caller)) return caller.call(call);
    return this.#tell(caller).then(() => caller.call(call));
  }

  listen(
    wanted: SubscriptionFilter,
    onChange: (change: Change) => void,
    timeoutMs: number,
    as?: CallerIdentity,
  ): Promise<OpenListen> {
    return this.#home.listen(wanted, onChange, timeoutMs, as);
  }

  async setLogLevel(level: LoggingLevel, timeoutMs: number): Promise<void> {
    await this.#home.setLogLevel(level, timeoutMs);
    this.#level = { level, timeoutMs };
    this.#told.add(this.#home);
  }

  /** The level is set where a call goes, before it goes there. */
  async #tell(caller: Caller): Promise<void> {
    const { level, timeoutMs } = this.#level!;
    this.#told.add(caller);
    // What a process refuses is no reason to lose the call.
    await caller.setLogLevel(level, timeoutMs).catch(() => {});
  }
}
