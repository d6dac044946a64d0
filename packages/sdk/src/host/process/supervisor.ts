import { createDeferred, type Deferred } from '../../async/deferred.js';
import { IsthmusError, messageOf } from '../../errors.js';
import { treeFacts } from '../../process/process-facts.js';
import type { LastExit, ProcessStatus } from '../status.js';
import { watchHealth, watchReading } from './health.js';
import type { ProcessInstance } from './process-instance.js';
import {
  countFailure,
  decideRestart,
  nextState,
  type ProcessEvent,
  type ProcessState,
} from './process-state.js';
import { Exits, openInPlace, type StartReason, type SupervisorContext } from './supervisor-context.js';

/** Keeps one process: starts it, sees it end, starts it again, replaces it, ends it. */
export class Supervisor {
  readonly #context: SupervisorContext;
  #state: ProcessState = 'idle';
  #current: ProcessInstance | undefined;
  /** What those wait for who need the process; settled by the attempt that is under way, or the next one. */
  #next: Deferred<ProcessInstance> | undefined;
  #attempt:
    | { readonly number: number; readonly abort: AbortController; readonly done: Promise<void> }
    | undefined;
  /** A process that has yet to answer. */
  #starting: { readonly number: number; readonly pid: number | undefined } | undefined;
  #failures = 0;
  #hasFailedToStart = false;
  /** How many processes have been ready. */
  #lives = 0;
  #number = 0;
  readonly #exits: Exits;
  #stopped: IsthmusError | undefined;
  #nextAttemptAt: number | undefined;
  #callOffPause = () => {};
  #callOffIdle = () => {};
  #callOffAge = () => {};
  #replacing: Promise<void> | undefined;

  constructor(context: SupervisorContext) {
    this.#context = context;
    this.#exits = new Exits(context.clock, context.emit);
    context.adopt(this);
  }

  get state(): ProcessState {
    return this.#state;
  }

  get current(): ProcessInstance | undefined {
    return this.#state === 'ready' ? this.#current : undefined;
  }

