import type { Clock } from '../async/clock.js';
import type { RequestId } from '../wire/json-rpc.js';
import { IdMap } from './id-map.js';

/**
 * The requests a peer is waiting for: which are running, which wait for a place, which were called off.
 * One object per connection. Every accepted request ends in exactly one of: answered, cancelled, abandoned.
 */
export class InboundCalls {
  readonly #limits: InboundLimits;
  readonly #surroundings: CallSurroundings;
  readonly #inFlight = new IdMap<InboundCall>();
  /** In order of arrival; cancelled ones stay for a while, without their work, and no longer count. */
  #queue: InboundCall[] = NONE;
  #next = 0;
  #waiting = 0;
  #waitingBytes = 0;
  #running = 0;
  #resuming = false;
  #onIdle: (() => void) | undefined;
  /** Set while a full queue keeps input from being read: calls off the end of that patience. */
  #holding: (() => void) | undefined;
  /** Nothing ended while input was held: read on, and turn away what does not fit, until there is room. */
  #impatient = false;

  constructor(limits: InboundLimits, surroundings: CallSurroundings) {
    this.#limits = limits;
    this.#surroundings = surroundings;
  }

  get size(): number {
    return this.#inFlight.size;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Records a request; `undefined` when its id is already in flight (the first one is left alone). */
  accept(id: RequestId): InboundCall | undefined {
    if (this.#inFlight.has(id)) return undefined;
    const call = new InboundCall(id, this.#surroundings.arriving + CALL_BYTES);
    this.#inFlight.set(id, call);
    return call;
  }

  /**
   * Starts `work` now or when a place is free. A full queue stops the reading of input for as long as calls
   * keep ending, so that a busy server turns nobody away. When nothing ends, what would free a place may lie
   * behind in the input (a cancellation, an answer): then reading goes on and the result is false, which
   * means that `work` will never run.
   */
  admit(call: InboundCall, work: () => void): boolean {
    if (
      this.#running < this.#limits.maxConcurrent &&
      this.#waiting === 0 &&
      !this.#surroundings.outputIsFull()
    ) {
      this.#running += 1;
      work();
      return true;
    }
    if (this.#isFull && this.#mustRead) return false;
    call.work = work;
    this.#waiting += 1;
    this.#waitingBytes += call.bytes;
    if (this.#queue === NONE) this.#queue = [];
    this.#queue.push(call);
    this.reviewInput();
    return true;
  }

  /** The work that `admit` started has ended. */
  release(): void {
    this.#running -= 1;
    if (this.#waiting > 0) this.resume();
  }

  /** Starts waiting work while there is room. Call when output has drained. */
  resume(): void {
    // Synchronous work releases its place before this loop goes on; without the guard that would recurse.
    if (this.#resuming) return;
    this.#resuming = true;
    try {
      this.#startWaiting();
    } finally {
      this.#resuming = false;
      this.reviewInput();
    }
  }

  /** The request is answered: nothing more may be sent for it. */
  settle(call: InboundCall): void {
    if (!call.live) return;
    call.live = false;
    if (call.work) {
      this.#leaveQueue(call);
      this.reviewInput();
    }
    this.#inFlight.delete(call.id);
    if (this.#inFlight.size === 0) this.#onIdle?.();
  }

  /** The peer called it off. False when it is not in flight (unknown, finished): that is no error (CANC-008). */
  cancel(id: RequestId, reason: string | undefined): boolean {
    const call = this.#inFlight.get(id);
    if (!call) return false;
    this.settle(call);
    call.running?.cancel(reason ?? 'cancelled by the client');
    return true;
  }

  /** Everything still in flight, in order of arrival. */
  pending(): InboundCall[] {
    return this.#inFlight.values();
  }

  /** Settles once nothing is in flight. */
  idle(): Promise<void> {
    if (this.#inFlight.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const before = this.#onIdle;
      this.#onIdle = () => {
        this.#onIdle = undefined;
        before?.();
        resolve();
      };
    });
  }

  /** Decides anew whether input is read: call when the peer is asked something. */
  reviewInput(): void {
    if (!this.#isFull) this.#impatient = false;
    const hold = this.#isFull && !this.#mustRead;
    if (hold && !this.#holding) {
      this.#surroundings.holdInput(true);
      this.#startPatience();
    } else if (!hold && this.#holding) {
      this.#holding();
      this.#holding = undefined;
      this.#surroundings.holdInput(false);
    }
  }

  get #isFull(): boolean {
    const { maxQueued, maxQueuedBytes } = this.#limits;
    return this.#waiting > 0 && (this.#waiting >= maxQueued || this.#waitingBytes >= maxQueuedBytes);
  }

  get #mustRead(): boolean {
    return this.#impatient || this.#surroundings.awaitsPeer();
  }

  #startPatience(): void {
    this.#holding = this.#surroundings.clock.after(PATIENCE_MS, () => {
      // Output that nobody takes is no reason to read on; there is no room for more answers.
      if (this.#surroundings.outputIsFull()) return this.#startPatience();
      this.#impatient = true;
      this.reviewInput();
    });
  }

  #leaveQueue(call: InboundCall): void {
    // What it was to do holds all of the request: a call that is cancelled must not keep it until its turn.
    call.work = undefined;
    this.#waiting -= 1;
    this.#waitingBytes -= call.bytes;
    if (this.#queue.length - this.#next > 2 * this.#waiting + SOME) {
      this.#queue = this.#queue.slice(this.#next).filter((each) => each.work !== undefined);
      this.#next = 0;
    }
  }

  #startWaiting(): void {
    while (this.#waiting > 0 && this.#running < this.#limits.maxConcurrent) {
      if (this.#surroundings.outputIsFull()) return;
      const call = this.#queue[this.#next]!;
      const { work } = call;
      this.#next += 1;
      if (this.#next === this.#queue.length || this.#next > SOME) {
        this.#queue.splice(0, this.#next);
        this.#next = 0;
      }
      if (!work) continue;
      this.#leaveQueue(call);
      this.#running += 1;
      work();
    }
  }
}

/** Most connections never have a queue. */
const NONE: InboundCall[] = [];

/** Places of the queue that are not worth tidying up. */
const SOME = 1024;

/** What a call takes in memory besides its text, roughly: many small ones must not outgrow the bound in bytes. */
export const CALL_BYTES = 1024;

/** How long input may be held without a single call starting. */
const PATIENCE_MS = 250;

export interface InboundLimits {
  /** Calls that run at the same time, per connection. */
  readonly maxConcurrent: number;
  /** Calls that may wait for a place before input is no longer read. */
  readonly maxQueued: number;
  /** What these calls may take in memory, in bytes: their text, and 1 KiB for each. */
  readonly maxQueuedBytes: number;
}

/** What the calls of a connection need to know of it. */
export interface CallSurroundings {
  readonly clock: Clock;
  /** How long the message is that is being received, in bytes; 0 where that is not known. */
  readonly arriving: number;
  /** No new work may start: its answer would only pile up. */
  outputIsFull(): boolean;
  /** Running calls wait for something that the peer has yet to send. */
  awaitsPeer(): boolean;
  holdInput(hold: boolean): void;
}

/** One request on the wire, from its arrival to its answer. */
export class InboundCall {
  readonly id: RequestId;
  /** False once answered or cancelled: whatever comes later stays here. */
  live = true;
  /** The server stops and has aborted it: what its handler throws now says no more than that. */
  stopped = false;
  /** What it takes in memory, roughly. */
  readonly bytes: number;
  /** What is to be done, while it waits for a place. */
  work: (() => void) | undefined;
  /** What it started. The thing itself: a closure made for each request kept all of it alive for long (Node 20). */
  running: { cancel(reason: string): void } | undefined;

  constructor(id: RequestId, bytes: number) {
    this.id = id;
    this.bytes = bytes;
  }
}
