import type { Clock } from '../../async/clock.js';
import type { EraCache } from '../../client/negotiation/era-cache.js';
import { negotiate } from '../../client/negotiation/negotiate.js';
import type { ConnectSettings } from '../../client/options.js';
import { capabilitiesOf, unionOf } from '../../era/answers.js';
import type { Tenant } from '../../era/client/tenant.js';
import { IsthmusError } from '../../errors.js';
import type { Change, Era } from '../../exchange/call.js';
import type { Connector } from '../../exchange/connection.js';
import type { Tap } from '../../exchange/tap.js';
import type { Child, ChildWatcher } from '../../process/child.js';
import { openChild } from '../../transport/child-connection.js';
import type { ClientCapabilities, Implementation, LogEntry } from '../../wire/model.js';
import type { HostedServerSettings } from '../definition.js';
import type { HostOccurrence } from '../host-event.js';
import type { CallSemaphore } from './call-semaphore.js';
import { changedLists, type FirstLists } from './first-lists.js';
import { ProcessInstance } from './process-instance.js';
import type { SupervisorFactory } from './process-set.js';
import type { ProcessOpening } from './supervisor-context.js';

/** What all servers of a host have in common. */
export interface HostContext {
  readonly clock: Clock;
  readonly random: () => number;
  readonly info: Implementation;
  readonly cache: EraCache | undefined;
  readonly watchers: readonly ChildWatcher[];
  /** A slot for each process of all servers. */
  readonly processSlots: CallSemaphore;
  /** Sees what goes over the connections of a server. */
  readonly tap: ((server: string) => Tap) | undefined;
  /** Settles when processes that earlier hosts left behind are gone: some servers can run only once. */
  readonly prepared: Promise<unknown>;
}

export interface ProcessFactoryOptions {
  /** The server's name. */
  readonly label: string;
  readonly host: HostContext;
  /** The process slots of the server. */
  readonly processSlots: CallSemaphore;
  readonly emit: (occurrence: HostOccurrence) => void;
  readonly onQueue: (queued: number, refused: boolean) => void;
  /** The server reported a change. */
  readonly onChange: (change: Change) => void;
  /** The lists of a new process differ from those of the previous one. */
  readonly onListsChanged: (change: Change) => void;
}

/** Starts the processes of one server, and remembers what outlives each: their count, the era and the last lists. */
export class ProcessFactory {
  readonly #options: ProcessFactoryOptions;
  #number = 0;
  #era: Era | undefined;
  /** What the newest process was told, if it is legacy. */
  #declared: { readonly number: number; readonly capabilities: ClientCapabilities } | undefined;
  #lists: FirstLists | undefined;

  constructor(options: ProcessFactoryOptions) {
    this.#options = options;
  }

  /** A new command may have another era. */
  forgetEra(): void {
    this.#era = undefined;
  }

  /**
   * What the newest process was not told that a conversation can answer. A legacy server learns it at its start only; a
   * modern one with each request.
   */
  undeclared(capabilities: ClientCapabilities): { number: number; names: string[] } | undefined {
    const declared = this.#declared;
    const names = declared
      ? Object.keys(capabilities).filter((name) => !(name in declared.capabilities))
      : [];
    return declared && names.length > 0 ? { number: declared.number, names } : undefined;
  }

  /** Whether the tool has the read-only or idempotent hint. */
  isHarmless(tool: string): boolean {
    return this.#lists?.harmless.has(tool) ?? false;
  }

  /** The context of each supervisor, for processes with these settings. */
  contextsFor(settings: HostedServerSettings): SupervisorFactory {
    return (owner, tenants) => this.#context(settings, owner, tenants);
  }

