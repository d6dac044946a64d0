import { EvictingSlots } from '../async/evicting-slots.js';
import { IsthmusError } from '../errors.js';
import type { OutgoingCall } from '../exchange/call.js';
import type { Origin } from '../exchange/client-key.js';
import type { CallSemaphore } from './call-semaphore.js';

/**
 * Calls that a process has nothing to do for: their clients are being asked, or they wait for their turn. They hold
 * no place among the calls in flight. Those that wait for a person have places of their own, fair between clients.
 */
export class RestingCalls {
  readonly #label: string;
  readonly #calls: CallSemaphore;
  readonly #parked: EvictingSlots<OutgoingCall>;
  readonly #onFull: (parked: number) => void;
  /** How each of them can be ended; undefined where it only waits for its turn. */
  readonly #resting = new Map<OutgoingCall, ((error: IsthmusError) => void) | undefined>();
  #isFull = false;

  constructor(label: string, calls: CallSemaphore, maxParked: number, onFull: (parked: number) => void) {
    this.#label = label;
    this.#calls = calls;
    this.#parked = new EvictingSlots(maxParked);
    this.#onFull = onFull;
  }

  get size(): number {
    return this.#resting.size;
  }

  /** Those that wait for a person. */
  get parked(): number {
    return this.#parked.size;
  }

  rest(
    client: string,
    call: OutgoingCall,
    origin: Origin | undefined,
    end?: (error: IsthmusError) => void,
  ): void {
    if (this.#resting.has(call)) return;
    this.#resting.set(call, end);
    this.#calls.release(origin);
    if (end) this.#park(client, call);
  }

  /** It goes on at once, above the limit if need be: it has begun, and others may wait for what it holds there. */
  resume(call: OutgoingCall, origin: Origin | undefined): void {
    if (this.settled(call)) this.#calls.takeAnyway(origin);
  }

  /** The call is over. True when it was resting, so that it has no place to give back. */
  settled(call: OutgoingCall): boolean {
    if (this.#resting.size === 0 || !this.#resting.delete(call)) return false;
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
    const message = `${this.#label}: ${max} calls wait for an answer to a question, which is the limit. This was the oldest call of the client that has most of them. Answer its questions, or cancel its calls, then call again`;
    this.#resting.get(loser)?.(new IsthmusError('BUSY', message, { sent: 'maybe' }));
  }
}

/** Below this share of its places it is not full any more, and the next time it is, that is told again. */
const LOW_WATER = 0.9;
