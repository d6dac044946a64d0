import { randomUUID } from 'node:crypto';
import type { Clock } from '../../async/clock.js';
import { IsthmusError } from '../../errors.js';

/**
 * Handlers that sleep between two rounds: the promise stays alive here while the client collects answers.
 * Shared by all connections of a server, since the retry may arrive on another one (STATE-003).
 */
export class ParkedCalls<T extends Sleeper> {
  readonly #clock: Clock;
  readonly #limits: ParkingLimits;
  readonly #places = new Map<string, Place<T>>();

  constructor(clock: Clock, limits: ParkingLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  get size(): number {
    return this.#places.size;
  }

  /** Takes a place for the next round of `call`; throws BUSY when none is free. */
  park(call: T): Ticket {
    if (this.#places.size >= this.#limits.maxParked) {
      throw new IsthmusError(
        'BUSY',
        `${this.#limits.maxParked} calls already wait for input; try again when some of them are answered`,
      );
    }
    const id = randomUUID();
    const expiresAt = this.#clock.now() + this.#limits.roundTtlMs;
    const callOff = this.#clock.after(
      this.#limits.roundTtlMs,
      () => {
        this.#places.delete(id);
        call.expire(new IsthmusError('TIMED_OUT', `no answer came within ${this.#limits.roundTtlMs} ms`));
      },
      { background: true },
    );
    this.#places.set(id, { call, callOff });
    return { id, expiresAt };
  }

  /** Who sleeps under this ticket; the place stays taken. */
  find(id: string): T | undefined {
    return this.#places.get(id)?.call;
  }

  /** Wakes: the place is free and the ticket is spent, so a second use finds nothing. */
  leave(id: string): void {
    this.#places.get(id)?.callOff();
    this.#places.delete(id);
  }

  /** Ends all sleepers. */
  close(reason: IsthmusError): void {
    for (const [id, { call }] of [...this.#places]) {
      this.leave(id);
      call.expire(reason);
    }
  }
}

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