  #context(
    settings: HostedServerSettings,
    owner: string | undefined,
    tenants: () => readonly Tenant[],
  ): ReturnType<SupervisorFactory> {
    const { label, host, processSlots, emit } = this.#options;
    return {
      label,
      settings,
      clock: host.clock,
      random: host.random,
      owner,
      processSlots: [processSlots, host.processSlots],
      isWanted: () => settings.start === 'eager' || tenants().length > 0,
      nextNumber: () => {
        this.#number += 1;
        return this.#number;
      },
      open: (opening) => this.#open(settings, tenants(), opening),
      onLists: (instance, lists) => this.#onLists(instance, lists),
      emit,
    };
  }

  async #open(
    settings: HostedServerSettings,
    tenants: readonly Tenant[],
    { number, signal, onStarted, onIdle }: ProcessOpening,
  ): Promise<ProcessInstance> {
    const { label, host, emit, onQueue } = this.#options;
    const { command, maxInFlight, maxQueue, maxParked } = settings;
    let child: Child | undefined;
    const connector: Connector = {
      label,
      identity: identityOf(command),
      connect() {
        const { watchers } = host;
        const onStderr = (text: string) => {
          if (settings.logStderr) emit({ kind: 'stderr', generation: number, pid: child?.pid, text });
        };
        const tap = host.tap?.(label);
        const opened = openChild({ ...command, label, watchers, onStderr, ...(tap && { tap }) });
        child = opened.child;
        onStarted(child.pid);
        return opened.connection;
      },
    };
    try {
      const connecting = this.#connectSettings(settings, number, tenants, () => child?.pid);
      const connection = await negotiate(connector, connecting, { remembered: this.#era, signal });
      const instance: ProcessInstance = new ProcessInstance(number, connection, child!, host.info, {
        ...{ label, maxInFlight, maxQueue, maxParked, onQueue },
        onParkedFull: (parked) => emit({ kind: 'parked', generation: number, parked }),
        onIdle: () => onIdle(instance),
      });
      this.#era = instance.verdict.era;
      const { capabilities } = connecting;
      this.#declared = this.#era === 'legacy' ? { number, capabilities } : undefined;
      return instance;
    } catch (error) {
      const stderrTail = child?.stderr.tail();
      if (!(error instanceof IsthmusError) || error.stderrTail !== undefined || !stderrTail) throw error;
      throw error.with({ stderrTail });
    }
  }

  #connectSettings(
    settings: HostedServerSettings,
    generation: number,
    tenants: readonly Tenant[],
    pid: () => number | undefined,
  ): ConnectSettings {
    const { mode, maxRounds, connectTimeoutMs, silenceMs, bootMs, timeoutMs, answers, questions } = settings;
    const { host, emit, onChange } = this.#options;
    const { clock, info, cache } = host;
    const emitLog = (conversation: string | undefined, entry: LogEntry) =>
      emit({ kind: 'log', generation, pid: pid(), conversation, entry });
    return {
      ...{ mode, maxRounds, connectTimeoutMs, silenceMs, bootMs, timeoutMs, questions },
      ...{ clock, info, cache, generation, onChange },
      capabilities: unionOf([
        settings.capabilities,
        capabilitiesOf(answers),
        ...tenants.map((tenant) => tenant.capabilities ?? capabilitiesOf(tenant.answers)),
      ]),
      answers: {},
      fallbackAnswers: answers,
      onLog: (entry) => emitLog(undefined, entry),
      onTenantLog: (tenant, entry) => emitLog(tenant.label, entry),
      reconnect: false,
    };
  }

  /** Compares the lists of a new process with those of the previous one. */
  #onLists(instance: ProcessInstance, lists: FirstLists): void {
    const changed = this.#lists ? changedLists(this.#lists.prints, lists.prints) : [];
    this.#lists = { ...lists, prints: { ...this.#lists?.prints, ...lists.prints } };
    if (changed.length === 0) return;
    this.#options.emit({ kind: 'changed', generation: instance.number, what: changed });
    for (const kind of changed) this.#options.onListsChanged({ kind });
  }
}

/** The key of this server in the era cache. A client with the same command has the same key. */
function identityOf({
  command,
  args = [],
  cwd = process.cwd(),
  env = {},
}: HostedServerSettings['command']): string {
  return JSON.stringify([command, args, cwd, env]);
}
