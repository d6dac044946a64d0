import type { Clock } from '../../async/clock.js';
import type { EraCache } from '../../client/negotiation/era-cache.js';
import { capabilitiesOf, unionOf } from '../../era/answers.js';
import type { Change, Era } from '../../exchange/call.js';
import type { ChildWatcher } from '../../process/child.js';
import type { Implementation } from '../../wire/model.js';
import type { Participant } from '../conversation.js';
import type { HostedServerSettings } from '../definition.js';
import type { HostOccurrence } from '../host-event.js';
import type { CallSemaphore } from './call-semaphore.js';
import { changedLists, type FirstLists } from './first-lists.js';
import { openProcessInstance } from './open-process-instance.js';
import type { ProcessInstance } from './process-instance.js';
import type { SupervisorFactory } from './process-set.js';
import type { Supervisor } from './supervisor.js';

/** What all servers of a host have in common. */
export interface HostContext {
  readonly clock: Clock;
  readonly random: () => number;
  readonly info: Implementation;
  readonly cache: EraCache | undefined;
  readonly watchers: readonly ChildWatcher[];
  /** A slot for each process of all servers. */
  readonly processSlots: CallSemaphore;
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
  #lists: FirstLists | undefined;

  constructor(options: ProcessFactoryOptions) {
    this.#options = options;
  }

  /** A new command may have another era. */
  forgetEra(): void {
    this.#era = undefined;
  }

  /** Whether the tool has the read-only or idempotent hint. */
  isHarmless(tool: string): boolean {
    return this.#lists?.harmless.has(tool) ?? false;
  }

  /** The context of each supervisor, for processes with these settings. */
  contextsFor(settings: HostedServerSettings): SupervisorFactory {
    return (owner, participants) => this.#context(settings, owner, participants);
  }

  #context(
    settings: HostedServerSettings,
    owner: string | undefined,
    participants: () => readonly Participant[],
  ): ReturnType<SupervisorFactory> {
    const { label, host, processSlots, emit } = this.#options;
    let supervisor: Supervisor | undefined;
    return {
      label,
      settings,
      clock: host.clock,
      random: host.random,
      owner,
      processSlots: [processSlots, host.processSlots],
      isWanted: () => settings.start === 'eager' || participants().length > 0,
      nextNumber: () => {
        this.#number += 1;
        return this.#number;
      },
      adopt: (self) => {
        supervisor = self;
      },
      open: (number, signal) => this.#open(settings, number, participants(), () => supervisor, signal),
      onLists: (instance, lists) => this.#onLists(instance, lists),
      emit,
    };
  }

  async #open(
    settings: HostedServerSettings,
    number: number,
    participants: readonly Participant[],
    supervisor: () => Supervisor | undefined,
    signal: AbortSignal,
  ): Promise<ProcessInstance> {
    const { label, host, emit, onQueue, onChange } = this.#options;
    const instance: ProcessInstance = await openProcessInstance(
      {
        label,
        number,
        settings,
        clock: host.clock,
        info: host.info,
        capabilities: unionOf([
          settings.capabilities,
          capabilitiesOf(settings.answers),
          ...participants.map((each) => each.capabilities),
        ]),
        remembered: this.#era,
        cache: host.cache,
        watchers: host.watchers,
        onQueue,
        onParkedFull: (parked) => emit({ kind: 'parked', generation: number, parked }),
        onStarted: (pid) => supervisor()?.started(number, pid),
        onIdle: () => supervisor()?.instanceIdle(instance),
        onLog: (entry, pid) => emit({ kind: 'log', generation: number, pid, conversation: undefined, entry }),
        onParticipantLog: (participant, entry) => {
          const { pid } = instance;
          emit({ kind: 'log', generation: number, pid, conversation: participant.label, entry });
        },
        onStderr: (text, pid) => {
          if (settings.logStderr) emit({ kind: 'stderr', generation: number, pid, text });
        },
        onChange,
      },
      signal,
    );
    this.#era = instance.verdict.era;
    return instance;
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
