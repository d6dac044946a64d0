import type { Client } from '../client/client.js';
import type { Upstream } from '../client/connect.js';
import type { Tenant } from '../era/client/tenant.js';
import type { TenantCaller } from '../era/client/tenant-caller.js';
import { IsthmusError } from '../errors.js';
import { Conversation, type ConversationOptions, type OwnedConversationOptions } from './conversation.js';
import { type HostedServerSettings, resolveDefinition, type ServerDefinition } from './definition.js';
import type { HostOccurrence } from './host-event.js';
import { hostUpstream } from './host-upstream.js';
import { CallSemaphore } from './process/call-semaphore.js';
import { type HostContext, ProcessFactory } from './process/process-factory.js';
import { ProcessSet } from './process/process-set.js';
import { type ProcessStatus, type ServerStatus, summarize } from './status.js';
import { TenantConnections, type TenantOutlet } from './tenant-connections.js';

/** One server of a host: its definition, its processes, its conversations. */
export class HostedServer {
  readonly name: string;
  readonly #host: HostContext;
  readonly #emit: (occurrence: HostOccurrence) => void;
  readonly #conversations = new Set<Conversation>();
  readonly #processSlots: CallSemaphore;
  readonly #processes: ProcessFactory;
  #settings: HostedServerSettings;
  #processSet: ProcessSet;
  /** Process sets of earlier definitions that still have calls in flight. */
  readonly #retired = new Set<ProcessSet>();
  #enabled: boolean;
  #closed = false;
  /** The current change of processes. Calls that need a process wait for it. */
  #changing: Promise<void> = Promise.resolve();
  /** Calls that wait for a process. */
  #waiting = 0;
  #conversationCount = 0;

  constructor(
    name: string,
    definition: ServerDefinition,
    host: HostContext,
    emit: (occurrence: HostOccurrence) => void,
  ) {
    this.name = name;
    this.#host = host;
    this.#emit = emit;
    this.#settings = resolveDefinition(name, definition);
    this.#enabled = !this.#settings.disabled;
    const { maxProcesses, maxQueue } = this.#settings;
    this.#processSlots = new CallSemaphore(name, maxProcesses, maxQueue, this.#onQueue);
    this.#processes = new ProcessFactory({
      label: name,
      host,
      processSlots: this.#processSlots,
      emit,
      onQueue: this.#onQueue,
      onChange: (change) => {
        for (const conversation of this.#conversations) conversation.changed(change);
      },
      onListsChanged: (change) => {
        for (const conversation of this.#conversations) conversation.announce(change);
      },
    });
    this.#processSet = this.#newProcessSet();
    this.#startIfEager();
  }

  get settings(): HostedServerSettings {
    return this.#settings;
  }

  conversation(options: ConversationOptions): Client {
    const { client, tenant } = this.#openConversation(options);
    // Not for a bridge: it declares all that it can carry, whatever its clients are.
    this.#reviewCapabilities(tenant);
    return client;
  }

  upstream(): Upstream {
    const { name } = this;
    return hostUpstream(
      name,
      () => this.#settings.processes,
      (options) => this.#openConversation(options).caller,
    );
  }

  #openConversation(options: OwnedConversationOptions): Conversation {
    if (this.#closed) throw this.#closedError();
    if (this.#settings.processes === 'per-principal' && options.principal === undefined) {
      const message = `${this.name} has a process per principal: open its conversations with a principal`;
      throw new IsthmusError('INVALID_OPTION', message, { sent: 'no' });
    }
    this.#conversationCount += 1;
    const conversation = new Conversation(options, {
      label: options.name ?? `${this.name}#${this.#conversationCount}`,
      info: this.#host.info,
      clock: this.#host.clock,
      timeoutMs: this.#settings.timeoutMs,
      connections: (tenant) => {
        this.#processSet.join(tenant);
        return new TenantConnections(this.#outlet, tenant);
      },
      onClosed: this.#onClosed,
    });
    this.#conversations.add(conversation);
    return conversation;
  }

  readonly #onClosed = (conversation: Conversation): void => {
    this.#conversations.delete(conversation);
    this.#processSet.leave(conversation.tenant);
  };

  /**
   * A running legacy server was told at its start what the conversations of that time can answer, and may offer less than
   * it would to this one. It is started again if nothing else uses it.
   */
  #reviewCapabilities({ label, capabilities = {} }: Conversation['tenant']): void {
    const lacking = this.#processes.undeclared(capabilities);
    if (!lacking || this.#processSet.snapshot().every(({ state }) => state !== 'ready')) return;
    const { inFlight } = this.snapshot();
    const restarts = this.#settings.restart !== undefined && this.#conversations.size === 1 && inFlight === 0;
    const { number: generation, names } = lacking;
    this.#emit({ kind: 'undeclared', generation, conversation: label, capabilities: names, restarts });
    if (restarts) this.restart().catch(() => {});
  }

