import { orAborted } from '../async/abort.js';
import type { Clock } from '../async/clock.js';
import type { ActiveConnection, ConnectionSource } from '../client/active-connection.js';
import type { Client } from '../client/client.js';
import type { Upstream } from '../client/connect.js';
import type { EraCache } from '../client/negotiation/era-cache.js';
import { capabilitiesOf, unionOf } from '../era/answers.js';
import { IsthmusError } from '../errors.js';
import type { Change, Era } from '../exchange/call.js';
import type { ChildWatcher } from '../process/child.js';
import type { Implementation } from '../wire/model.js';
import {
  type Conversation,
  type ConversationOptions,
  type OwnedConversationOptions,
  openConversation,
  type Participant,
} from './conversation.js';
import { type HostedServerSettings, resolveDefinition, type ServerDefinition } from './definition.js';
import type { HostOccurrence } from './host-event.js';
import { hostUpstream } from './host-upstream.js';
import { CallSemaphore } from './process/call-semaphore.js';
import { changedLists, type FirstLists } from './process/first-lists.js';
import { openProcessInstance } from './process/open-process-instance.js';
import type { ProcessInstance } from './process/process-instance.js';
import { ProcessSet, type SupervisorFactory } from './process/process-set.js';
import type { Supervisor } from './process/supervisor.js';
import { type ProcessStatus, type ServerStatus, summarize } from './status.js';

/** What all servers of a host have in common. */
export interface HostCommons {
  readonly clock: Clock;
  readonly random: () => number;
  readonly info: Implementation;
  readonly cache: EraCache | undefined;
  readonly watchers: readonly ChildWatcher[];
  /** Places for processes of all servers. */
  readonly budget: CallSemaphore;
  /** Settles when leftovers of earlier hosts are gone: a server that can run only once must find its place free. */
  readonly prepared: Promise<unknown>;
}

/** One server of a host: its definition, its processes, its conversations. */
export class HostedServer {
  readonly name: string;
  readonly #commons: HostCommons;
  readonly #emit: (occurrence: HostOccurrence) => void;
  readonly #conversations = new Set<Conversation>();
  readonly #budget: CallSemaphore;
  #settings: HostedServerSettings;
  #processSet: ProcessSet;
  /** Of earlier definitions, with calls still in flight. */
  readonly #retired = new Set<ProcessSet>();
  #enabled: boolean;
  #closed = false;
  /** The change of processes that is under way. Calls that need a process wait for it. */
  #changing: Promise<void> = Promise.resolve();
  /** Calls that wait for a process. */
  #waiting = 0;
  #number = 0;
  #named = 0;
  #era: Era | undefined;
  #lists: FirstLists | undefined;

  constructor(
    name: string,
    definition: ServerDefinition,
    commons: HostCommons,
    emit: (occurrence: HostOccurrence) => void,
  ) {
    this.name = name;
    this.#commons = commons;
    this.#emit = emit;
    this.#settings = resolveDefinition(name, definition);
    this.#enabled = !this.#settings.disabled;
    const { maxProcesses, maxQueue } = this.#settings;
    this.#budget = new CallSemaphore(name, maxProcesses, maxQueue, this.#onQueue);
    this.#processSet = this.#newProcessSet();
    this.#startIfEager();
  }

  get settings(): HostedServerSettings {
    return this.#settings;
  }

  conversation(options: ConversationOptions): Client {
    return this.#converse(options).client;
  }

  upstream(): Upstream {
    const { name } = this;
    return hostUpstream(
      name,
      () => this.#settings.processes,
      (options) => this.#converse(options).session,
    );
  }

  #converse(options: OwnedConversationOptions): Conversation {
    if (this.#closed) throw this.#closedError();
    if (this.#settings.processes === 'per-principal' && options.principal === undefined) {
      const message = `${this.name} has a process per principal: open its conversations with a principal`;
      throw new IsthmusError('INVALID_OPTION', message, { sent: 'no' });
    }
    this.#named += 1;
    const conversation = openConversation(options, {
      label: options.name ?? `${this.name}#${this.#named}`,
      info: this.#commons.info,
      clock: this.#commons.clock,
      timeoutMs: this.#settings.timeoutMs,
      links: (member) => {
        this.#processSet.join(member);
        return this.#links(member);
      },
      onClosed: () => {
        this.#conversations.delete(conversation);
        this.#processSet.leave(conversation.member);
      },
    });
    this.#conversations.add(conversation);
    return conversation;
  }

