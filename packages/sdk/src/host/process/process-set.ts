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
  members: () => readonly Participant[],
) => Omit<SupervisorContext, 'onIdle'>;

/** The processes of one server, and who uses which. */
export class ProcessSet {
  readonly #settings: HostedServerSettings;
  readonly #create: SupervisorFactory;
  readonly #members = new Set<Participant>();
  /** By whom they are for: a conversation, a principal, or a place in the pool (0 where all share one). */
  readonly #supervisors = new Map<Participant | string | number, Supervisor>();
  readonly #ending = new Set<Promise<void>>();

  constructor(settings: HostedServerSettings, create: SupervisorFactory) {
    this.#settings = settings;
    this.#create = create;
  }

  get supervisors(): readonly Supervisor[] {
    return [...this.#supervisors.values()];
  }

  /** All processes that are there before anybody comes. */
  async start(why: StartReason): Promise<void> {
    const { processes } = this.#settings;
    if (processes === 'per-conversation' || processes === 'per-principal') {
      await Promise.all(this.supervisors.map((supervisor) => supervisor.acquire(why)));
    } else await Promise.all(this.#common().map((supervisor) => supervisor.acquire(why)));
  }

  join(member: Participant): void {
    this.#members.add(member);
  }

  /** A process that was for this member alone ends with it. */
  leave(member: Participant): void {
    this.#members.delete(member);
    if (member.principal !== undefined) this.#forget(member.principal);
    if (this.#settings.processes !== 'per-conversation') return;
    const supervisor = this.#supervisors.get(member);
    this.#supervisors.delete(member);
    if (supervisor) this.#see(supervisor.stop(0, 'was for a conversation that has ended'));
  }

  /** A share in a process for this member; settles when the process is ready. */
  async open(member: Participant): Promise<ActiveConnection> {
    if (!this.#members.has(member)) {
      throw new IsthmusError('CANCELLED', 'The conversation has ended', { sent: 'no' });
    }
    if (typeof this.#settings.processes !== 'object') {
      return (await this.#supervisorOf(member).acquire()).link(member);
    }
    const pool = this.#common();
    // The first that is ready will do; the others get warm meanwhile.
    const starting = pool.map((supervisor) => supervisor.acquire());
    for (const attempt of starting) attempt.catch(() => {});
    const home = leastLoaded(pool)?.current ?? (await firstOf(starting));
    const link = home.link(member);
    const caller = new PoolCaller(link.caller, () => leastLoaded(pool)?.current?.link(member).caller);
    return { ...link, caller };
  }

  /** Whether a process for this member is there, or on its way without anybody asking for it. */
  isRecovering(member: Participant): boolean {
    if (typeof this.#settings.processes === 'object') return this.#common().some(isRecovering);
    return isRecovering(this.#supervisorOf(member));
  }

  /** Every process is replaced by a fresh one. */
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

  get lastExit(): LastExit | undefined {
    return this.supervisors
      .flatMap(({ lastExit }) => lastExit ?? [])
      .reduce<LastExit | undefined>((last, each) => (last && last.at > each.at ? last : each), undefined);
  }

  #common(): Supervisor[] {
    const { processes } = this.#settings;
    const size = typeof processes === 'object' ? processes.pool : 1;
    return Array.from({ length: size }, (_, at) => {
      return this.#get(at, size === 1 ? undefined : `#${at + 1}`, () => [...this.#members]);
    });
  }

  #supervisorOf(member: Participant): Supervisor {
    switch (this.#settings.processes) {
      case 'per-conversation':
        return this.#get(member, member.label, () => [member]);
      case 'per-principal': {
        const { principal } = member;
        if (principal === undefined) throw noPrincipal(member.label);
        return this.#get(principal, principal, () =>
          [...this.#members].filter((each) => each.principal === principal),
        );
      }
      default:
        return this.#common()[0]!;
    }
  }

  #get(
    key: Participant | string | number,
    owner: string | undefined,
    members: () => readonly Participant[],
  ): Supervisor {
    let supervisor = this.#supervisors.get(key);
    if (!supervisor) {
      const onIdle = () => this.#forget(key);
      supervisor = new Supervisor({ ...this.#create(owner, members), onIdle });
      this.#supervisors.set(key, supervisor);
    }
    return supervisor;
  }

  /** Nothing is kept for a principal who has gone, once the process has, too. */
  #forget(key: Participant | string | number): void {
    if (
      this.#settings.processes !== 'per-principal' ||
      this.#supervisors.get(key as string)?.state !== 'idle'
    )
      return;
    if (![...this.#members].some(({ principal }) => principal === key)) this.#supervisors.delete(key);
  }

  #see(ending: Promise<void>): void {
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
    // The call is made although the process refuses the log level.
    await caller.setLogLevel(level, timeoutMs).catch(() => {});
  }
}
