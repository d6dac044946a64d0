import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { Call } from '@isthmus/sdk/internal/exchange/call.js';
import { Callers } from './callers.js';
import { type CallLimits, callsExcess, type Excess, ownCallsExcess, waitExcess } from './excess.js';
import { FairQueue, type QueuingCaller, type Waiter } from './queue.js';

/** The current load of a server. */
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
  /** Makes the error of a refused call. */
  readonly refuse: (excess: Excess, call: Call) => Error;
}

/** Bounds the calls that run and that wait. A call that has a slot at once costs no promise. */
export class CallLimiter {
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

  /** Takes a slot, now or when one is free. Throws or rejects when the call is refused. */
  enter(call: Call): LimiterSlot | Promise<LimiterSlot> {
    const caller = this.#callers.of(call.peer);
    // While a slot is free, the calls in the queue wait for their own callers, and not for a slot.
    if (this.#isFree && this.#mayRun(caller)) return this.#take(caller);
    return this.#wait(call, caller);
  }

  get #isFree(): boolean {
    return this.#running < this.#options.limits.maxConcurrent;
  }

  #mayRun({ running }: LimitedCaller): boolean {
    return running < this.#options.limits.maxConcurrentPerCaller;
  }

  #take(caller: LimitedCaller): LimiterSlot {
    this.#running += 1;
    caller.running += 1;
    return new LimiterSlot(this, caller);
  }

  #wait(call: Call, caller: LimitedCaller): Promise<LimiterSlot> {
    const { server, limits, clock, refuse } = this.#options;
    if (this.#queue.size >= limits.maxQueue) {
      const displaced = this.#queue.displacedBy(caller) as WaitingCall | undefined;
      if (!displaced) throw refuse(this.#excess(caller), call);
      displaced.refuse(this.#excess(displaced.caller));
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
          resolve(this.#take(caller));
        },
        refuse: (excess) => {
          end();
          reject(refuse(excess, call));
        },
      };
      const onAbort = () => {
        end();
        reject(cancellation.reason);
      };
      const callOff = clock.after(limits.maxQueueMs, () => {
        waiter.refuse(waitExcess(server, limits, this.#mayRun(caller)));
      });
      this.#queue.add(waiter);
      cancellation.addEventListener('abort', onAbort, { once: true });
      if (cancellation.aborted) onAbort();
    });
  }

  /** A call has ended (`isOver`), or waits for an answer of its client. */
  left(caller: LimitedCaller, isOver: boolean): void {
    this.#running -= 1;
    // A client that does not answer keeps using its own share. Anonymous clients have one share together, so it is freed.
    if (isOver || caller.isAnonymous) caller.running -= 1;
    if (!isOver) this.#asking += 1;
    this.#startWaiting();
  }

  /** The client has answered. The call goes on at once, above the limit if need be, because others may wait for it. */
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

  /** Why this caller gets no slot. */
  #excess(caller: LimitedCaller): Excess {
    const { server, limits } = this.#options;
    if (!this.#mayRun(caller)) return ownCallsExcess(server, limits);
    return callsExcess(server, this.load, limits);
  }
}

interface WaitingCall extends Waiter {
  readonly caller: LimitedCaller;
  start(): void;
  refuse(excess: Excess): void;
}

interface LimitedCaller extends QueuingCaller {
  /** Its calls under way. */
  running: number;
  /** It may be several clients: an unanswered question of one must not count against the others. */
  readonly isAnonymous: boolean;
}

/** One of the running calls of a limiter, until it is left for good. */
export class LimiterSlot {
  readonly #limiter: CallLimiter;
  readonly #caller: LimitedCaller;
  #questions = 0;
  #isLeft = false;

  constructor(limiter: CallLimiter, caller: LimitedCaller) {
    this.#limiter = limiter;
    this.#caller = caller;
  }

  /** The client is asked a question: until it answers, other calls may use the slot. */
  stepOut(): void {
    this.#questions += 1;
    if (this.#questions === 1 && !this.#isLeft) this.#limiter.left(this.#caller, false);
  }

  comeBack(): void {
    this.#questions -= 1;
    if (this.#questions === 0 && !this.#isLeft) this.#limiter.back(this.#caller);
  }

  leave(): void {
    if (this.#isLeft) return;
    // The call may end while questions are open.
    if (this.#questions > 0) this.#limiter.back(this.#caller);
    this.#isLeft = true;
    this.#limiter.left(this.#caller, true);
  }
}
