import type { Tenant } from '../../era/client/tenant.js';
import type { TenantCaller } from '../../era/client/tenant-caller.js';
import { IsthmusError } from '../../errors.js';
import type { HostedServerSettings } from '../definition.js';
import type { LastExit, ProcessStatus } from '../status.js';
import { Supervisor } from './supervisor.js';
import type { StartReason, SupervisorContext } from './supervisor-context.js';

export type SupervisorFactory = (
  owner: string | undefined,
  tenants: () => readonly Tenant[],
) => Omit<SupervisorContext, 'onIdle'>;

/** The processes of one server, and which conversation uses which. */
export class ProcessSet {
  readonly #settings: HostedServerSettings;
  readonly #create: SupervisorFactory;
  readonly #tenants = new Set<Tenant>();
  /** The key is a conversation, a principal, or an index in the pool (0 for one shared process). */
  readonly #supervisors = new Map<Tenant | string | number, Supervisor>();
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

  join(tenant: Tenant): void {
    this.#tenants.add(tenant);
  }

  /** A process that was for this tenant alone ends with it. */
  leave(tenant: Tenant): void {
    this.#tenants.delete(tenant);
    if (tenant.principal !== undefined) this.#forget(tenant.principal);
    if (this.#settings.processes !== 'per-conversation') return;
    const supervisor = this.#supervisors.get(tenant);
    this.#supervisors.delete(tenant);
    if (supervisor) this.#awaitEnd(supervisor.stop(0, 'was for a conversation that has ended'));
  }

  /** A connection to a process for this tenant. Settles when the process is ready. */
  async open(tenant: Tenant): Promise<TenantCaller> {
    if (!this.#tenants.has(tenant)) {
      throw new IsthmusError('CANCELLED', 'The conversation has ended', { sent: 'no' });
    }
    if (typeof this.#settings.processes !== 'object') {
      return (await this.#supervisorOf(tenant).acquire()).callerOf(tenant);
    }
    const pool = this.#common();
    // The first process that is ready is used. The others start meanwhile.
    const starting = pool.map((supervisor) => supervisor.acquire());
    for (const attempt of starting) attempt.catch(() => {});
    const home = leastLoaded(pool)?.current ?? (await firstOf(starting));
    return home.callerOf(tenant);
  }

  /** In a pool: the tenant's caller in the process with the fewest calls. */
  pick(tenant: Tenant): TenantCaller | undefined {
    if (typeof this.#settings.processes !== 'object') return undefined;
    return leastLoaded(this.#supervisors.values())?.current?.callerOf(tenant);
  }

  /** Whether a process for this tenant runs, or will be started without a further call. */
  isRecovering(tenant: Tenant): boolean {
    if (typeof this.#settings.processes === 'object') return this.#common().some(isRecovering);
    return isRecovering(this.#supervisorOf(tenant));
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
      return this.#get(at, size === 1 ? undefined : `#${at + 1}`, () => [...this.#tenants]);
    });
  }

  #supervisorOf(tenant: Tenant): Supervisor {
    switch (this.#settings.processes) {
      case 'per-conversation':
        return this.#get(tenant, tenant.label, () => [tenant]);
      case 'per-principal': {
        const { principal } = tenant;
        if (principal === undefined) throw noPrincipal(tenant.label);
        return this.#get(principal, principal, () =>
          [...this.#tenants].filter((each) => each.principal === principal),
        );
      }
      default:
        return this.#common()[0]!;
    }
  }

  #get(
    key: Tenant | string | number,
    owner: string | undefined,
    tenants: () => readonly Tenant[],
  ): Supervisor {
    let supervisor = this.#supervisors.get(key);
    if (!supervisor) {
      const onIdle = () => this.#forget(key);
      supervisor = new Supervisor({ ...this.#create(owner, tenants), onIdle });
      this.#supervisors.set(key, supervisor);
    }
    return supervisor;
  }

  /** Forgets a principal that has no conversation and no process. */
  #forget(key: Tenant | string | number): void {
    if (
      this.#settings.processes !== 'per-principal' ||
      this.#supervisors.get(key as string)?.state !== 'idle'
    )
      return;
    if (![...this.#tenants].some(({ principal }) => principal === key)) this.#supervisors.delete(key);
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

function leastLoaded(pool: Iterable<Supervisor>): Supervisor | undefined {
  let least: Supervisor | undefined;
  for (const each of pool) if (each.current && (!least || each.load < least.load)) least = each;
  return least;
}

/** The first that succeeds; when none does, the first failure. */
async function firstOf<T>(attempts: readonly Promise<T>[]): Promise<T> {
  try {
    return await Promise.any(attempts);
  } catch (error) {
    throw error instanceof AggregateError ? error.errors[0] : error;
  }
}
