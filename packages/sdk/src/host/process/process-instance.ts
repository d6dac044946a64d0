import { type Clock, within } from '../../async/clock.js';
import { createDeferred, type Deferred } from '../../async/deferred.js';
import type { ActiveConnection } from '../../client/active-connection.js';
import type { NegotiationResult } from '../../client/negotiation/negotiate.js';
import type { EraVerdict } from '../../client/negotiation/negotiated-connection.js';
import type { Tenant, TenantCaller } from '../../era/client-dialect-context.js';
import { IsthmusError } from '../../errors.js';
import type { OutgoingCall } from '../../exchange/call.js';
import { clientKey, type Origin } from '../../exchange/client-key.js';
import type { Child } from '../../process/child.js';
import type { LogEntry } from '../../wire/model.js';
import type { Participant } from '../conversation.js';
import type { Receipt } from '../status.js';
import { CallSemaphore } from './call-semaphore.js';
import { CountedCaller, SuspendedCalls } from './counted-caller.js';
import { type FirstLists, readFirstLists } from './first-lists.js';
import type { Unread } from './health.js';

export interface ProcessInstanceOptions {
  /** The server's name. */
  readonly label: string;
  readonly number: number;
  readonly clock: Clock;
  readonly maxInFlight: number;
  readonly maxQueue: number;
  /** How many calls may wait for a person. */
  readonly maxParked: number;
  readonly onQueue: (queued: number, refused: boolean) => void;
  /** Called when `maxParked` calls wait for a person, and the oldest call of the client with the most is ended. */
  readonly onParkedFull: (parked: number) => void;
  /** Called for logs that are known to belong to a conversation. */
  readonly onParticipantLog: (participant: Participant, entry: LogEntry) => void;
  /** Called when the last call or subscription has ended. */
  readonly onIdle: () => void;
}

/** One start of a process, from its first answer to its end. Conversations get their connections from it. */
export class ProcessInstance {
  readonly number: number;
  readonly clock: Clock;
  readonly startedAt: number;
  /** Settles with the reason when the process accepts no new calls, at the latest when it is gone. */
  readonly ended: Promise<IsthmusError>;
  /** Settles with the reason when the connection to the process has ended. */
  readonly gone: Promise<IsthmusError>;
  /** Settles when nothing of the process is left. */
  readonly closed: Promise<unknown>;
  readonly calls: CallSemaphore;
  readonly suspended: SuspendedCalls;
  /** How many calls the process has answered. */
  served = 0;
  readonly #options: ProcessInstanceOptions;
  readonly #negotiated: NegotiationResult;
  readonly #child: Child;
  readonly #end = createDeferred<IsthmusError>();
  /**
   * Each connection has its own `end`. With the promise of the process, reactions of closed conversations would stay in
   * memory for as long as the process runs.
   */
  readonly #connections = new Map<
    Participant,
    { readonly connection: ActiveConnection; readonly end: Deferred<IsthmusError> }
  >();
  /** For requests of the host itself. */
  readonly #hostCaller: TenantCaller;
  #subscriptions = 0;
  /** Called when no call is in flight. */
  #drained: (() => void)[] = [];
  #retired: IsthmusError | undefined;
  #isClosing = false;
  #crash: IsthmusError | undefined;
  #receipt: Receipt;
  /** How much the process had read when it was last looked at, and since when it has read no more. */
  #reading: { readonly progress: number; readonly since: number } | undefined;