  get load(): number {
    return (this.#current?.working ?? 0) + (this.#current?.calls.queued ?? 0);
  }

  get restarts(): number {
    return Math.max(0, this.#lives - 1);
  }

  get lastExit(): LastExit | undefined {
    return this.#exits.last;
  }

  started(number: number, pid: number | undefined): void {
    this.#starting = { number, pid };
  }

  #pidOf(number: number): number | undefined {
    return this.#starting?.number === number ? this.#starting.pid : undefined;
  }

  /** The process, when it is ready; starts it when there is none. Rejects as soon as an attempt has failed. */
  acquire(why: StartReason = 'use'): Promise<ProcessInstance> {
    switch (this.#state) {
      case 'ready':
        // One whose process has just ended is about to be replaced.
        if (this.#current!.isGone) break;
        return Promise.resolve(this.#current!);
      case 'idle':
        void this.#start(why);
        break;
      case 'crash-loop':
        if (this.#context.clock.now() < (this.#nextAttemptAt ?? 0)) {
          return Promise.reject(this.#exits.crashLoop(this.#context.label, this.#failures));
        }
        void this.#start(why);
        break;
      case 'stopped':
        return Promise.reject(this.#stopped);
      default:
        break;
    }
    return this.#awaitNext();
  }

  /** Ends the process when what is in flight is done, and starts a fresh one. Settles when that is ready. */
  replace(why: 'restart' | 'age'): Promise<void> {
    // Two reasons at the same time make one fresh process.
    this.#replacing ??= this.#replace(why).finally(() => {
      this.#replacing = undefined;
    });
    return this.#replacing;
  }

  async #replace(why: 'restart' | 'age'): Promise<void> {
    if (this.#state === 'stopped') throw this.#stopped;
    this.#failures = 0;
    this.#hasFailedToStart = false;
    const old = this.#current;
    if (this.#state === 'ready' && old) {
      const { overlap, drainMs } = this.#context.settings;
      // Where only the old process could make room for the new one, it has to go first.
      if (overlap && this.#context.budgets.every((budget) => budget.hasRoom)) {
        await this.#handOver(old, why);
        return;
      }
      this.#drain(old, REPLACED[why]);
      await this.#leave(old, drainMs);
      if (this.#go('rested')) await this.acquire(why);
      return;
    }
    this.#callOffPause();
    if (this.#state === 'backing-off' || this.#state === 'crash-loop') this.#go('rested');
    await this.acquire(why);
  }

  /** Takes no new calls, and ends when those in flight are done. Settles when nothing is left. */
  async stop(drainMs: number, why: string): Promise<void> {
    const error = new IsthmusError('CONNECTION_CLOSED', `${this.#context.label} ${why}`, { sent: 'no' });
    const old = this.#current;
    const wasReady = this.#state === 'ready';
    this.#go('stop');
    this.#stopped ??= error;
    this.#callOffPause();
    this.#callOffIdle();
    this.#callOffAge();
    this.#settleNext(error);
    this.#attempt?.abort.abort(error);
    this.#exits.hurry(drainMs);
    if (wasReady && old) {
      this.#announceDrain(old, why);
      old.retire(why);
      this.#current = undefined;
      void this.#leave(old, drainMs);
    }
    await this.#attempt?.done;
    await this.#exits.done();
  }

  async status(): Promise<ProcessStatus> {
    const pid = this.#current?.pid;
    return { ...this.snapshot(), facts: pid === undefined ? undefined : await treeFacts(pid) };
  }

  /** Its status without what the system has to be asked for. */
  snapshot(): ProcessStatus {
    const { clock, owner } = this.#context;
    // From the moment on that a process has ended nothing is proven by what it has answered.
    const current = this.#current?.isGone ? undefined : this.#current;
    const isGone = this.#state === 'ready' && current === undefined;
    return {
      state: isGone ? 'backing-off' : this.#state,
      generation: current?.number ?? this.#number,
      pid: current?.pid ?? (this.#state === 'starting' ? this.#pidOf(this.#number) : undefined),
      owner,
      era: current?.verdict.era,
      verdict: current?.verdict,
      uptimeMs: current && clock.now() - current.startedAt,
      restarts: this.restarts,
      inFlight: current?.inFlight ?? 0,
      parked: current?.resting.parked ?? 0,
      queued: current?.calls.queued ?? 0,
      receipt: current?.receipt,
      unread: current?.unread(),
      lastExit: this.#exits.last,
      startFailed: this.#hasFailedToStart,
      nextAttemptAt: this.#nextAttemptAt,
      facts: undefined,
    };
  }

  /** No call is in flight, and no subscription is open. */
  rested(generation: ProcessInstance): void {
    const { settings, clock } = this.#context;
    this.#callOffIdle();
    if (settings.idleMs === undefined || generation !== this.#current || this.#state !== 'ready') return;
    this.#callOffIdle = clock.after(
      settings.idleMs,
      () => {
        if (this.#current !== generation || !generation.isIdle || this.#state !== 'ready') return;
        this.#drain(generation, `was not used for ${settings.idleMs} ms`);
        void this.#leave(generation, 0).then(() => {
          this.#go('rested');
          // Somebody may have come meanwhile.
          if (this.#next) void this.#start('use');
        });
      },
      { background: true },
    );
  }

  #awaitNext(): Promise<ProcessInstance> {
    this.#next ??= createDeferred();
    this.#next.promise.catch(() => {});
    return this.#next.promise;
  }

  async #start(why: StartReason): Promise<void> {
    if (!this.#go('start')) return;
    this.#nextAttemptAt = undefined;
    this.#callOffPause();
    const done = createDeferred<void>();
    const abort = new AbortController();
    const number = this.#context.nextNumber();
    this.#number = number;
    this.#attempt = { number, abort, done: done.promise };
    try {
      const generation = await openInPlace(this.#context, number, why, abort.signal);
      if (abort.signal.aborted) await generation.close();
      else this.#ready(generation);
    } catch (error) {
      if (!abort.signal.aborted) this.#startFailed(error, number, why);
    } finally {
      this.#attempt = undefined;
      done.resolve();
    }
  }

  #ready(generation: ProcessInstance): void {
    const { emit, clock, settings } = this.#context;
    this.#go('answered');
    this.#hasFailedToStart = false;
    this.#current = generation;
    this.#lives += 1;
    const { pid, number, verdict } = generation;
    emit({ kind: 'ready', generation: number, pid, era: verdict.era, ms: verdict.ms });
    void generation.gone.then((error) => this.#ended(generation, error));
    this.#settleNext(generation);
    void this.#prove(generation);
    this.rested(generation);
    this.#callOffAge();
    if (settings.maxAgeMs !== undefined) {
      this.#callOffAge = clock.after(
        settings.maxAgeMs,
        () => {
          if (this.#current === generation) this.replace('age').catch(() => {});
        },
        { background: true },
      );
    }
    if (settings.health) watchHealth(generation, settings.health, clock, emit);
    if (settings.maxUnreadMs !== undefined) watchReading(generation, settings.maxUnreadMs, clock, emit);
  }

  async #prove(generation: ProcessInstance): Promise<void> {
    const lists = await generation.prove(this.#context.settings.timeoutMs);
    if (generation.isRetired) return;
    this.#context.onLists(generation, lists);
    this.#context.emit({ kind: 'receipt', receipt: generation.receipt });
  }

  #startFailed(thrown: unknown, number: number, why: StartReason): void {
    const error = asStartError(thrown, number);
    // Nothing was started, so only the caller gets the error.
    if (error.code === 'BUSY') {
      this.#go('rested');
      return this.#settleNext(error);
    }
    this.#hasFailedToStart = true;
    this.#exits.record(error, 'start', number, this.#pidOf(number));
    const refused = error.code === 'CANNOT_START' && why !== 'crash';
    if (refused) this.#go('rested');
    else this.#afterFailure({ ranMs: 0, served: 0 }, error);
    this.#settleNext(error);
  }

  #ended(generation: ProcessInstance, error: IsthmusError): void {
    if (this.#current !== generation) return;
    this.#current = undefined;
    this.#callOffIdle();
    this.#callOffAge();
    if (this.#state !== 'ready') return;
    this.#exits.record(error, 'run', generation.number, generation.pid);
    const ranMs = this.#context.clock.now() - generation.startedAt;
    this.#afterFailure({ ranMs, served: generation.served }, error);
  }

  #afterFailure(life: { ranMs: number; served: number }, error: IsthmusError): void {
    const { label, settings, clock, random, emit } = this.#context;
    if (!settings.restart) {
      this.#go('rested');
      return;
    }
    this.#failures = countFailure(settings.restart, this.#failures, life);
    const decision = decideRestart(settings.restart, this.#failures, random());
    if (decision.kind === 'give-up') {
      this.#go('gave-up');
      this.#nextAttemptAt = clock.now() + settings.restart.stableMs;
      emit({ kind: 'crash-loop', attempts: decision.attempts, reason: error.message });
      return this.#settleNext(this.#exits.crashLoop(label, this.#failures));
    }
    this.#go('failed');
    this.#nextAttemptAt = clock.now() + decision.delayMs;
    emit({ kind: 'restart', attempt: decision.attempt, delayMs: decision.delayMs });
    const background = !this.#next && !this.#context.isWanted();
    this.#callOffPause = clock.after(decision.delayMs, () => this.#pauseOver(), { background });
  }

  #pauseOver(): void {
    if (this.#state !== 'backing-off') return;
    // A hand-over was under way when the old process ended.
    if (this.#attempt) return void this.#attempt.done.then(() => this.#pauseOver());
    if (this.#next || this.#context.isWanted()) void this.#start('crash');
    else {
      this.#nextAttemptAt = undefined;
      this.#go('rested');
    }
  }

  /** Starts the fresh process first; the old one serves until it is there. */
  async #handOver(old: ProcessInstance, why: 'restart' | 'age'): Promise<void> {
    const { settings, nextNumber } = this.#context;
    const abort = new AbortController();
    const done = createDeferred<void>();
    const number = nextNumber();
    this.#attempt = { number, abort, done: done.promise };
    try {
      const fresh = await openInPlace(this.#context, number, why, abort.signal);
      if (abort.signal.aborted) return await fresh.close();
      this.#number = number;
      this.#announceDrain(old, REPLACED[why]);
      this.#current = fresh;
      old.retire(REPLACED[why]);
      void this.#leave(old, settings.drainMs);
      if (this.#state !== 'ready') this.#go('start');
      this.#ready(fresh);
    } catch (error) {
      // The old process serves on; what could not replace it is known all the same.
      this.#exits.record(asStartError(error, number), 'start', number, this.#pidOf(number));
      throw error;
    } finally {
      this.#attempt = undefined;
      done.resolve();
    }
  }

  #drain(generation: ProcessInstance, why: string): void {
    this.#go('drain');
    this.#announceDrain(generation, why);
    this.#callOffIdle();
    this.#callOffAge();
    generation.retire(why);
  }

  #announceDrain({ number, pid, inFlight }: ProcessInstance, why: string): void {
    this.#context.emit({ kind: 'drain', generation: number, pid, why, inFlight });
  }

  /** Sees a retired process out. */
  async #leave(generation: ProcessInstance, drainMs: number): Promise<void> {
    await this.#exits.leave(generation, drainMs);
    if (this.#current === generation) this.#current = undefined;
  }

  #go(event: ProcessEvent): boolean {
    const next = nextState(this.#state, event);
    if (next === undefined) return false;
    this.#state = next;
    if (next === 'idle') this.#context.onIdle();
    return true;
  }

  #settleNext(outcome: ProcessInstance | IsthmusError): void {
    const next = this.#next;
    this.#next = undefined;
    if (outcome instanceof IsthmusError) next?.reject(outcome);
    else next?.resolve(outcome);
  }
}

/** What happens to the old process. Follows the name of the server in messages. */
const REPLACED = { restart: 'is being restarted', age: 'is being replaced at its age' } as const;

function asStartError(thrown: unknown, generation: number): IsthmusError {
  if (thrown instanceof IsthmusError) return thrown.with({ generation, sent: 'no' });
  return new IsthmusError('CONNECTION_CLOSED', messageOf(thrown), { cause: thrown, sent: 'no', generation });
}
