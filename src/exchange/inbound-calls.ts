import type { RequestId } from '../wire/json-rpc.js';

/**
 * The requests a peer is waiting for: which are running, which wait for a place, which were called off.
 * One object per connection. Every accepted request ends in exactly one of: answered, cancelled, abandoned.
 */
export class InboundCalls {
  readonly #limits: InboundLimits;
  readonly #surroundings: Surroundings;
  readonly #inFlight = new Map<RequestId, InboundCall>();
  readonly #waiting: { call: InboundCall; work: () => void }[] = [];
  #running = 0;
  #firstWaiting = 0;
  #resuming = false;
  #holdingInput = false;
  #onIdle: (() => void) | undefined;

  constructor(limits: InboundLimits, surroundings: Surroundings) {
    this.#limits = limits;
    this.#surroundings = surroundings;
  }

  get size(): number {
    return this.#inFlight.size;
  }

  /** Records a request; `undefined` when its id is already in flight (the first one is left alone). */
  accept(id: RequestId): InboundCall | undefined {
    if (this.#inFlight.has(id)) return undefined;
    const call = new InboundCall(id);
    this.#inFlight.set(id, call);
    return call;
  }

  /**
   * Starts `work` now or when a place is free. A full queue stops the reading of input, so that nobody is
   * turned away. Only when running calls wait for what the peer has yet to send must reading go on, and then
   * the answer is false: nothing will run.
   */
  admit(call: InboundCall, work: () => void): boolean {
    if (
      this.#running < this.#limits.maxConcurrent &&
      !this.#surroundings.outputIsFull() &&
      this.#queued === 0
    ) {
      this.#running += 1;
      work();
      return true;
    }
    if (this.#queued >= this.#limits.maxQueued && this.#surroundings.awaitsPeer()) return false;
    this.#waiting.push({ call, work });
    this.reviewInput();
    return true;
  }

  /** Decides anew whether input is read: call when the peer is asked something. */
  reviewInput(): void {
    const enough = this.#holdingInput ? this.#limits.maxQueued / 2 : this.#limits.maxQueued;
    const hold = this.#queued > 0 && this.#queued >= enough && !this.#surroundings.awaitsPeer();
    if (hold === this.#holdingInput) return;
    this.#holdingInput = hold;
    this.#surroundings.holdInput(hold);
  }

  /** The work that `admit` started has ended. */
  release(): void {
    this.#running -= 1;
    if (this.#queued > 0) this.resume();
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
    this.#inFlight.delete(call.id);
    if (this.#inFlight.size === 0) this.#onIdle?.();
  }

  /** The peer called it off. False when it is not in flight (unknown, finished): that is no error (CANC-008). */
  cancel(id: RequestId, reason: string | undefined): boolean {
    const call = this.#inFlight.get(id);
    if (!call) return false;
    this.settle(call);
    call.onCancel?.(reason ?? 'cancelled by the client');
    return true;
  }

  /** Everything still in flight, in order of arrival. */
  pending(): InboundCall[] {
    return [...this.#inFlight.values()];
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

  #startWaiting(): void {
    while (
      this.#running < this.#limits.maxConcurrent &&
      this.#queued > 0 &&
      !this.#surroundings.outputIsFull()
    ) {
      const next = this.#waiting[this.#firstWaiting]!;
      this.#firstWaiting += 1;
      if (this.#firstWaiting === this.#waiting.length || this.#firstWaiting > 1024) {
        this.#waiting.splice(0, this.#firstWaiting);
        this.#firstWaiting = 0;
      }
      if (!next.call.live) continue;
      this.#running += 1;
      next.work();
    }
  }

  get #queued(): number {
    return this.#waiting.length - this.#firstWaiting;
  }
}

export interface InboundLimits {
  /** Calls that run at the same time, per connection. */
  readonly maxConcurrent: number;
  /** Calls that may wait for a place before input is no longer read. */
  readonly maxQueued: number;
}

/** What the calls of a connection need to know of it. */
export interface Surroundings {
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
  onCancel: ((reason: string) => void) | undefined;

  constructor(id: RequestId) {
    this.id = id;
  }
}
