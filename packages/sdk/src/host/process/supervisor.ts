import { IsthmusError } from '../../errors.js';
import { treeFacts } from '../../process/process-facts.js';
import { describeProcess, type LastExit, type ProcessStatus } from '../status.js';
import { asStartError, Exits } from './exits.js';
import { InstanceTimers } from './instance-timers.js';
import type { ProcessInstance } from './process-instance.js';
import { nextState, type ProcessEvent, type ProcessState } from './process-state.js';
import { RestartBackoff } from './restart-backoff.js';
import { StartAttempts } from './start-attempts.js';
import type { StartReason, SupervisorContext } from './supervisor-context.js';

/** Keeps one process: starts it, restarts it after a crash, replaces it, ends it. */
export class Supervisor {
  readonly #context: SupervisorContext;
  #state: ProcessState = 'idle';
  #current: ProcessInstance | undefined;
  readonly #attempts: StartAttempts;
  #hasFailedToStart = false;
  /** How many times it has started a process. */
  #starts = 0;
  #number = 0;
  readonly #exits: Exits;
  readonly #backoff: RestartBackoff;
  #stopped: IsthmusError | undefined;
  readonly #timers: InstanceTimers;
  #replacing: Promise<void> | undefined;

  constructor(context: SupervisorContext) {
    this.#context = context;
    this.#attempts = new StartAttempts(context, (instance) => this.#onIdle(instance));
    this.#timers = new InstanceTimers(context);
    this.#exits = new Exits(context.clock, context.emit);
    this.#backoff = new RestartBackoff(context.clock, context.random);
  }

  get state(): ProcessState {
    return this.#state;
  }

