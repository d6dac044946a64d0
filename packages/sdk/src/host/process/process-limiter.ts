import type { Clock } from '../../async/clock.js';
import { EvictingSlots } from '../../async/evicting-slots.js';
import type { TenantLimiter } from '../../era/client/tenant.js';
import type { TenantCaller } from '../../era/client/tenant-caller.js';
import { IsthmusError } from '../../errors.js';
import type { OutgoingCall } from '../../exchange/call.js';
import { clientKey, type Origin } from '../../exchange/client-key.js';
import { CallSemaphore } from './call-semaphore.js';

export interface ProcessLimiterOptions {
  /** The server's name. */
  readonly label: string;
  readonly clock: Clock;
  readonly maxInFlight: number;
  readonly maxQueue: number;
  /** How many calls may wait for a person. */
  readonly maxParked: number;
  readonly onQueue: (queued: number, refused: boolean) => void;
  /** Called when `maxParked` calls wait for a person, and the oldest call of the client with the most is ended. */
  readonly onParkedFull: (parked: number) => void;
  /** Called when the last call or subscription has ended. */
  readonly onIdle: () => void;
}

/** Limits and counts the calls and subscriptions of all tenants of one process. */
export class ProcessLimiter implements TenantLimiter {
  /** How many calls were answered with a result. */
  served = 0;
  readonly #options: ProcessLimiterOptions;
  readonly #slots: CallSemaphore;
  readonly #suspended: SuspendedCalls;
  /** Calls that wait for a slot. */
  readonly #waiting = new Map<AbortController, TenantCaller>();
  #subscriptions = 0;
  /** Called when no call is in flight. */
  #onDrained: (() => void)[] = [];

  constructor(options: ProcessLimiterOptions) {
    const { label, maxInFlight, maxQueue, maxParked, onQueue, onParkedFull } = options;
    this.#options = options;
    this.#slots = new CallSemaphore(label, maxInFlight, maxQueue, onQueue);
    this.#suspended = new SuspendedCalls(label, this.#slots, maxParked, onParkedFull);
  }

  /** Calls that have begun, suspended calls included. */
  get inFlight(): number {
    return this.#slots.taken + this.#suspended.size;
  }

  /** Calls that the process works on. */
  get working(): number {
    return this.#slots.taken;
  }

  get queued(): number {
    return this.#slots.queued;
  }

  /** Calls that wait for a person. */
  get parked(): number {
    return this.#suspended.parked;
  }

  get isIdle(): boolean {
    return this.inFlight === 0 && this.queued === 0 && this.#subscriptions === 0;
  }

