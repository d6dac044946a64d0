import { IsthmusError } from '../errors.js';

/** A number of places, of processes or of calls, and a bounded queue of those who wait for one, in order. */
export class Budget {
  readonly #what: string;
  readonly #onQueue: (queued: number, refused: boolean) => void;
  #places: number;
  #maxQueue: number;
  #taken = 0;
  readonly #waiting: Waiting[] = [];

  /** `what` ends the sentence "… is busy: all 4 places are taken and 16 wait" in errors. */
  constructor(
    what: string,
    places: number,
    maxQueue: number,
    onQueue: (queued: number, refused: boolean) => void = () => {},
  ) {
    this.#what = what;
    this.#places = places;
    this.#maxQueue = maxQueue;
    this.#onQueue = onQueue;
  }

  get taken(): number {
    return this.#taken;
  }

  get places(): number {
    return this.#places;
  }

  get queued(): number {
    return this.#waiting.length;
  }

  get hasRoom(): boolean {
    return this.#taken < this.#places && this.#waiting.length === 0;
  }

  /** At once, or not at all. */
  tryTake(): boolean {
    if (!this.hasRoom) return false;
    this.#taken += 1;
    return true;
  }

  /** For those who would wait for themselves: as many again as there are places. */
  tryOverdraw(): boolean {
    if (this.#taken >= this.#places * 2) return false;
    this.#taken += 1;
    return true;
  }

  /** For those who had a place, and gave it back for a while. */
  takeAnyway(): void {
    this.#taken += 1;
  }

  /** Rejects with `BUSY` when too many wait already; with the signal's reason when it is aborted. */
  take(signal?: AbortSignal): Promise<void> {
    if (this.tryTake()) return Promise.resolve();
    if (this.#waiting.length >= this.#maxQueue) {
      this.#onQueue(this.#waiting.length, true);
      return Promise.reject(this.#busy());
    }
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        const at = this.#waiting.indexOf(waiting);
        if (at >= 0) this.#waiting.splice(at, 1);
        reject(signal!.reason);
      };
      const waiting: Waiting = {
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

  release(): void {
    this.#taken -= 1;
    this.#admit();
  }

  resize(places: number, maxQueue: number): void {
    this.#places = places;
    this.#maxQueue = maxQueue;
    this.#admit();
  }

  /** Whoever waits is not going to get a place. */
  refuseAll(error: IsthmusError): void {
    for (const { refuse } of this.#waiting.splice(0)) refuse(error);
  }

  #admit(): void {
    while (this.#taken < this.#places) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#taken += 1;
      next.go();
    }
  }

  #busy(): IsthmusError {
    const message = `${this.#what} is busy: all ${this.#places} places are taken and ${this.#waiting.length} wait; try again later`;
    return new IsthmusError('BUSY', message, { sent: 'no' });
  }
}

interface Waiting {
  go(): void;
  refuse(error: IsthmusError): void;
}
