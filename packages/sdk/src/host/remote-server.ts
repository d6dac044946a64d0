import { isDeepStrictEqual } from 'node:util';
import { within } from '../async/clock.js';
import type { Client } from '../client/client.js';
import type { Upstream } from '../client/connect.js';
import type { ConnectionSource } from '../client/connection-source.js';
import { negotiate } from '../client/negotiation/negotiate.js';
import { type ConnectSettings, resolveConnect } from '../client/options.js';
import { type SocketSpec, type UrlSpec, withoutSource } from '../config/server-spec.js';
import type { Tenant } from '../era/client/tenant.js';
import type { TenantCaller } from '../era/client/tenant-caller.js';
import { IsthmusError, messageOf } from '../errors.js';
import { CallCounter } from './call-counter.js';
import { Conversation, type ConversationOptions, type OwnedConversationOptions } from './conversation.js';
import type { HostOccurrence } from './host-event.js';
import { hostUpstream, upstreamOptionsOf } from './host-upstream.js';
import type { HostContext } from './process/process-factory.js';
import { connectorOfSpec } from './spec-connector.js';
import type { LastExit, ServerStatus } from './status.js';

/** A server of a host that runs elsewhere: at a URL or a socket. Each conversation has its own connection. */
export class RemoteServer {
  readonly name: string;
  readonly #host: HostContext;
  readonly #emit: (occurrence: HostOccurrence) => void;
  readonly #conversations = new Set<Conversation>();
  /** The open connections, with the calls in flight on each. */
  readonly #connections = new Map<TenantCaller, CallCounter>();
  #spec: UrlSpec | SocketSpec;
  #enabled: boolean;
  #closed = false;
  #conversationCount = 0;
  #opening = 0;
  /** How many connections were opened, as the starts of a process are counted. */
  #generation = 0;
  #lastExit: LastExit | undefined;

  constructor(spec: UrlSpec | SocketSpec, host: HostContext, emit: (occurrence: HostOccurrence) => void) {
    this.name = spec.name;
    this.#spec = spec;
    this.#host = host;
    this.#emit = emit;
    this.#enabled = !spec.disabled;
  }

  conversation(options: ConversationOptions): Client {
    return this.#openConversation(options, undefined).client;
  }

  upstream(): Upstream {
    return hostUpstream(
      this.name,
      () => 'per-conversation',
      (options) => this.#openConversation(options, 'adaptive').caller,
    );
  }

  /** Connects once. Rejects with the reason when that fails. */
  async start(): Promise<void> {
    const { caller } = this.#openConversation({ name: `${this.name} (start)` }, undefined);
    try {
      await caller.connected();
    } finally {
      await caller.close();
    }
  }

  /** The next calls open new connections. Calls in flight finish on the old ones. */
  async restart(): Promise<void> {
    this.#checkAvailable();
    await this.#retireAll('is being restarted', this.#drainMs);
  }

  async disable(): Promise<void> {
    this.#enabled = false;
    await this.#retireAll('is switched off', this.#drainMs);
  }

  async enable(): Promise<void> {
    this.#enabled = true;
  }

