import type { Clock } from '../../async/clock.js';
import { IsthmusError } from '../../errors.js';
import type { Cancellation } from '../../exchange/lazy-abort.js';

/** Somebody who waits for others to be out of the way. */
export interface Waiting {
  readonly owner: object;
  readonly speaker: object;
  /** Named in errors. */
  readonly what: string;
  readonly timeoutMs: number;
  readonly signal?: Cancellation | undefined;
  /** Before all who only want to begin. */
  readonly first?: boolean;
}

/** Calls that wait for their turn, each as long as it has patience. */
export class WaitingLine {
  readonly #clock: Clock;
  /** Somebody has left the line: others may be next. */
  readonly #onLeft: () => void;
  readonly #waiting: Place[] = [];

  constructor(clock: Clock, onLeft: () => void) {
    this.#clock = clock;
    this.#onLeft = onLeft;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** `tryGo` is called whenever it may have become possible; it goes, with a value, or says that it cannot yet. */
  join<T>(waiting: Waiting, tryGo: (go: (value: T) => void) => boolean): Promise<T> {
    if (!waiting.first && this.#waiting.length >= MAX_WAITING) {
      const message = `${this.#waiting.length} calls wait already for their turn to be asked; try again later`;
      return Promise.reject(new IsthmusError('BUSY', message, { sent: 'no' }));
    }
    const { what, timeoutMs, signal } = waiting;
    return new Promise<T>((resolve, reject) => {
      const callOff = Number.isFinite(timeoutMs)
        ? this.#clock.after(timeoutMs, () => {
            const message = `${what} waited ${timeoutMs} ms for calls that may ask questions, of other conversations`;
            leave(new IsthmusError('TIMED_OUT', message, { sent: 'no' }));
          })
        : () => {};
      const onAbort = () =>
        leave(new IsthmusError('CANCELLED', `${what} was called off`, { cause: signal?.reason, sent: 'no' }));
      const settle = () => {
        callOff();
        signal?.removeEventListener('abort', onAbort);
        const at = this.#waiting.indexOf(place);
        if (at >= 0) this.#waiting.splice(at, 1);
      };
      const place: Place = {
        waiting,
        tryGo: () =>
          this.#waiting.includes(place) &&
          tryGo((value) => {
            settle();
            resolve(value);
          }),
        end: (error) => {
          settle();
          reject(error);
        },
      };
      const leave = (error: IsthmusError) => {
        place.end(error);
        this.#onLeft();
      };
      const others = waiting.first ? this.#waiting.findIndex((each) => !each.waiting.first) : -1;
      this.#waiting.splice(others >= 0 ? others : this.#waiting.length, 0, place);
      if (signal?.aborted) onAbort();
      else signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Lets go who can go: all who `goFirst`, and the others in order, when none of those has to stay. */
  admit(goFirst: (waiting: Waiting) => boolean): void {
    const isFirst = ({ waiting }: Place) => goFirst(waiting);
    for (const place of this.#waiting.filter(isFirst)) place.tryGo();
    while (!this.#waiting.some(isFirst)) if (!this.#waiting[0]?.tryGo()) return;
  }

  refuse(error: IsthmusError, speaker: object | undefined): void {
    // First all of them: what waits behind another of the same speaker must not have its turn in between.
    for (const place of [...this.#waiting]) {
      if (speaker === undefined || place.waiting.speaker === speaker) place.end(error);
    }
    this.#onLeft();
  }
}

interface Place {
  readonly waiting: Waiting;
  tryGo(): boolean;
  end(error: IsthmusError): void;
}

const MAX_WAITING = 1024;
