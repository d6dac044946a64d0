import { type Clock, within } from '../../async/clock.js';
import { createDeferred, type Deferred } from '../../async/deferred.js';
import type { ActiveConnection } from '../../client/active-connection.js';
import type { NegotiationResult as Negotiated } from '../../client/negotiation/negotiate.js';
import type { EraVerdict } from '../../client/negotiation/negotiated-connection.js';
import type { Tenant, TenantCaller } from '../../era/client-dialect-context.js';
import { IsthmusError } from '../../errors.js';
import type { Caller, OutgoingCall } from '../../exchange/call.js';
import { clientKey, type Origin } from '../../exchange/client-key.js';
import type { Child } from '../../process/child.js';
import type { LogEntry } from '../../wire/model.js';
import type { Participant } from '../conversation.js';
import type { Receipt } from '../status.js';
import { CallSemaphore } from './call-semaphore.js';
import { CountedCaller, RestingCalls } from './counted-caller.js';
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
  /** Told when so many calls wait for a person that the oldest of the client with most of them is ended. */
  readonly onParkedFull: (parked: number) => void;
  /** Told of logs that are known to belong to a conversation. */
  readonly onMemberLog: (member: Participant, entry: LogEntry) => void;
  /** Told whenever the last call or subscription has ended. */
  readonly onRest: () => void;
}

/** One life of a process: from its first answer to its end. Conversations take their links from it. */
export class ProcessInstance {
  readonly number: number;
  readonly clock: Clock;
  readonly startedAt: number;
  /** Settles when the process is gone, or is not to be used any more, with the reason. */
  readonly ended: Promise<IsthmusError>;
  /** Settles when the process cannot be spoken to any more. */
  readonly gone: Promise<IsthmusError>;
  /** Settles when nothing of the process is left. */
  readonly closed: Promise<unknown>;
  readonly calls: CallSemaphore;
  readonly resting: RestingCalls;
  /** How many calls it has answered. */
  served = 0;
  readonly #options: ProcessInstanceOptions;
  readonly #link: Negotiated;
  readonly #child: Child;
  readonly #end = createDeferred<IsthmusError>();
  /** Each has an end of its own: what hangs on a promise of the process stays for as long as the process does. */
  readonly #shares = new Map<
    Participant,
    { readonly link: ActiveConnection; readonly end: Deferred<IsthmusError> }
  >();
  readonly #house: TenantCaller;
  #listens = 0;
  #onIdle: (() => void)[] = [];
  #retired: IsthmusError | undefined;
  #isClosing = false;
  #diedOf: IsthmusError | undefined;
  #receipt: Receipt;
  /** What was seen of its reading, and when it was seen first. */
  #reading: { readonly progress: number; readonly since: number } | undefined;

