import { IsthmusError } from '../../errors.js';
import type { Origin } from '../../exchange/client-key.js';
import { FairSlots } from '../../exchange/fair-slots.js';

/**
 * A number of slots, for processes or calls, and a bounded queue of takers that wait for one. Takers without a client get
 * slots in order. Slots for clients are shared fairly: no client gets all of them, the client with the fewest is next, and
 * in a full queue the client with the most loses its latest request.
 */
export class CallSemaphore {
  readonly #what: string;
  readonly #onQueue: (queued: number, refused: boolean) => void;
  readonly #slots: FairSlots;
  #maxQueue: number;
  readonly #waiting: Waiting[] = [];
  /** The order in which clients got their last slot, while there is a queue. */
  readonly #turns = new Map<string, number>();
  #turn = 0;

  /** `what` is the subject of the error "… is busy: all 4 slots are taken and 16 wait". */
  constructor(
    what: string,
    slots: number,
    maxQueue: number,
    onQueue: (queued: number, refused: boolean) => void = () => {},
  ) {
    this.#what = what;
    this.#slots = new FairSlots(slots);
    this.#maxQueue = maxQueue;
    this.#onQueue = onQueue;
  }

  get taken(): number {
    return this.#slots.taken;
  }

  get queued(): number {
    return this.#waiting.length;
  }

  /** For takers without a client. A client may have to wait even while a slot is free: its share is used up. */
  get hasRoom(): boolean {
    return this.#slots.taken < this.#slots.max;
  }

  /** Takes a slot if it is free at once. */
  tryTake(origin: Origin = NO_CLIENT): boolean {
    // A client that waits while a slot is free waits because of its share, and does not block other clients.
    if (origin !== NO_CLIENT) return typeof this.#slots.take(origin) === 'object';
    if (!this.hasRoom) return false;
    this.#slots.takeAnyway(origin);
    return true;
  }

  /** For a call that others wait for. Up to twice the number of slots may be taken in this way. */
  tryOverdraw(origin: Origin = NO_CLIENT): boolean {
    if (this.#slots.taken >= this.#slots.max * 2) return false;
    this.#slots.takeAnyway(origin);
    return true;
  }

  /** For a call that had a slot and released it for a while. Ignores the limit. */
  takeAnyway(origin: Origin = NO_CLIENT): void {
    this.#slots.takeAnyway(origin);
  }

  /** Rejects with `BUSY` when the queue is full, and with the reason of the signal when it is aborted. */
  take(signal?: AbortSignal, origin: Origin = NO_CLIENT): Promise<void> {
    if (this.tryTake(origin)) return Promise.resolve();
    if (this.#waiting.length >= this.#maxQueue) {
      this.#onQueue(this.#waiting.length, true);
      const displaced = this.#displacedBy(origin);
      if (!displaced) return Promise.reject(this.#busy());
      this.#waiting.splice(this.#waiting.indexOf(displaced), 1);
      displaced.refuse(this.#busy());
    }
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        const at = this.#waiting.indexOf(waiting);
        if (at >= 0) this.#waiting.splice(at, 1);
        reject(signal!.reason);
      };
      const waiting: Waiting = {
        origin,
        go: () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
        refuse: (error) => {
          signal?.removeEventListener('abort', onAbort);
          reject(error);
        },
      };
      if (signal?.aborted) return reject(signal.reason);
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(waiting);
      this.#onQueue(this.#waiting.length, false);
    });
  }

  release(origin: Origin = NO_CLIENT): void {
    this.#slots.releaseOf(origin);
    if (this.#waiting.length > 0) this.#admit();
  }

  resize(slots: number, maxQueue: number): void {
    this.#slots.resize(slots);
    this.#maxQueue = maxQueue;
    this.#admit();
  }

  /** Refuses all takers that wait. */
  refuseAll(error: IsthmusError): void {
    for (const { refuse } of this.#waiting.splice(0)) refuse(error);
  }

  #admit(): void {
    while (this.#waiting.length > 0 && this.hasRoom) {
      const next = this.#next();
      if (!next) break;
      this.#slots.takeAnyway(next.origin);
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      this.#hadTurn(next.origin.who);
      next.go();
    }
    if (this.#waiting.length === 0) this.#turns.clear();
  }

  /**
   * The first taker of the client with the fewest slots, or with the oldest turn; and of the session of this client with
   * the fewest slots. Clients whose share is used up are skipped.
   */
  #next(): Waiting | undefined {
    let next: Waiting | undefined;
    for (const each of this.#waiting) {
      if (next && !this.#isBefore(each, next)) continue;
      if (each.origin === NO_CLIENT || this.#slots.hasRoomFor(each.origin)) next = each;
    }
    return next;
  }

  /** The latest turn is the last entry. The oldest entries are dropped, and count as if there had been no turn. */
  #hadTurn(who: string): void {
    this.#turn += 1;
    this.#turns.delete(who);
    this.#turns.set(who, this.#turn);
    if (this.#turns.size <= MAX_TURNS) return;
    const [oldest] = this.#turns.keys();
    this.#turns.delete(oldest!);
  }

  #isBefore({ origin: a }: Waiting, { origin: b }: Waiting): boolean {
    if (a === b) return false;
    if (a.who === b.who) return this.#slots.heldByPart(a) < this.#slots.heldByPart(b);
    const more = this.#slots.heldBy(a.who) - this.#slots.heldBy(b.who);
    return more < 0 || (more === 0 && (this.#turns.get(a.who) ?? 0) < (this.#turns.get(b.who) ?? 0));
  }

  /** The latest taker of the client with the most in the queue, if the newcomer would still have fewer there. */
  #displacedBy(newcomer: Origin): Waiting | undefined {
    const counts = new Map<string, number>();
    for (const { origin } of this.#waiting) counts.set(origin.who, (counts.get(origin.who) ?? 0) + 1);
    let most = newcomer.who;
    for (const [who, count] of counts) if (count > (counts.get(most) ?? 0)) most = who;
    if ((counts.get(most) ?? 0) <= (counts.get(newcomer.who) ?? 0) + 1) return undefined;
    return this.#waiting.findLast(({ origin }) => origin.who === most);
  }

  #busy(): IsthmusError {
    const message = `${this.#what} is busy: all ${this.#slots.max} slots are taken and ${this.#waiting.length} wait; try again later`;
    return new IsthmusError('BUSY', message, { sent: 'no' });
  }
}

interface Waiting {
  readonly origin: Origin;
  go(): void;
  refuse(error: IsthmusError): void;
}

/** The slot is not taken for a client. */
const NO_CLIENT: Origin = { who: '', part: undefined };

/** Clients whose last turn is remembered. */
const MAX_TURNS = 1024;
