import type { Clock } from '../async/clock.js';
import type { RequestId } from '../wire/json-rpc.js';
import { IdMap } from './id-map.js';

/**
 * The requests of a peer that are not answered yet: running, or waiting for a slot. One object per connection. Every
 * accepted request is either answered, cancelled or abandoned.
 */
export class InboundCalls {
  readonly #limits: InboundLimits;
  readonly #surroundings: CallSurroundings;
  readonly #inFlight = new IdMap<InboundCall>();
  /** In the order of arrival. Cancelled ones stay for a while, without their work, and do not count. */
  #queue: InboundCall[] = NONE;
  #next = 0;
  #waiting = 0;
  #waitingBytes = 0;
  #running = 0;
  #resuming = false;
  #isStopped = false;
  #onIdle: (() => void) | undefined;
  /** Set while a full queue holds the input: cancels the timer that ends the hold. */
  #holding: (() => void) | undefined;
  /** No call ended while the input was held: read on, and refuse what does not fit, until there is room. */
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

  /** Records a request; `undefined` if its id is already in flight (the first request goes on). */
  accept(id: RequestId): InboundCall | undefined {
    if (this.#inFlight.has(id)) return undefined;
    const call = new InboundCall(id, this.#surroundings.arriving + CALL_BYTES);
    this.#inFlight.set(id, call);
    return call;
  }

  /** Takes a slot for a call that need not wait; then its work starts now. False: `enqueue` it. */
  takeSlot(): boolean {
    if (this.#running >= this.#limits.maxConcurrent || this.#waiting > 0 || this.#surroundings.outputIsFull())
      return false;
    this.#running += 1;
    return true;
  }

  /**
   * Starts `work` when a slot is free. A full queue holds the input for as long as calls keep ending, so that a busy
   * server refuses no request. If no call ends, the message that would free a slot (a cancellation, an answer) may be
   * further back in the input. Then reading goes on, and the result is false: `work` never runs.
   */
  enqueue(call: InboundCall, work: () => void): boolean {
    if (this.#isFull && this.#mustRead) return false;
    call.work = work;
    this.#waiting += 1;
    this.#waitingBytes += call.bytes;
    if (this.#queue === NONE) this.#queue = [];
    this.#queue.push(call);
    this.reviewInput();
    return true;
  }

  /** The work that had a slot has ended. */
  release(): void {
    this.#running -= 1;
    if (this.#waiting > 0) this.resume();
  }

  /** Starts waiting work while there is room. Call when output has drained. */
  resume(): void {
    // Synchronous work releases its slot inside this loop; without the guard that would recurse.
    if (this.#resuming) return;
    this.#resuming = true;
    try {
      this.#startWaiting();
    } finally {
      this.#resuming = false;
      this.reviewInput();
    }
  }

  /** No waiting work starts any more. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Records that the request is answered: nothing more may be sent for it. */
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

  /** The peer cancelled it. False if it is not in flight (unknown, finished), which is not an error (CANC-008). */
  cancel(id: RequestId, reason: string | undefined): boolean {
    const call = this.#inFlight.get(id);
    if (!call) return false;
    this.settle(call);
    call.running?.cancel(reason ?? 'cancelled by the client');
    return true;
  }

  /** All requests in flight, in the order of arrival. */
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

  /** Decides again whether the input is read. Call it when a question is sent to the peer. */
  reviewInput(): void {
    if (!this.#isFull) this.#impatient = false;
    const hold = this.#isFull && !this.#mustRead;
    if (hold && !this.#holding) {
      this.#surroundings.holdInput(true);
      this.#startHoldTimer();
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

  #startHoldTimer(): void {
    this.#holding = this.#surroundings.clock.after(MAX_HOLD_MS, () => {
      // While the output is full there is no room for more answers, so the input stays held.
      if (this.#surroundings.outputIsFull()) return this.#startHoldTimer();
      this.#impatient = true;
      this.reviewInput();
    });
  }

  #leaveQueue(call: InboundCall): void {
    // The work holds the whole request; a cancelled call must not keep it in memory until its turn.
    call.work = undefined;
    this.#waiting -= 1;
    this.#waitingBytes -= call.bytes;
    if (this.#queue.length - this.#next > 2 * this.#waiting + MAX_GAP) {
      this.#queue = this.#queue.slice(this.#next).filter((each) => each.work !== undefined);
      this.#next = 0;
    }
  }

  #startWaiting(): void {
    while (!this.#isStopped && this.#waiting > 0 && this.#running < this.#limits.maxConcurrent) {
      if (this.#surroundings.outputIsFull()) return;
      const call = this.#queue[this.#next]!;
      const { work } = call;
      this.#next += 1;
      if (this.#next === this.#queue.length || this.#next > MAX_GAP) {
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

/** So many used entries stay in the queue before it is compacted. */
const MAX_GAP = 1024;

/** The memory of a call besides its text, roughly: it counts, so that many small calls stay within the bound in bytes. */
export const CALL_BYTES = 1024;

/** How long the input may be held without a single call starting. */
const MAX_HOLD_MS = 250;

export interface InboundLimits {
  /** Calls that run at the same time, per connection. */
  readonly maxConcurrent: number;
  /** Calls that may wait for a slot before the input is held. */
  readonly maxQueued: number;
  /** The memory of these calls, in bytes: their text, and 1 KiB for each. */
  readonly maxQueuedBytes: number;
}

/** What the calls of a connection need of it. */
export interface CallSurroundings {
  readonly clock: Clock;
  /** The length of the message that is being received, in bytes; 0 if it is not known. */
  readonly arriving: number;
  /** No new work may start, since its answer would wait in the output. */
  outputIsFull(): boolean;
  /** Running calls wait for an answer of the peer. */
  awaitsPeer(): boolean;
  holdInput(hold: boolean): void;
}

/** One request of the peer, from its arrival to its answer. */
export class InboundCall {
  readonly id: RequestId;
  /** False once it is answered or cancelled: nothing is sent for it after that. */
  live = true;
  /** The server stops and has aborted it: an error of its handler is then replaced by one that says so. */
  stopped = false;
  /** Its memory, roughly. */
  readonly bytes: number;
  /** The work to start, while it waits for a slot. */
  work: (() => void) | undefined;
  /** The call that it started. Not a closure: one per request kept the whole request alive for long (Node 20). */
  running: { cancel(reason: string): void } | undefined;

  constructor(id: RequestId, bytes: number) {
    this.id = id;
    this.bytes = bytes;
  }
}