  constructor(options: ProcessInstanceOptions, link: Negotiated, child: Child, house: Tenant) {
    const { clock, label, number, maxInFlight, maxQueue, maxParked, onQueue, onParkedFull } = options;
    this.#options = options;
    this.number = number;
    this.clock = clock;
    this.#link = link;
    this.#child = child;
    this.startedAt = clock.now();
    this.calls = new CallSemaphore(label, maxInFlight, maxQueue, onQueue);
    this.resting = new RestingCalls(label, this.calls, maxParked, onParkedFull);
    this.ended = this.#end.promise;
    this.gone = link.line.ended.then((error) => this.blame(error));
    this.closed = link.line.connection.closed;
    void this.gone.then((error) => {
      if (!this.#isClosing) this.#diedOf = error;
      this.#retire(error);
      for (const [member, { link: share }] of this.#shares) member.links.delete(share);
      this.#shares.clear();
    });
    this.#house = link.dialect.join(house, true);
    this.#receipt = {
      generation: number,
      pid: child.pid,
      handshake: link.verdict.era === 'modern' ? 'server/discover' : 'initialize',
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
    return this.#link.verdict;
  }

  get receipt(): Receipt {
    return this.#receipt;
  }

  /** Calls that have begun, those that rest included. */
  get inFlight(): number {
    return this.calls.taken + this.resting.size;
  }

  /** Calls that the process works on. */
  get working(): number {
    return this.calls.taken;
  }

  get isIdle(): boolean {
    return this.inFlight === 0 && this.calls.queued === 0 && this.#listens === 0;
  }

  get isRetired(): boolean {
    return this.#retired !== undefined;
  }

  /** For what the host itself asks of the server. */
  get house(): Caller {
    return this.#house;
  }

  /** A share in this process; the same one for the same member. */
  link(member: Participant): ActiveConnection {
    const known = this.#shares.get(member);
    if (known) return known.link;
    const end = createDeferred<IsthmusError>();
    if (this.#retired) end.resolve(this.#retired);
    const onLog = (entry: LogEntry) => this.#options.onMemberLog(member, entry);
    const voice: Tenant = {
      ...member.voice,
      onLog(entry) {
        onLog(entry);
        member.voice.onLog?.(entry);
      },
    };
    const { principal, label } = member;
    const client = principal === undefined ? `conversation ${label}` : clientKey({ principal });
    const caller = new CountedCaller(this, this.#link.dialect.join(voice), client, onLog);
    const link: ActiveConnection = {
      caller,
      verdict: this.verdict,
      ended: end.promise,
      close: async () => {
        this.#shares.delete(member);
        member.links.delete(link);
        caller.leave('The conversation has ended');
      },
    };
    this.#shares.set(member, { link, end });
    member.links.add(link);
    return link;
  }

  /** A subscription counts as use; the returned function ends it. */
  holdListen(): () => void {
    this.#listens += 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#listens -= 1;
      this.rest();
    };
  }

  /** A call has ended. */
  settled(call: OutgoingCall, origin: Origin | undefined): void {
    if (!this.resting.settled(call)) this.calls.release(origin);
    if (this.inFlight === 0) this.rest();
  }

  /** Something has ended: perhaps it was the last. */
  rest(): void {
    if (this.#onIdle.length > 0 && this.inFlight === 0) for (const notify of this.#onIdle.splice(0)) notify();
    if (this.isIdle) this.#options.onRest();
  }

  /** A failure, with what is known of the process that it happened in. */
  blame(error: unknown): IsthmusError {
    if (error instanceof IsthmusError) {
      return error.generation === undefined ? error.with({ generation: this.number }) : error;
    }
    return new IsthmusError('CONNECTION_CLOSED', String(error), { cause: error, generation: this.number });
  }

  /** The first lists: the rest of the receipt. */
  async prove(timeoutMs: number): Promise<FirstLists> {
    const lists = await readFirstLists(this.#house, timeoutMs);
    const { first, error } = lists;
    this.#receipt = {
      ...this.#receipt,
      list: first && { ...first, at: this.#options.clock.now() },
      listError: error,
      complete: error === undefined,
    };
    return lists;
  }

  /** Its process has ended. Some of its output may not have been read yet. */
  get isGone(): boolean {
    return this.#child.isGone;
  }

  /** What the process has yet to read, and since when it has read nothing, as far as anybody has looked. */
  unread(): Unread | undefined {
    const { unread: bytes = 0, progress = 0 } = this.#link.line.connection;
    if (bytes === 0) {
      this.#reading = undefined;
      return undefined;
    }
    const now = this.clock.now();
    if (this.#reading?.progress !== progress) this.#reading = { progress, since: now };
    return { bytes, ms: now - this.#reading!.since };
  }

  /** How many messages have come from the process. */
  get heard(): number {
    return this.#link.line.heard;
  }

  /** Asks something that every server answers, and waits for whatever comes. False when there is nothing to ask. */
  async knock(timeoutMs: number): Promise<boolean> {
    const { era, server } = this.#house;
    const kind = (['tools', 'prompts', 'resources'] as const).find((each) => server.capabilities[each]);
    const method = era === 'modern' ? 'server/discover' : kind && `${kind}/list`;
    if (method === undefined) return false;
    await this.#house
      .call({ method, params: {}, timeoutMs, maxTimeoutMs: timeoutMs })
      // An error is as good a sign of life as a result; and silence is what the caller judges. A process that does not
      // read is asked nothing, and silent for as long.
      .catch((error) => {
        if (!(error instanceof IsthmusError) || error.code !== 'BUSY') return;
        return new Promise<void>((resolve) => this.clock.after(timeoutMs, resolve, { background: true }));
      });
    return true;
  }

  /** Takes no new calls; those that wait go elsewhere, those in flight may end. */
  retire(why: string): void {
    const message = `${this.#options.label} ${why}`;
    this.#retire(new IsthmusError('CONNECTION_CLOSED', message, { sent: 'no', generation: this.number }));
  }

  /** Waits for what is in flight, but no longer than `ms`, and ends the process. Says whether all was done in time. */
  async drain(ms: number): Promise<boolean> {
    const done =
      this.inFlight === 0 ||
      (await within(
        this.#options.clock,
        ms,
        Promise.race([new Promise<void>((resolve) => this.#onIdle.push(resolve)), this.gone]),
      ));
    await this.close();
    return done;
  }

  /** Why it ended, when its end was not requested. */
  get diedOf(): IsthmusError | undefined {
    return this.#diedOf;
  }

  /** Ends the process in good order; what is in flight fails at once. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#link.line.close();
  }

  /** Ends the process without asking. */
  async kill(): Promise<void> {
    await this.#child.kill();
  }

  #retire(error: IsthmusError): void {
    if (this.#retired) return;
    this.#retired = error;
    this.calls.refuseAll(error.with({ sent: 'no' }));
    for (const { end } of this.#shares.values()) end.resolve(error);
    this.#end.resolve(error);
  }
}
