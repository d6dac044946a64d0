import { type Clock, within } from '../../async/clock.js';
import { createDeferred } from '../../async/deferred.js';
import type { EraVerdict } from '../../era/client/era-verdict.js';
import type { NegotiatedConnection } from '../../era/client/negotiated-connection.js';
import type { Tenant } from '../../era/client/tenant.js';
import type { TenantCaller } from '../../era/client/tenant-caller.js';
import { IsthmusError } from '../../errors.js';
import type { Child } from '../../process/child.js';
import type { Implementation } from '../../wire/model.js';
import type { Receipt } from '../status.js';
import { type FirstLists, readFirstLists } from './first-lists.js';
import type { Unread } from './health.js';
import { ProcessLimiter, type ProcessLimiterOptions } from './process-limiter.js';

/** One start of a process, from its first answer to its end. Conversations are tenants of its connection. */
export class ProcessInstance {
  readonly number: number;
  readonly clock: Clock;
  readonly startedAt: number;
  /** Limits the calls of conversations. Requests of the host itself are not counted. */
  readonly limiter: ProcessLimiter;
  /** Settles with the reason when the process accepts no new calls, at the latest when it is gone. */
  readonly ended: Promise<IsthmusError>;
  /** Settles with the reason when the connection to the process has ended. */
  readonly gone: Promise<IsthmusError>;
  /** Settles when nothing of the process is left. */
  readonly closed: Promise<unknown>;
  readonly #connection: NegotiatedConnection;
  readonly #child: Child;
  readonly #end = createDeferred<IsthmusError>();
  /** For requests of the host itself. */
  readonly #hostCaller: TenantCaller;
  #retired: IsthmusError | undefined;
  #isClosing = false;
  #crash: IsthmusError | undefined;
  #receipt: Receipt;
  /** How much the process had read when it was last looked at, and since when it has read no more. */
  #reading: { readonly progress: number; readonly since: number } | undefined;

  constructor(
    number: number,
    connection: NegotiatedConnection,
    child: Child,
    info: Implementation,
    limits: Omit<ProcessLimiterOptions, 'clock'>,
  ) {
    const { clock } = connection;
    this.number = number;
    this.clock = clock;
    this.#connection = connection;
    this.#child = child;
    this.startedAt = clock.now();
    this.limiter = new ProcessLimiter({ ...limits, clock });
    this.ended = this.#end.promise;
    this.gone = connection.ended;
    this.closed = connection.connection.closed;
    void this.gone.then((error) => {
      if (!this.#isClosing) this.#crash = error;
      this.#retire(error);
    });
    this.#hostCaller = connection.join({
      ...{ label: 'the host', info, answers: {}, onLog: undefined },
      isHidden: true,
      callers: new Set(),
    });
    this.#receipt = {
      generation: number,
      pid: child.pid,
      handshake: this.verdict.era === 'modern' ? 'server/discover' : 'initialize',
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
    return this.#connection.verdict;
  }

  /** How many lines came on its stdout that are not messages. */
  get noise(): number {
    return this.#connection.noise;
  }

  get receipt(): Receipt {
    return this.#receipt;
  }

  get isRetired(): boolean {
    return this.#retired !== undefined;
  }

  /** The caller of a tenant in this process. Always the same one. */
  callerOf(tenant: Tenant): TenantCaller {
    for (const caller of tenant.callers) if (caller.limiter === this.limiter) return caller;
    const caller = this.#connection.join(tenant, this.limiter);
    if (this.#retired) caller.retire(this.#retired);
    return caller;
  }

  /** Reads the first lists, and completes the receipt with them. */
  async completeReceipt(timeoutMs: number): Promise<FirstLists> {
    const lists = await readFirstLists(this.#hostCaller, timeoutMs);
    const { first, error } = lists;
    this.#receipt = {
      ...this.#receipt,
      list: first && { ...first, at: this.clock.now() },
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
    const { unread: bytes = 0, progress = 0 } = this.#connection.connection;
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
    return this.#connection.heard;
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
    const message = `${this.#connection.label} ${why}`;
    this.#retire(new IsthmusError('CONNECTION_CLOSED', message, { sent: 'no', generation: this.number }));
  }

  /** Waits at most `ms` for the calls in flight, then ends the process. Returns whether they ended in time. */
  async drain(ms: number): Promise<boolean> {
    const isIdle = this.limiter.inFlight === 0;
    const done = isIdle || (await within(this.clock, ms, Promise.race([this.limiter.drained(), this.gone])));
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
    await this.#connection.close();
  }

  /** Ends the process with a signal that it cannot ignore. */
  async kill(): Promise<void> {
    await this.#child.kill();
  }

  #retire(error: IsthmusError): void {
    if (this.#retired) return;
    this.#retired = error;
    this.limiter.refuseAll(error.with({ sent: 'no' }));
    this.#connection.retire(error);
    this.#end.resolve(error);
  }
}