  /** Whether it waits before it starts a process again. A process that has just exited counts, too. */
  get isBackingOff(): boolean {
    if (this.#state === 'ready') return this.#current?.isGone ?? true;
    return this.#state === 'backing-off';
  }

  get current(): ProcessInstance | undefined {
    return this.#state === 'ready' ? this.#current : undefined;
  }

  get load(): number {
    const { working = 0, queued = 0 } = this.#current?.limiter ?? {};
    return working + queued;
  }

  get lastExit(): LastExit | undefined {
    return this.#exits.last;
  }

  /** The process, when it is ready; starts it when there is none. Rejects as soon as an attempt has failed. */
  acquire(why: StartReason = 'use'): Promise<ProcessInstance> {
    const state = this.#state;
    if (state === 'stopped') return Promise.reject(this.#stopped);
    // A process that has just exited is about to be replaced.
    if (state === 'ready' && !this.#current!.isGone) return Promise.resolve(this.#current!);
    if (state === 'crash-loop' && this.#backoff.isTooEarly) {
      return Promise.reject(this.#exits.crashLoop(this.#context.label, this.#backoff.failures));
    }
    if (state === 'idle' || state === 'crash-loop') void this.#start(why);
    return this.#attempts.awaitNext();
  }

  /** Ends the process when its calls in flight are done, and starts a new one. Settles when the new one is ready. */
  replace(why: 'restart' | 'age'): Promise<void> {
    // Two reasons at the same time start one new process.
    this.#replacing ??= this.#replace(why).finally(() => {
      this.#replacing = undefined;
    });
    return this.#replacing;
  }

  async #replace(why: 'restart' | 'age'): Promise<void> {
    if (this.#state === 'stopped') throw this.#stopped;
    this.#backoff.resetCount();
    this.#hasFailedToStart = false;
    const old = this.#current;
    if (this.#state === 'ready' && old) {
      const { overlap, drainMs } = this.#context.settings;
      // Without a free slot the old process must end before the new one can start.
      if (overlap && this.#context.processSlots.every(({ hasRoom }) => hasRoom)) {
        await this.#handOver(old, why);
        return;
      }
      this.#drain(old, REPLACED[why]);
      await this.#end(old, drainMs);
      if (this.#go('ended')) await this.acquire(why);
      return;
    }
    this.#backoff.cancelPause();
    if (this.#state === 'backing-off' || this.#state === 'crash-loop') this.#go('ended');
    await this.acquire(why);
  }

  /** Refuses new calls, and ends the process when its calls in flight are done. Settles when nothing is left of it. */
  async stop(drainMs: number, why: string): Promise<void> {
    const error = new IsthmusError('CONNECTION_CLOSED', `${this.#context.label} ${why}`, { sent: 'no' });
    const old = this.#current;
    const wasReady = this.#state === 'ready';
    this.#go('stop');
    this.#stopped ??= error;
    this.#backoff.cancelPause();
    this.#timers.cancel();
    this.#attempts.settle(error);
    this.#attempts.abort(error);
    this.#exits.shorten(drainMs);
    if (wasReady && old) {
      this.#retire(old, why);
      this.#current = undefined;
      void this.#end(old, drainMs);
    }
    await this.#attempts.done;
    await this.#exits.done();
  }

  async status(): Promise<ProcessStatus> {
    const pid = this.#current?.pid;
    return { ...this.snapshot(), facts: pid === undefined ? undefined : await treeFacts(pid) };
  }

  /** The status without `facts`, which only the operating system knows. */
  snapshot(): ProcessStatus {
    // What a process answered proves nothing once it has exited.
    const current = this.#current?.isGone ? undefined : this.#current;
    return describeProcess(current, {
      state: this.isBackingOff ? 'backing-off' : this.#state,
      generation: this.#number,
      pid: this.#state === 'starting' ? this.#attempts.pidOf(this.#number) : undefined,
      owner: this.#context.owner,
      restarts: Math.max(0, this.#starts - 1),
      lastExit: this.#exits.last,
      startFailed: this.#hasFailedToStart,
      nextAttemptAt: this.#backoff.nextAttemptAt,
    });
  }

  /** The process has no call in flight and no open subscription: it may be ended after `idleMs`. */
  #onIdle(instance: ProcessInstance): void {
    this.#timers.cancelIdle();
    if (instance !== this.#current || this.#state !== 'ready') return;
    this.#timers.startIdle((idleMs) => {
      if (this.#current !== instance || !instance.limiter.isIdle || this.#state !== 'ready') return;
      this.#drain(instance, `was not used for ${idleMs} ms`);
      void this.#end(instance, 0).then(() => {
        this.#go('ended');
        // A call may have come meanwhile.
        if (this.#attempts.isAwaited) void this.#start('use');
      });
    });
  }

  async #start(why: StartReason): Promise<void> {
    if (!this.#go('start')) return;
    this.#backoff.clearPlan();
    this.#backoff.cancelPause();
    const number = this.#context.nextNumber();
    this.#number = number;
    this.#starts += 1;
    await this.#attempts.open(
      number,
      why,
      (instance) => this.#ready(instance),
      (error, isAborted) => {
        if (!isAborted) this.#startFailed(error, number, why);
      },
    );
  }

  #ready(instance: ProcessInstance): void {
    this.#go('answered');
    this.#hasFailedToStart = false;
    this.#current = instance;
    const { pid, number, verdict } = instance;
    this.#context.emit({ kind: 'ready', generation: number, pid, era: verdict.era, ms: verdict.ms });
    void instance.gone.then((error) => this.#exited(instance, error));
    this.#attempts.settle(instance);
    void this.#readFirstLists(instance);
    this.#onIdle(instance);
    this.#timers.watch(instance, () => {
      if (this.#current === instance) this.replace('age').catch(() => {});
    });
  }

  async #readFirstLists(instance: ProcessInstance): Promise<void> {
    const lists = await instance.completeReceipt(this.#context.settings.timeoutMs);
    if (instance.isRetired) return;
    this.#context.onLists(instance, lists);
    this.#context.emit({ kind: 'receipt', receipt: instance.receipt });
  }

  #startFailed(thrown: unknown, number: number, why: StartReason): void {
    const error = asStartError(thrown, number);
    // Nothing was started, so only the caller gets the error.
    if (error.code === 'BUSY') {
      this.#go('ended');
      return this.#attempts.settle(error);
    }
    this.#hasFailedToStart = true;
    this.#exits.record(error, 'start', number, this.#attempts.pidOf(number));
    const isRefused = error.code === 'CANNOT_START' && why !== 'crash';
    if (isRefused) this.#go('ended');
    else this.#afterFailure({ ranMs: 0, served: 0 }, error);
    this.#attempts.settle(error);
  }

