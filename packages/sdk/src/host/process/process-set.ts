import type { ActiveConnection } from '../../client/active-connection.js';
import { IsthmusError } from '../../errors.js';
import type {
  Caller,
  CallerIdentity,
  Change,
  Era,
  OpenListen,
  OutgoingCall,
  ServerFacts,
} from '../../exchange/call.js';
import type { JsonObject } from '../../wire/json-rpc.js';
import type { LoggingLevel, SubscriptionFilter } from '../../wire/model.js';
import type { Participant } from '../conversation.js';
import type { HostedServerSettings } from '../definition.js';
import type { LastExit, ProcessStatus } from '../status.js';
import { Supervisor } from './supervisor.js';
import type { StartReason, SupervisorContext } from './supervisor-context.js';

export type SupervisorFactory = (
  owner: string | undefined,
  participants: () => readonly Participant[],
) => Omit<SupervisorContext, 'onIdle'>;

/** The processes of one server, and which conversation uses which. */
export class ProcessSet {
  readonly #settings: HostedServerSettings;
  readonly #create: SupervisorFactory;
  readonly #participants = new Set<Participant>();
  /** The key is a conversation, a principal, or an index in the pool (0 for one shared process). */
  readonly #supervisors = new Map<Participant | string | number, Supervisor>();
  readonly #ending = new Set<Promise<void>>();

  constructor(settings: HostedServerSettings, create: SupervisorFactory) {
    this.#settings = settings;
    this.#create = create;
  }