  begin(call: OutgoingCall, tenant: TenantCaller): boolean {
    const origin = originOf(call);
    if (this.#slots.tryTake(origin)) return true;
    // A server that asked a question may wait for the answer, and the answer may need this call.
    return tenant.isAsked(call) && this.#slots.tryOverdraw(origin);
  }

  /** The wait counts against the timeout of the call. */
  async wait(call: OutgoingCall, tenant: TenantCaller): Promise<OutgoingCall> {
    const { clock } = this.#options;
    const began = clock.now();
    const over = new AbortController();
    const cancelTimeout = clock.after(call.timeoutMs, () => {
      const message = `${call.method} waited ${call.timeoutMs} ms for a free slot: ${this.working} calls are in flight`;
      over.abort(new IsthmusError('TIMED_OUT', message, { sent: 'no' }));
    });
    const onAbort = () => {
      const cause = call.signal?.reason;
      over.abort(new IsthmusError('CANCELLED', `${call.method} was cancelled`, { cause, sent: 'no' }));
    };
    if (call.signal?.aborted) onAbort();
    call.signal?.addEventListener('abort', onAbort, { once: true });
    this.#waiting.set(over, tenant);
    try {
      await this.#slots.take(over.signal, originOf(call));
    } finally {
      this.#waiting.delete(over);
      cancelTimeout();
      call.signal?.removeEventListener('abort', onAbort);
    }
    const waited = clock.now() - began;
    const timeoutMs = Math.max(1, call.timeoutMs - waited);
    return { ...call, timeoutMs, maxTimeoutMs: Math.max(timeoutMs, call.maxTimeoutMs - waited) };
  }

  end(call: OutgoingCall, hasResult: boolean): void {
    if (hasResult) this.served += 1;
    if (!this.#suspended.callEnded(call)) this.#slots.release(originOf(call));
    if (this.inFlight === 0) this.#checkIdle();
  }

  suspend(call: OutgoingCall, { tenant }: TenantCaller, giveUp?: (error: IsthmusError) => void): void {
    const { principal, label } = tenant;
    const own = principal === undefined ? `conversation ${label}` : clientKey({ principal });
    this.#suspended.suspend(call.behalf?.client ?? own, call, originOf(call), giveUp);
  }

  resume(call: OutgoingCall): void {
    this.#suspended.resume(call, originOf(call));
  }

  refuse(tenant: TenantCaller, error: IsthmusError): void {
    for (const [over, its] of this.#waiting) if (its === tenant) over.abort(error);
  }

  /** Refuses all calls that wait for a slot. */
  refuseAll(error: IsthmusError): void {
    this.#slots.refuseAll(error);
  }

  holdSubscription(): () => void {
    this.#subscriptions += 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#subscriptions -= 1;
      this.#checkIdle();
    };
  }

  /** Settles when no call is in flight. */
  drained(): Promise<void> {
    if (this.inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onDrained.push(resolve));
  }

  /** Reports that the process is idle, if a call or subscription that has just ended was the last one. */
  #checkIdle(): void {
    if (this.inFlight === 0) for (const notify of this.#onDrained.splice(0)) notify();
    if (this.isIdle) this.#options.onIdle();
  }
}

/** The client that a bridge makes the call for. Undefined for calls that an application makes itself. */
function originOf({ behalf }: OutgoingCall): Origin | undefined {
  return behalf?.client === undefined ? undefined : { who: behalf.client, part: behalf.session };
}

/**
 * Calls that the process does not work on: their clients are being asked a question, or they wait for their turn. They
 * hold no slot. Calls that wait for a person are parked: they have their own limit, which is fair between clients.
 */
class SuspendedCalls {
  readonly #label: string;
  readonly #calls: CallSemaphore;
  readonly #parked: EvictingSlots<OutgoingCall>;
  readonly #onFull: (parked: number) => void;
  /** Ends the call with an error. Undefined: the call only waits for its turn. */
  readonly #suspended = new Map<OutgoingCall, ((error: IsthmusError) => void) | undefined>();
  #isFull = false;

  constructor(label: string, calls: CallSemaphore, maxParked: number, onFull: (parked: number) => void) {
    this.#label = label;
    this.#calls = calls;
    this.#parked = new EvictingSlots(maxParked);
    this.#onFull = onFull;
  }

  get size(): number {
    return this.#suspended.size;
  }

  /** Calls that wait for a person. */
  get parked(): number {
    return this.#parked.size;
  }

  suspend(
    client: string,
    call: OutgoingCall,
    origin: Origin | undefined,
    end?: (error: IsthmusError) => void,
  ): void {
    if (this.#suspended.has(call)) return;
    this.#suspended.set(call, end);
    this.#calls.release(origin);
    if (end) this.#park(client, call);
  }

  /** The call goes on at once, above the limit if necessary: other calls may wait for what it holds in the server. */
  resume(call: OutgoingCall, origin: Origin | undefined): void {
    if (this.callEnded(call)) this.#calls.takeAnyway(origin);
  }

  /** Returns whether the call was suspended: then it has no slot to release. */
  callEnded(call: OutgoingCall): boolean {
    if (this.#suspended.size === 0 || !this.#suspended.delete(call)) return false;
    this.#parked.delete(call);
    if (this.#parked.size < this.#parked.max * LOW_WATER) this.#isFull = false;
    return true;
  }

  #park(client: string, call: OutgoingCall): void {
    const loser = this.#parked.add(client, call);
    if (!loser) return;
    if (!this.#isFull) {
      this.#isFull = true;
      this.#onFull(this.#parked.size);
    }
    const { max } = this.#parked;
    const message = `${this.#label}: ${max} calls wait for an answer to a question, which is the limit. This was the oldest call of the client with the most. Answer its questions or cancel its calls, then call again`;
    this.#suspended.get(loser)?.(new IsthmusError('BUSY', message, { sent: 'maybe' }));
  }
}

/** Below this share of its limit it counts as not full, so that the next time it is full is reported again. */
const LOW_WATER = 0.9;