  /** True if this spec is the one in use. */
  has(spec: UrlSpec | SocketSpec): boolean {
    return isDeepStrictEqual(withoutSource(this.#spec), withoutSource(spec));
  }

  async configure(spec: UrlSpec | SocketSpec): Promise<void> {
    this.#spec = spec;
    this.#enabled = !spec.disabled;
    await this.#retireAll('has a new configuration', this.#drainMs);
  }

  async close(drainMs: number): Promise<void> {
    this.#closed = true;
    await this.#retireAll('is being closed', drainMs);
    await Promise.all([...this.#conversations].map((conversation) => conversation.close()));
  }

  async status(): Promise<ServerStatus> {
    return this.snapshot();
  }

  /** A lost connection is opened again by the next call, without a pause. */
  get isBackingOff(): boolean {
    return false;
  }

  snapshot(): ServerStatus {
    const ready = this.#connections.size > 0;
    const state = ready ? 'ready' : this.#opening > 0 ? 'starting' : 'idle';
    return {
      name: this.name,
      enabled: this.#enabled,
      state: this.#enabled ? state : 'stopped',
      ready,
      model: 'per-conversation',
      conversations: this.#conversations.size,
      inFlight: [...this.#connections.values()].reduce((sum, each) => sum + each.inFlight, 0),
      parked: 0,
      maxParked: 0,
      queued: 0,
      restarts: Math.max(0, this.#generation - 1),
      processes: [],
      lastExit: this.#lastExit,
    };
  }

  get #drainMs(): number {
    return this.#spec.drainMs ?? 30_000;
  }

  #openConversation(
    options: OwnedConversationOptions,
    questions: ConnectSettings['questions'],
  ): Conversation {
    if (this.#closed) throw this.#closedError();
    this.#conversationCount += 1;
    const conversation: Conversation = new Conversation(options, {
      label: options.name ?? `${this.name}#${this.#conversationCount}`,
      info: this.#host.info,
      clock: this.#host.clock,
      timeoutMs: this.#spec.timeoutMs ?? 60_000,
      connections: (tenant) => ({
        label: this.name,
        open: (how) =>
          this.#open(
            { ...tenant, ownsConnection: true },
            questions,
            (change) => conversation.changed(change),
            how,
          ),
      }),
      onClosed: () => this.#conversations.delete(conversation),
    });
    this.#conversations.add(conversation);
    return conversation;
  }

  /** The definition may have changed since the last connection. */
  #settingsFor(
    { info, answers, capabilities = {}, onLog, onElicited, onNotification }: Tenant,
    questions: ConnectSettings['questions'],
    onChange: ConnectSettings['onChange'],
  ): ConnectSettings {
    const { clock, cache } = this.#host;
    const settings = resolveConnect({ ...upstreamOptionsOf(this.#spec), clock, cache: cache ?? false });
    const own = {
      info,
      answers,
      capabilities,
      fallbackAnswers: answers,
      questions,
      onLog,
      onElicited,
      onNotification,
      onChange,
    };
    return { ...settings, ...own };
  }

  async #open(
    tenant: Tenant,
    questions: ConnectSettings['questions'],
    onChange: ConnectSettings['onChange'],
    how: Parameters<ConnectionSource['open']>[0],
  ): Promise<TenantCaller> {
    this.#checkAvailable();
    this.#generation += 1;
    const generation = this.#generation;
    const began = this.#host.clock.now();
    this.#opening += 1;
    this.#emit({ kind: 'start', generation, why: 'use' });
    try {
      const connector = connectorOfSpec(this.#spec, { label: this.name });
      const connection = await negotiate(connector, this.#settingsFor(tenant, questions, onChange), how);
      const counter = new CallCounter();
      const caller = connection.join(tenant, counter);
      const ms = this.#host.clock.now() - began;
      this.#emit({ kind: 'ready', generation, pid: undefined, era: caller.era, ms });
      this.#keep(caller, counter, generation);
      return caller;
    } catch (error) {
      this.#left(generation, 'start', false, messageOf(error));
      throw error;
    } finally {
      this.#opening -= 1;
    }
  }

  #keep(caller: TenantCaller, counter: CallCounter, generation: number): void {
    this.#connections.set(caller, counter);
    void caller.ended.then((error) => {
      this.#connections.delete(caller);
      this.#left(generation, 'run', counter.isRetired, error.message);
    });
  }

  #left(generation: number, phase: 'start' | 'run', expected: boolean, reason: string): void {
    if (!expected) this.#lastExit = { at: this.#host.clock.now(), generation, phase, reason, stderrTail: '' };
    this.#emit({ kind: 'exit', generation, pid: undefined, phase, expected, reason });
  }

  async #retireAll(why: string, drainMs: number): Promise<void> {
    const error = new IsthmusError('CONNECTION_CLOSED', `${this.name} ${why}`, { sent: 'no' });
    const { clock } = this.#host;
    await Promise.all(
      [...this.#connections].map(async ([caller, counter]) => {
        counter.retire();
        caller.retire(error);
        if (drainMs > 0) await within(clock, drainMs, counter.idle);
        await caller.close();
      }),
    );
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
