import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { Call } from '@isthmus/sdk/internal/exchange/call.js';
import { Callers } from './callers.js';
import { type CallLimits, callsExcess, type Excess, ownCallsExcess, waitExcess } from './excess.js';
import { type Keeper, type LimitedCaller, LimiterSlot } from './limiter-slot.js';
import { FairQueue, type Waiter } from './queue.js';

/** What a server has to do at the moment. */
export interface LimiterLoad {
  readonly running: number;
  readonly waiting: number;
  /** Calls whose client is being asked something. */
  readonly asking: number;
  readonly listens: number;
}

export interface CallLimiterOptions {
  readonly server: string;
  readonly limits: CallLimits;
  readonly clock: Clock;
  /** Makes the error of a call that is turned away. */
  readonly refuse: (excess: Excess, call: Call) => Error;
}

/** Lets so many calls run at once, and so many wait. What has room runs at once and costs no promise. */
export class CallLimiter implements Keeper {
  readonly #options: CallLimiterOptions;
  readonly #callers = new Callers<LimitedCaller>({
    create: (facts) => ({ ...facts, running: 0, waiting: [] }),
    isIdle: ({ running, waiting }) => running === 0 && waiting.length === 0,
  });
  readonly #queue = new FairQueue();
  #running = 0;
  #asking = 0;

  constructor(options: CallLimiterOptions) {
    this.#options = options;
  }

  get load(): Omit<LimiterLoad, 'listens'> {
    return { running: this.#running, waiting: this.#queue.size, asking: this.#asking };
  }

  /** A place, or one as soon as there is one. Throws, or rejects, when there is none to be had. */
  enter(call: Call): LimiterSlot | Promise<LimiterSlot> {
    const caller = this.#callers.of(call.peer);
    // Whoever waits does so for a reason that holds for this one as well, or is nothing to it.
    if (this.#isFree && this.#mayRun(caller)) return this.#place(caller);
    return this.#wait(call, caller);
  }

  get #isFree(): boolean {
    return this.#running < this.#options.limits.maxConcurrent;
  }

  #mayRun({ running }: LimitedCaller): boolean {
    return running < this.#options.limits.maxConcurrentPerCaller;
  }

  #place(caller: LimitedCaller): LimiterSlot {
    this.#running += 1;
    caller.running += 1;
    return new LimiterSlot(this, caller);
  }

  #wait(call: Call, caller: LimitedCaller): Promise<LimiterSlot> {
    const { server, limits, clock, refuse } = this.#options;
    if (this.#queue.size >= limits.maxQueue) {
      const displaced = this.#queue.displacedBy(caller) as WaitingCall | undefined;
      if (!displaced) throw refuse(this.#excess(caller), call);
      displaced.turnAway(this.#excess(displaced.caller));
    }
    return new Promise((resolve, reject) => {
      const { cancellation } = call;
      const end = () => {
        this.#queue.remove(waiter);
        callOff();
        cancellation.removeEventListener('abort', onAbort);
      };
      const waiter: WaitingCall = {
        caller,
        start: () => {
          end();
          resolve(this.#place(caller));
        },
        turnAway: (excess) => {
          end();
          reject(refuse(excess, call));
        },
      };
      const onAbort = () => {
        end();
        reject(cancellation.reason);
      };
      const callOff = clock.after(limits.maxQueueMs, () => {
        waiter.turnAway(waitExcess(server, limits, this.#mayRun(caller)));
      });
      this.#queue.add(waiter);
      cancellation.addEventListener('abort', onAbort, { once: true });
      if (cancellation.aborted) onAbort();
    });
  }

  /** A call ended, or waits for its client. */
  left(caller: LimitedCaller, isOver: boolean): void {
    this.#running -= 1;
    // Whoever does not answer takes up his own places; those of nobody in particular are not his.
    if (isOver || caller.isAnonymous) caller.running -= 1;
    if (!isOver) this.#asking += 1;
    this.#startWaiting();
  }

  /** The client has answered. It goes on at once, above the limit if need be: others wait for what it holds. */
  back(caller: LimitedCaller): void {
    this.#running += 1;
    this.#asking -= 1;
    if (caller.isAnonymous) caller.running += 1;
  }

  #startWaiting(): void {
    while (this.#isFree && this.#queue.size > 0) {
      const next = this.#queue.take((caller) => this.#mayRun(caller as LimitedCaller));
      if (!next) return;
      (next as WaitingCall).start();
    }
  }

  /** Why there is nothing to be had for this caller. */
  #excess(caller: LimitedCaller): Excess {
    const { server, limits } = this.#options;
    if (!this.#mayRun(caller)) return ownCallsExcess(server, limits);
    return callsExcess(server, this.load, limits);
  }
}

interface WaitingCall extends Waiter {
  readonly caller: LimitedCaller;
  start(): void;
  turnAway(excess: Excess): void;
}