  /** Settles when its processes have answered. */
  async start(why: 'use' | 'eager' = 'use'): Promise<void> {
    await this.#changing;
    this.#checkAvailable();
    await this.#commons.prepared;
    await this.#processSet.start(why);
  }

  /** Ends its processes when what is in flight is done, and starts fresh ones. */
  restart(): Promise<void> {
    return this.#change(async () => {
      this.#checkAvailable();
      await this.#processSet.replace('restart');
    });
  }

  /** Ends its processes when what is in flight is done. Conversations stay; their calls are refused. */
  disable(): Promise<void> {
    this.#enabled = false;
    return this.#change(() => this.#processSet.stop(this.#settings.drainMs, 'is switched off'));
  }

  async enable(): Promise<void> {
    if (this.#enabled || this.#closed) return;
    // At once, so that the last word holds, in whatever order the changes get done.
    this.#enabled = true;
    await this.#change(async () => this.#replaceProcessSet());
    this.#startIfEager();
  }

  /** From now on it is defined otherwise; processes of the old definition end when what is in flight is done. */
  async configure(definition: ServerDefinition): Promise<void> {
    const settings = resolveDefinition(this.name, definition);
    this.#enabled = !settings.disabled;
    await this.#change(async () => {
      const old = this.#processSet;
      const { overlap, drainMs } = this.#settings;
      this.#settings = settings;
      this.#budget.resize(settings.maxProcesses, settings.maxQueue);
      // Another command may be of another era.
      this.#era = undefined;
      this.#replaceProcessSet();
      const ended = this.#retire(old, drainMs);
      if (!overlap) await ended;
    });
    this.#startIfEager();
  }

  async close(drainMs: number): Promise<void> {
    this.#closed = true;
    const processSets = () => [this.#processSet, ...this.#retired];
    if (drainMs > 0) await Promise.all(processSets().map((processSet) => processSet.stop(drainMs, CLOSING)));
    await Promise.all([...this.#conversations].map((conversation) => conversation.close()));
    await Promise.all(processSets().map((processSet) => processSet.stop(0, CLOSING)));
  }

  async status(): Promise<ServerStatus> {
    return this.#summarize(await this.#processSet.status());
  }

  snapshot(): ServerStatus {
    return this.#summarize(this.#processSet.snapshot());
  }

  #summarize(processes: readonly ProcessStatus[]): ServerStatus {
    return summarize(processes, {
      name: this.name,
      enabled: this.#enabled,
      model: this.#settings.processes,
      conversations: this.#conversations.size,
      waiting: this.#waiting,
      maxParked: this.#settings.maxParked,
      lastExit: this.#processSet.lastExit,
    });
  }

  readonly #onQueue = (queued: number, refused: boolean): void => {
    this.#emit({ kind: 'queue', queued, refused });
  };

  #links(member: Participant): ConnectionSource {
    return {
      label: this.name,
      open: ({ signal }) => orAborted(this.#open(member), signal, (link) => void link.close()),
      supervisor: {
        lastExit: () => this.#processSet.lastExit,
        waitForConnection: () => this.#waitInLine(),
        // Without restarts only a use starts a process; what the host itself has ended it replaces in any case.
        reopensAfterEnd: (error) => this.#settings.restart !== undefined || error.sent === 'no',
        reopensAfterFailure: () => this.#enabled && !this.#closed && this.#processSet.isRecovering(member),
        isSafe: ({ method, params }) =>
          this.#settings.trustHints &&
          method === 'tools/call' &&
          (this.#lists?.harmless.has(String(params['name'])) ?? false),
      },
    };
  }

  #waitInLine(): () => void {
    // The first call starts the process and waits for it, even when the queue has no places.
    const places = Math.max(1, this.#settings.maxQueue);
    if (this.#waiting >= places) {
      this.#onQueue(this.#waiting, true);
      const message = `${this.name} is busy: ${this.#waiting} calls wait for a process; try again later`;
      throw new IsthmusError('BUSY', message, { sent: 'no' });
    }
    this.#waiting += 1;
    return () => {
      this.#waiting -= 1;
    };
  }

  async #open(member: Participant): Promise<ActiveConnection> {
    this.#checkAvailable();
    await this.#commons.prepared;
    // One change of processes may follow the other.
    let change: Promise<void> | undefined;
    while (change !== this.#changing) {
      change = this.#changing;
      await change;
    }
    this.#checkAvailable();
    const processSet = this.#processSet;
    try {
      return await processSet.open(member);
    } catch (error) {
      // While it waited, the server was switched off, or is defined otherwise now.
      this.#checkAvailable();
      if (processSet !== this.#processSet) return this.#open(member);
      throw error;
    }
  }

  #newProcessSet(): ProcessSet {
    return new ProcessSet(this.#settings, (owner, members) => this.#supervision(owner, members));
  }

  #replaceProcessSet(): void {
    this.#processSet = this.#newProcessSet();
    for (const conversation of this.#conversations) this.#processSet.join(conversation.member);
  }

  async #retire(processSet: ProcessSet, drainMs: number): Promise<void> {
    this.#retired.add(processSet);
    await processSet.stop(drainMs, 'has a new configuration');
    this.#retired.delete(processSet);
  }

  #supervision(
    owner: string | undefined,
    members: () => readonly Participant[],
  ): ReturnType<SupervisorFactory> {
    const { clock, random, budget } = this.#commons;
    const settings = this.#settings;
    let supervisor: Supervisor | undefined;
    return {
      label: this.name,
      settings,
      clock,
      random,
      owner,
      budgets: [this.#budget, budget],
      isWanted: () => settings.start === 'eager' || members().length > 0,
      nextNumber: () => {
        this.#number += 1;
        return this.#number;
      },
      adopt: (self) => {
        supervisor = self;
      },
      open: async (number, signal) => {
        const generation: ProcessInstance = await openProcessInstance(
          {
            label: this.name,
            number,
            settings,
            clock,
            info: this.#commons.info,
            capabilities: unionOf([
              settings.capabilities,
              capabilitiesOf(settings.answers),
              ...members().map((each) => each.capabilities),
            ]),
            remembered: this.#era,
            cache: this.#commons.cache,
            watchers: this.#commons.watchers,
            onQueue: this.#onQueue,
            onParkedFull: (parked) => this.#emit({ kind: 'parked', generation: number, parked }),
            onStarted: (pid) => supervisor?.started(number, pid),
            onRest: () => supervisor?.rested(generation),
            onLog: (entry, pid) =>
              this.#emit({ kind: 'log', generation: number, pid, conversation: undefined, entry }),
            onMemberLog: ({ label }, entry) => {
              const { pid } = generation;
              this.#emit({ kind: 'log', generation: number, pid, conversation: label, entry });
            },
            onStderr: (text, pid) => {
              if (settings.logStderr) this.#emit({ kind: 'stderr', generation: number, pid, text });
            },
            onChange: (change) => this.#changed(change),
          },
          signal,
        );
        this.#era = generation.verdict.era;
        return generation;
      },
      onLists: (generation, lists) => this.#onLists(generation, lists),
      emit: this.#emit,
    };
  }

  #changed(change: Change): void {
    for (const conversation of this.#conversations) conversation.changed(change);
  }

  /** Announces what has changed since the previous process to the conversations that listen. */
  #onLists(generation: ProcessInstance, lists: FirstLists): void {
    const changed = this.#lists ? changedLists(this.#lists.prints, lists.prints) : [];
    this.#lists = { ...lists, prints: { ...this.#lists?.prints, ...lists.prints } };
    if (changed.length === 0) return;
    this.#emit({ kind: 'changed', generation: generation.number, what: changed });
    for (const conversation of this.#conversations) {
      for (const kind of changed) conversation.announce({ kind });
    }
  }

  /** One change after the other. A change that failed does not keep the next one away. */
  #change(action: () => Promise<void>): Promise<void> {
    const changing = this.#changing.then(action);
    this.#changing = changing.catch(() => {});
    return changing;
  }

  #startIfEager(): void {
    if (this.#settings.start !== 'eager' || !this.#enabled) return;
    // The status has the reason, and so has the error of the next call.
    this.start('eager').catch(() => {});
  }

  #checkAvailable(): void {
    if (this.#closed) throw this.#closedError();
    if (this.#enabled) return;
    throw new IsthmusError('DISABLED', `${this.name} is switched off; enable it to use it`, { sent: 'no' });
  }

  #closedError(): IsthmusError {
    return new IsthmusError('CONNECTION_CLOSED', `The host of ${this.name} is closed`, { sent: 'no' });
  }
}

const CLOSING = 'is being closed';