  constructor(options: ProcessInstanceOptions, negotiated: NegotiationResult, child: Child, host: Tenant) {
    const { clock, label, number, maxInFlight, maxQueue, maxParked, onQueue, onParkedFull } = options;
    this.#options = options;
    this.number = number;
    this.clock = clock;
    this.#negotiated = negotiated;
    this.#child = child;
    this.startedAt = clock.now();
    this.calls = new CallSemaphore(label, maxInFlight, maxQueue, onQueue);
    this.suspended = new SuspendedCalls(label, this.calls, maxParked, onParkedFull);
    this.ended = this.#end.promise;
    const { connection, dialect, verdict } = negotiated;
    this.gone = connection.ended.then((error) => this.attribute(error));
    this.closed = connection.connection.closed;
    void this.gone.then((error) => {
      if (!this.#isClosing) this.#crash = error;
      this.#retire(error);
      for (const [participant, { connection: its }] of this.#connections) participant.connections.delete(its);
      this.#connections.clear();
    });
    this.#hostCaller = dialect.join(host, true);
    this.#receipt = {
      generation: number,
      pid: child.pid,
      handshake: verdict.era === 'modern' ? 'server/discover' : 'initialize',
      handshakeAt: this.startedAt,
      list: undefined,
      listError: undefined,
      complete: false,
    };
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get verdict(): EraVerdict {
    return this.#negotiated.verdict;
  }

  /** How many lines came on its stdout that are not messages. */
  get noise(): number {
    return this.#negotiated.connection.noise;
  }

  get receipt(): Receipt {
    return this.#receipt;
  }

  /** Calls that have begun, suspended calls included. */
  get inFlight(): number {
    return this.calls.taken + this.suspended.size;
  }

  /** Calls that the process works on. */
  get working(): number {
    return this.calls.taken;
  }

  get isIdle(): boolean {
    return this.inFlight === 0 && this.calls.queued === 0 && this.#subscriptions === 0;
  }

  get isRetired(): boolean {
    return this.#retired !== undefined;
  }

  /** The connection of a participant to this process. Always the same one. */
  connectionFor(participant: Participant): ActiveConnection {
    const known = this.#connections.get(participant);
    if (known) return known.connection;
    const end = createDeferred<IsthmusError>();
    if (this.#retired) end.resolve(this.#retired);
    const onLog = (entry: LogEntry) => this.#options.onParticipantLog(participant, entry);
    const tenant: Tenant = {
      ...participant.tenant,
      onLog(entry) {
        onLog(entry);
        participant.tenant.onLog?.(entry);
      },
    };
    const { principal, label } = participant;
    const client = principal === undefined ? `conversation ${label}` : clientKey({ principal });
    const caller = new CountedCaller(this, this.#negotiated.dialect.join(tenant), client, onLog);
    const connection: ActiveConnection = {
      caller,
      verdict: this.verdict,
      ended: end.promise,
      close: async () => {
        this.#connections.delete(participant);
        participant.connections.delete(connection);
        caller.leave('The conversation has ended');
      },
    };
    this.#connections.set(participant, { connection, end });
    participant.connections.add(connection);
    return connection;
  }

  /** A subscription counts as use; the returned function ends it. */
  holdSubscription(): () => void {
    this.#subscriptions += 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#subscriptions -= 1;
      this.checkIdle();
    };
  }

  /** Releases the slot of a call. */
  callEnded(call: OutgoingCall, origin: Origin | undefined): void {
    if (!this.suspended.callEnded(call)) this.calls.release(origin);
    if (this.inFlight === 0) this.checkIdle();
  }

  /** Reports that the process is idle, if a call or subscription that has just ended was the last one. */
  checkIdle(): void {
    if (this.#drained.length > 0 && this.inFlight === 0)
      for (const notify of this.#drained.splice(0)) notify();
    if (this.isIdle) this.#options.onIdle();
  }

  /** Adds the number of this instance to an error. */
  attribute(error: unknown): IsthmusError {
    if (error instanceof IsthmusError) {
      return error.generation === undefined ? error.with({ generation: this.number }) : error;
    }
    return new IsthmusError('CONNECTION_CLOSED', String(error), { cause: error, generation: this.number });
  }

  /** Reads the first lists, and completes the receipt with them. */
  async completeReceipt(timeoutMs: number): Promise<FirstLists> {
    const lists = await readFirstLists(this.#hostCaller, timeoutMs);
    const { first, error } = lists;
    this.#receipt = {
      ...this.#receipt,
      list: first && { ...first, at: this.#options.clock.now() },
      listError: error,
      complete: error === undefined,
    };
    return lists;
  }

  /** The process has exited. Some of its output may not have been read yet. */
  get isGone(): boolean {
    return this.#child.isGone;
  }

  /** How much the process has not read yet, and for how long it has read nothing. The time counts from the first call that saw it. */
  unread(): Unread | undefined {
    const { unread: bytes = 0, progress = 0 } = this.#negotiated.connection.connection;
    if (bytes === 0) {
      this.#reading = undefined;
      return undefined;
    }
    const now = this.clock.now();
    if (this.#reading?.progress !== progress) this.#reading = { progress, since: now };
    return { bytes, ms: now - this.#reading!.since };
  }

  /** How many messages have come from the process. */
  get received(): number {
    return this.#negotiated.connection.heard;
  }

  /** Sends a request that every server answers, and waits for any response. False: the server offers no such request. */
  async probe(timeoutMs: number): Promise<boolean> {
    const { era, server } = this.#hostCaller;
    const kind = (['tools', 'prompts', 'resources'] as const).find((each) => server.capabilities[each]);
    const method = era === 'modern' ? 'server/discover' : kind && `${kind}/list`;
    if (method === undefined) return false;
    await this.#hostCaller
      .call({ method, params: {}, timeoutMs, maxTimeoutMs: timeoutMs })
      // An error is a sign of life, too; the health check judges silence. BUSY means that the process does not read and
      // the request was not sent. It counts as silence for the whole timeout.
      .catch((error) => {
        if (!(error instanceof IsthmusError) || error.code !== 'BUSY') return;
        return new Promise<void>((resolve) => this.clock.after(timeoutMs, resolve, { background: true }));
      });
    return true;
  }

  /** Refuses new calls and queued calls, which may go to another process. Calls in flight may end. */
  retire(why: string): void {
    const message = `${this.#options.label} ${why}`;
    this.#retire(new IsthmusError('CONNECTION_CLOSED', message, { sent: 'no', generation: this.number }));
  }

  /** Waits at most `ms` for the calls in flight, then ends the process. Returns whether they ended in time. */
  async drain(ms: number): Promise<boolean> {
    const done =
      this.inFlight === 0 ||
      (await within(
        this.#options.clock,
        ms,
        Promise.race([new Promise<void>((resolve) => this.#drained.push(resolve)), this.gone]),
      ));
    await this.close();
    return done;
  }

  /** Why it ended, when its end was not requested. */
  get crash(): IsthmusError | undefined {
    return this.#crash;
  }

  /** Shuts the process down gracefully. Calls in flight fail at once. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#negotiated.connection.close();
  }

  /** Ends the process with a signal that it cannot ignore. */
  async kill(): Promise<void> {
    await this.#child.kill();
  }

  #retire(error: IsthmusError): void {
    if (this.#retired) return;
    this.#retired = error;
    this.calls.refuseAll(error.with({ sent: 'no' }));
    for (const { end } of this.#connections.values()) end.resolve(error);
    this.#end.resolve(error);
  }
}