  /** Starts the processes. Settles when they have answered. */
  async start(why: 'use' | 'eager' = 'use'): Promise<void> {
    await this.#changing;
    this.#checkAvailable();
    await this.#host.prepared;
    await this.#processSet.start(why);
  }

  /** Ends the processes when their calls in flight are done, and starts new ones. */
  restart(): Promise<void> {
    return this.#change(async () => {
      this.#checkAvailable();
      await this.#processSet.replace('restart');
    });
  }

  /** Ends the processes when their calls in flight are done. Conversations stay open; their calls are refused. */
  disable(): Promise<void> {
    this.#enabled = false;
    return this.#change(() => this.#processSet.stop(this.#settings.drainMs, 'is switched off'));
  }

  async enable(): Promise<void> {
    if (this.#enabled || this.#closed) return;
    // Set at once, so that the last request wins, in whatever order the changes are done.
    this.#enabled = true;
    await this.#change(async () => this.#replaceProcessSet());
    this.#startIfEager();
  }

  /** Replaces the definition. Processes of the old one end when their calls in flight are done. */
  async configure(definition: ServerDefinition): Promise<void> {
    const settings = resolveDefinition(this.name, definition);
    this.#enabled = !settings.disabled;
    await this.#change(async () => {
      const old = this.#processSet;
      const { overlap, drainMs } = this.#settings;
      this.#settings = settings;
      this.#processSlots.resize(settings.maxProcesses, settings.maxQueue);
      this.#processes.forgetEra();
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

  get isBackingOff(): boolean {
    return this.#processSet.isBackingOff;
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

  readonly #outlet: TenantOutlet = {
    label: () => this.name,
    open: (tenant) => this.#open(tenant),
    pick: (tenant) => this.#processSet.pick(tenant),
    reopensAfterFailure: (tenant) => this.#enabled && !this.#closed && this.#processSet.isRecovering(tenant),
    lastExit: () => this.#processSet.lastExit,
    waitForConnection: () => this.#countWaiting(),
    // Without restarts only a call starts a process. A process that the host itself ended is replaced in any case.
    reopensAfterEnd: (error) => this.#settings.restart !== undefined || error.sent === 'no',
    isSafe: ({ method, params }) =>
      this.#settings.trustHints &&
      method === 'tools/call' &&
      this.#processes.isHarmless(String(params['name'])),
  };

  #countWaiting(): () => void {
    // The first call starts the process and waits for it, even with a queue of length 0.
    if (this.#waiting >= Math.max(1, this.#settings.maxQueue)) {
      this.#onQueue(this.#waiting, true);
      const message = `${this.name} is busy: ${this.#waiting} calls wait for a process; try again later`;
      throw new IsthmusError('BUSY', message, { sent: 'no' });
    }
    this.#waiting += 1;
    return () => {
      this.#waiting -= 1;
    };
  }

  async #open(tenant: Tenant): Promise<TenantCaller> {
    this.#checkAvailable();
    await this.#host.prepared;
    // A change of processes may follow another.
    let change: Promise<void> | undefined;
    while (change !== this.#changing) {
      change = this.#changing;
      await change;
    }
    this.#checkAvailable();
    const processSet = this.#processSet;
    try {
      return await processSet.open(tenant);
    } catch (error) {
      // While the call waited, the server may have been switched off or have got a new definition.
      this.#checkAvailable();
      if (processSet !== this.#processSet) return this.#open(tenant);
      throw error;
    }
  }

  #newProcessSet(): ProcessSet {
    return new ProcessSet(this.#settings, this.#processes.contextsFor(this.#settings));
  }

  #replaceProcessSet(): void {
    this.#processSet = this.#newProcessSet();
    for (const conversation of this.#conversations) this.#processSet.join(conversation.tenant);
  }

  async #retire(processSet: ProcessSet, drainMs: number): Promise<void> {
    this.#retired.add(processSet);
    await processSet.stop(drainMs, 'has a new configuration');
    this.#retired.delete(processSet);
  }

  /** Changes run one after the other. The next one runs even if one fails. */
  #change(action: () => Promise<void>): Promise<void> {
    const changing = this.#changing.then(action);
    this.#changing = changing.catch(() => {});
    return changing;
  }

  #startIfEager(): void {
    if (this.#settings.start !== 'eager' || !this.#enabled) return;
    // The status and the error of the next call have the reason.
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
