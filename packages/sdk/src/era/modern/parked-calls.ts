import { randomUUID } from 'node:crypto';
import type { Clock } from '../../async/clock.js';
import { EvictingSlots } from '../../async/evicting-slots.js';
import { IsthmusError } from '../../errors.js';

/**
 * Calls that wait between two rounds: their handlers stay in memory here while the client collects answers. Shared by all
 * connections of a server, since the next round may arrive on another one (STATE-003).
 */
export class ParkedCalls<T extends Expirable> {
  readonly #clock: Clock;
  readonly #limits: ParkingLimits;
  readonly #parked = new Map<string, Parked<T>>();
  /** The tickets, by client. */
  readonly #fair: EvictingSlots<string>;
  /** Tickets of evicted calls, so that their clients get a better error. */
  readonly #displaced = new Set<string>();

  constructor(clock: Clock, limits: ParkingLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#fair = new EvictingSlots(limits.maxParked);
  }

  get size(): number {
    return this.#parked.size;
  }

  /**
   * Parks `call` until its next round. If there is no room, the oldest call of the client that has most of them is ended:
   * a client that does not answer its rounds loses its own calls, and never those of others. Throws BUSY if no client has
   * more than this one, and this one has no other.
   */
  park(call: T, client = ''): Ticket {
    const id = randomUUID();
    const expiresAt = this.#clock.now() + this.#limits.roundTtlMs;
    const callOff = this.#clock.after(
      this.#limits.roundTtlMs,
      () => {
        this.leave(id);
        call.expire(new IsthmusError('TIMED_OUT', `no answer came within ${this.#limits.roundTtlMs} ms`));
      },
      { background: true },
    );
    this.#parked.set(id, { call, callOff });
    const evicted = this.#fair.add(client, id);
    if (evicted === id) {
      this.leave(id);
      const message = `${this.#limits.maxParked} calls already wait for input; try again when some of them are answered`;
      throw new IsthmusError('BUSY', message);
    }
    if (evicted !== undefined) this.#displace(evicted);
    return { id, expiresAt };
  }

  /** Whether the call of this ticket was evicted. */
  wasDisplaced(id: string): boolean {
    return this.#displaced.has(id);
  }

  /** The call of this ticket; it stays parked. */
  find(id: string): T | undefined {
    return this.#parked.get(id)?.call;
  }

  /** Removes the call; its ticket cannot be used again. */
  leave(id: string): void {
    this.#parked.get(id)?.callOff();
    this.#parked.delete(id);
    this.#fair.delete(id);
  }

  /** Ends all parked calls. */
  close(reason: IsthmusError): void {
    for (const [id, { call }] of [...this.#parked]) {
      this.leave(id);
      call.expire(reason);
    }
  }

  #displace(id: string): void {
    const call = this.find(id);
    this.leave(id);
    this.#displaced.add(id);
    const [oldest] = this.#displaced;
    if (this.#displaced.size > MAX_DISPLACED) this.#displaced.delete(oldest!);
    call?.expire(new IsthmusError('BUSY', tooManyParked(this.#limits.maxParked)));
  }
}

export function tooManyParked(max: number): string {
  return `${max} calls wait for input, which is the limit; this was the oldest call of the client that has most of them. Answer its rounds, then call again`;
}

/** Kept only for a better error message. */
const MAX_DISPLACED = 1000;

interface Expirable {
  /** No next round will come: ends the handler. */
  expire(reason: IsthmusError): void;
}

interface Ticket {
  readonly id: string;
  readonly expiresAt: number;
}

export interface ParkingLimits {
  readonly roundTtlMs: number;
  readonly maxParked: number;
}

interface Parked<T> {
  readonly call: T;
  readonly callOff: () => void;
}