  #exited(instance: ProcessInstance, error: IsthmusError): void {
    if (this.#current !== instance) return;
    this.#current = undefined;
    this.#timers.cancel();
    if (this.#state !== 'ready') return;
    this.#exits.record(error, 'run', instance.number, instance.pid);
    const ranMs = this.#context.clock.now() - instance.startedAt;
    this.#afterFailure({ ranMs, served: instance.limiter.served }, error);
  }

  #afterFailure(life: { ranMs: number; served: number }, error: IsthmusError): void {
    const { label, settings, emit } = this.#context;
    if (!settings.restart) return void this.#go('ended');
    const decision = this.#backoff.fail(settings.restart, life);
    if (decision.kind === 'give-up') {
      this.#go('gave-up');
      emit({ kind: 'crash-loop', attempts: decision.attempts, reason: error.message });
      return this.#attempts.settle(this.#exits.crashLoop(label, this.#backoff.failures));
    }
    this.#go('failed');
    emit({ kind: 'restart', attempt: decision.attempt, delayMs: decision.delayMs });
    const background = !this.#attempts.isAwaited && !this.#context.isWanted();
    this.#backoff.pause(decision.delayMs, () => this.#pauseOver(), background);
  }

  #pauseOver(): void {
    if (this.#state !== 'backing-off') return;
    // The old process exited during a hand-over: wait for the new one.
    if (this.#attempts.done) return void this.#attempts.done.then(() => this.#pauseOver());
    if (this.#attempts.isAwaited || this.#context.isWanted()) void this.#start('crash');
    else {
      this.#backoff.clearPlan();
      this.#go('ended');
    }
  }

  /** Starts the new process first. The old one serves until the new one is ready. */
  async #handOver(old: ProcessInstance, why: 'restart' | 'age'): Promise<void> {
    const { settings, nextNumber } = this.#context;
    const number = nextNumber();
    await this.#attempts.open(
      number,
      why,
      (fresh) => {
        this.#number = number;
        this.#starts += 1;
        this.#retire(old, REPLACED[why]);
        this.#current = fresh;
        void this.#end(old, settings.drainMs);
        if (this.#state !== 'ready') this.#go('start');
        this.#ready(fresh);
      },
      (error) => {
        // The old process goes on. The failure is recorded, so that the status shows it.
        this.#exits.record(asStartError(error, number), 'start', number, this.#attempts.pidOf(number));
        throw error;
      },
    );
  }

  #drain(instance: ProcessInstance, why: string): void {
    this.#go('drain');
    this.#timers.cancel();
    this.#retire(instance, why);
  }

  #retire(instance: ProcessInstance, why: string): void {
    const { number, pid, limiter } = instance;
    const { inFlight } = limiter;
    this.#context.emit({ kind: 'drain', generation: number, pid, why, inFlight });
    instance.retire(why);
  }

  async #end(retired: ProcessInstance, drainMs: number): Promise<void> {
    await this.#exits.end(retired, drainMs);
    if (this.#current === retired) this.#current = undefined;
  }

  #go(event: ProcessEvent): boolean {
    const next = nextState(this.#state, event);
    if (next === undefined) return false;
    this.#state = next;
    if (next === 'idle') this.#context.onIdle();
    return true;
  }
}

/** What happens to the old process. Follows the name of the server in messages. */
const REPLACED = { restart: 'is being restarted', age: 'has reached its maximum age' } as const;
