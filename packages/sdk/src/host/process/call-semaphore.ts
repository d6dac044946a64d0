import { IsthmusError } from '../../errors.js';
import type { Origin } from '../../exchange/client-key.js';
import { FairSlots } from '../../exchange/fair-slots.js';

/**
 * A number of places, for processes or calls, and a bounded queue of takers that wait for one. Places that are taken for
 * no client are given out in order. Places for clients are shared: no client has all places, the client with the fewest is
 * next, and in a full queue the client with the most gives way.
 */
export class CallSemaphore {
  readonly #what: string;
  readonly #onQueue: (queued: number, refused: boolean) => void;
  readonly #places: FairSlots;
  #maxQueue: number;
  readonly #waiting: Waiting[] = [];
  /** When each client had its last turn, while there is a queue. */
  readonly #turns = new Map<string, number>();
  #turn = 0;

  /** `what` ends the sentence "… is busy: all 4 places are taken and 16 wait" in errors. */
  constructor(
    what: string,
    places: number,
    maxQueue: number,
    onQueue: (queued: number, refused: boolean) => void = () => {},
  ) {
    this.#what = what;
    this.#places = new FairSlots(places);
    this.#maxQueue = maxQueue;
    this.#onQueue = onQueue;
  }

  get taken(): number {
    return this.#places.taken;
  }

  get places(): number {
    return this.#places.max;
  }

  get queued(): number {
    return this.#waiting.length;
  }

  /** For what is taken for no client. What waits while a place is free waits for the share of its own client. */
  get hasRoom(): boolean {
    return this.#places.taken < this.#places.max;
  }

  /** At once, or not at all. */
  tryTake(origin: Origin = NOBODY): boolean {
    // A client that waits while a place is free waits because of its share, and holds up no other client.
    if (origin !== NOBODY) return typeof this.#places.take(origin) === 'object';
    if (!this.hasRoom) return false;
    this.#places.takeAnyway(origin);
    return true;
  }

  /** For a call that others wait for: as many more places as there are. */
  tryOverdraw(origin: Origin = NOBODY): boolean {
    if (this.#places.taken >= this.#places.max * 2) return false;
    this.#places.takeAnyway(origin);
    return true;
  }

  /** For a call that had a place, and gave it back for a while. */
  takeAnyway(origin: Origin = NOBODY): void {
    this.#places.takeAnyway(origin);
  }

  /** Rejects with `BUSY` when too many wait already; with the signal's reason when it is aborted. */
  take(signal?: AbortSignal, origin: Origin = NOBODY): Promise<void> {
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

  release(origin: Origin = NOBODY): void {
    this.#places.releaseOf(origin);
    if (this.#waiting.length > 0) this.#admit();
  }

  resize(places: number, maxQueue: number): void {
    this.#places.resize(places);
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
      this.#places.takeAnyway(next.origin);
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      this.#hadTurn(next.origin.who);
      next.go();
    }
    if (this.#waiting.length === 0) this.#turns.clear();
  }

  /**
   * The first of the client that has least, or whose turn is longest ago; and of its session that has least. Those
   * whose share is used up are passed over: what is free is not for them.
   */
  #next(): Waiting | undefined {
    let next: Waiting | undefined;
    for (const each of this.#waiting) {
      if (next && !this.#isBefore(each, next)) continue;
      if (each.origin === NOBODY || this.#places.hasRoomFor(each.origin)) next = each;
    }
    return next;
  }

  /** The latest turn is the last entry. Clients whose turn was long ago are forgotten, as if they had had none. */
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
    if (a.who === b.who) return this.#places.heldByPart(a) < this.#places.heldByPart(b);
    const more = this.#places.heldBy(a.who) - this.#places.heldBy(b.who);
    return more < 0 || (more === 0 && (this.#turns.get(a.who) ?? 0) < (this.#turns.get(b.who) ?? 0));
  }

  /** The latest call of the client that has most of them waiting, if that is more than the newcomer will have. */
  #displacedBy(newcomer: Origin): Waiting | undefined {
    const counts = new Map<string, number>();
    for (const { origin } of this.#waiting) counts.set(origin.who, (counts.get(origin.who) ?? 0) + 1);
    let most = newcomer.who;
    for (const [who, count] of counts) if (count > (counts.get(most) ?? 0)) most = who;
    if ((counts.get(most) ?? 0) <= (counts.get(newcomer.who) ?? 0) + 1) return undefined;
    return this.#waiting.findLast(({ origin }) => origin.who === most);
  }

  #busy(): IsthmusError {
    const message = `${this.#what} is busy: all ${this.places} places are taken and ${this.#waiting.length} wait; try again later`;
    return new IsthmusError('BUSY', message, { sent: 'no' });
  }
}

interface Waiting {
  readonly origin: Origin;
  go(): void;
  refuse(error: IsthmusError): void;
}

/** Taken for no client: nothing is shared. */
const NOBODY: Origin = { who: '', part: undefined };

/** Clients whose last turn is remembered. */
const MAX_TURNS = 1024;