  get supervisors(): readonly Supervisor[] {
    return [...this.#supervisors.values()];
  }

  /** Starts the processes that do not depend on a conversation, or those that exist. */
  async start(why: StartReason): Promise<void> {
    const { processes } = this.#settings;
    if (processes === 'per-conversation' || processes === 'per-principal') {
      await Promise.all(this.supervisors.map((supervisor) => supervisor.acquire(why)));
    } else await Promise.all(this.#common().map((supervisor) => supervisor.acquire(why)));
  }

  join(participant: Participant): void {
    this.#participants.add(participant);
  }

  /** A process that was for this participant alone ends with it. */
  leave(participant: Participant): void {
    this.#participants.delete(participant);
    if (participant.principal !== undefined) this.#forget(participant.principal);
    if (this.#settings.processes !== 'per-conversation') return;
    const supervisor = this.#supervisors.get(participant);
    this.#supervisors.delete(participant);
    if (supervisor) this.#awaitEnd(supervisor.stop(0, 'was for a conversation that has ended'));
  }

  /** A connection to a process for this participant. Settles when the process is ready. */
  async open(participant: Participant): Promise<ActiveConnection> {
    if (!this.#participants.has(participant)) {
      throw new IsthmusError('CANCELLED', 'The conversation has ended', { sent: 'no' });
    }
    if (typeof this.#settings.processes !== 'object') {
      return (await this.#supervisorOf(participant).acquire()).connectionFor(participant);
    }
    const pool = this.#common();
    // The first process that is ready is used. The others start meanwhile.
    const starting = pool.map((supervisor) => supervisor.acquire());
    for (const attempt of starting) attempt.catch(() => {});
    const home = leastLoaded(pool)?.current ?? (await firstOf(starting));
    const connection = home.connectionFor(participant);
    const pick = () => leastLoaded(pool)?.current?.connectionFor(participant).caller;
    return { ...connection, caller: new PoolCaller(connection.caller, pick) };
  }

  /** Whether a process for this participant runs, or will be started without a further call. */
  isRecovering(participant: Participant): boolean {
    if (typeof this.#settings.processes === 'object') return this.#common().some(isRecovering);
    return isRecovering(this.#supervisorOf(participant));
  }

  /** Replaces every process by a new one. */
  async replace(why: 'restart'): Promise<void> {
    if (this.supervisors.length === 0) return this.start(why);
    await Promise.all(this.supervisors.map((supervisor) => supervisor.replace(why)));
  }

  async stop(drainMs: number, why: string): Promise<void> {
    await Promise.all([
      ...this.supervisors.map((supervisor) => supervisor.stop(drainMs, why)),
      ...this.#ending,
    ]);
  }

  status(): Promise<readonly ProcessStatus[]> {
    return Promise.all(this.supervisors.map((supervisor) => supervisor.status()));
  }

  snapshot(): readonly ProcessStatus[] {
    return this.supervisors.map((supervisor) => supervisor.snapshot());
  }

  get isBackingOff(): boolean {
    for (const supervisor of this.#supervisors.values()) if (supervisor.isBackingOff) return true;
    return false;
  }

  get lastExit(): LastExit | undefined {
    return this.supervisors
      .flatMap(({ lastExit }) => lastExit ?? [])
      .reduce<LastExit | undefined>((last, each) => (last && last.at > each.at ? last : each), undefined);
  }

  #common(): Supervisor[] {
    const { processes } = this.#settings;
    const size = typeof processes === 'object' ? processes.pool : 1;
    return Array.from({ length: size }, (_, at) => {
      return this.#get(at, size === 1 ? undefined : `#${at + 1}`, () => [...this.#participants]);
    });
  }

  #supervisorOf(participant: Participant): Supervisor {
    switch (this.#settings.processes) {
      case 'per-conversation':
        return this.#get(participant, participant.label, () => [participant]);
      case 'per-principal': {
        const { principal } = participant;
        if (principal === undefined) throw noPrincipal(participant.label);
        return this.#get(principal, principal, () =>
          [...this.#participants].filter((each) => each.principal === principal),
        );
      }
      default:
        return this.#common()[0]!;
    }
  }

  #get(
    key: Participant | string | number,
    owner: string | undefined,
    participants: () => readonly Participant[],
  ): Supervisor {
    let supervisor = this.#supervisors.get(key);
    if (!supervisor) {
      const onIdle = () => this.#forget(key);
      supervisor = new Supervisor({ ...this.#create(owner, participants), onIdle });
      this.#supervisors.set(key, supervisor);
    }
    return supervisor;
  }

  /** Forgets a principal that has no conversation and no process. */
  #forget(key: Participant | string | number): void {
    if (
      this.#settings.processes !== 'per-principal' ||
      this.#supervisors.get(key as string)?.state !== 'idle'
    )
      return;
    if (![...this.#participants].some(({ principal }) => principal === key)) this.#supervisors.delete(key);
  }

  #awaitEnd(ending: Promise<void>): void {
    this.#ending.add(ending);
    void ending.finally(() => this.#ending.delete(ending));
  }
}

function noPrincipal(label: string): IsthmusError {
  const message = `${label}: this server has a process per principal; open the conversation with a principal`;
  return new IsthmusError('INVALID_OPTION', message, { sent: 'no' });
}

function isRecovering({ state }: Supervisor): boolean {
  return state === 'ready' || state === 'starting' || state === 'draining' || state === 'backing-off';
}

function leastLoaded(pool: readonly Supervisor[]): Supervisor | undefined {
  return pool
    .filter(({ current }) => current)
    .reduce<Supervisor | undefined>(
      (least, each) => (least && least.load <= each.load ? least : each),
      undefined,
    );
}

/** The first that succeeds; when none does, the first failure. */
async function firstOf<T>(attempts: readonly Promise<T>[]): Promise<T> {
  try {
    return await Promise.any(attempts);
  } catch (error) {
    throw error instanceof AggregateError ? error.errors[0] : error;
  }
}

/** Sends each call to the process with the fewest calls. Subscriptions stay at one process, its home. */
export class PoolCaller implements Caller {
  readonly #home: Caller;
  readonly #pick: () => Caller | undefined;
  #level: { readonly level: LoggingLevel; readonly timeoutMs: number } | undefined;
  /** Callers whose process has the level. */
  readonly #leveled = new WeakSet<Caller>();

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
    if (!this.#level || this.#leveled.has(caller)) return caller.call(call);
    return this.#applyLevel(caller).then(() => caller.call(call));
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
    this.#leveled.add(this.#home);
  }

  /** Sets the level in a process before its first call. */
  async #applyLevel(caller: Caller): Promise<void> {
    const { level, timeoutMs } = this.#level!;
    this.#leveled.add(caller);
    // The call is made even if the process refuses the log level.
    await caller.setLogLevel(level, timeoutMs).catch(() => {});
  }
}
