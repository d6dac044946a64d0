import { randomUUID } from 'node:crypto';
import type { Clock } from '../../async/clock.js';
import { EvictingSlots } from '../../async/evicting-slots.js';
import { IsthmusError } from '../../errors.js';

/**
 * Handlers that sleep between two rounds: the promise stays alive here while the client collects answers.
 * Shared by all connections of a server, since the retry may arrive on another one (STATE-003).
 */
export class ParkedCalls<T extends Sleeper> {
  readonly #clock: Clock;
  readonly #limits: ParkingLimits;
  readonly #places = new Map<string, Place<T>>();
  /** The tickets, by client. */
  readonly #fair: EvictingSlots<string>;
  /** Tickets of calls that had to make room, so that their clients can be told. */
  readonly #displaced = new Set<string>();

  constructor(clock: Clock, limits: ParkingLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#fair = new EvictingSlots(limits.maxParked);
  }

  get size(): number {
    return this.#places.size;
  }

  /**
   * Takes a place for the next round of `call`. Where none is free, the oldest call of the client that has most of
   * them is ended: a client that leaves its rounds unanswered loses its own, and never those of others. Throws BUSY
   * where no client has more than this one, and this one has no other.
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
    this.#places.set(id, { call, callOff });
    const loser = this.#fair.add(client, id);
    if (loser === id) {
      this.leave(id);
      const message = `${this.#limits.maxParked} calls already wait for input; try again when some of them are answered`;
      throw new IsthmusError('BUSY', message);
    }
    if (loser !== undefined) this.#displace(loser);
    return { id, expiresAt };
  }

  /** Whether the call of this ticket was ended to make room. */
  wasDisplaced(id: string): boolean {
    return this.#displaced.has(id);
  }

  /** Who sleeps under this ticket; the place stays taken. */
  find(id: string): T | undefined {
    return this.#places.get(id)?.call;
  }

  /** Wakes: the place is free and the ticket is spent, so a second use finds nothing. */
  leave(id: string): void {
    this.#places.get(id)?.callOff();
    this.#places.delete(id);
    this.#fair.delete(id);
  }

  /** Ends all sleepers. */
  close(reason: IsthmusError): void {
    for (const [id, { call }] of [...this.#places]) {
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

/** They are remembered for nothing but a better error. */
const MAX_DISPLACED = 1000;

export interface Sleeper {
  /** Nobody will come back: end the handler. */
  expire(reason: IsthmusError): void;
}

export interface Ticket {
  readonly id: string;
  readonly expiresAt: number;
}

export interface ParkingLimits {
  readonly roundTtlMs: number;
  readonly maxParked: number;
}

interface Place<T> {
  readonly call: T;
  readonly callOff: () => void;
}
