import type { Cancellation } from '../../async/abort.js';
import type { Clock } from '../../async/clock.js';
import { IsthmusError } from '../../errors.js';

/** Somebody who waits for others to be out of the way. */
export interface WaitingCall {
  readonly owner: object;
  readonly speaker: object;
  /** Clients take turns: one that has many calls in the line does not keep the others waiting. */
  readonly client?: object | string;
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
  /** Whose turn it was last. */
  #served: object | string | undefined;

  constructor(clock: Clock, onLeft: () => void) {
    this.#clock = clock;
    this.#onLeft = onLeft;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  get isFull(): boolean {
    return this.#waiting.length >= MAX_WAITING;
  }

  /**
   * `tryGo` is called whenever it may have become possible; it goes, with a value, or says that it cannot yet. Each
   * `overdueMs` it is told that it has waited for long enough.
   */
  join<T>(
    waiting: WaitingCall,
    tryGo: (go: (value: T) => void, isOverdue: boolean) => boolean,
    overdueMs?: number,
  ): Promise<T> {
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
      let callOffOverdue = () => {};
      const arm = (ms: number) => {
        const look = () => place.tryGo(true) || arm(ms);
        callOffOverdue = this.#clock.after(ms, look, { background: true });
      };
      if (overdueMs !== undefined) arm(overdueMs);
      const onAbort = () =>
        leave(new IsthmusError('CANCELLED', `${what} was cancelled`, { cause: signal?.reason, sent: 'no' }));
      const settle = () => {
        callOff();
        callOffOverdue();
        signal?.removeEventListener('abort', onAbort);
        const at = this.#waiting.indexOf(place);
        if (at >= 0) this.#waiting.splice(at, 1);
      };
      const place: Place = {
        waiting,
        tryGo: (isOverdue = false) =>
          this.#waiting.includes(place) &&
          tryGo((value) => {
            settle();
            resolve(value);
          }, isOverdue),
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

  /** Lets go who can go: all who `goFirst`, and then the clients in turn, when none of those has to stay. */
  admit(goFirst: (waiting: WaitingCall) => boolean): void {
    const isFirst = ({ waiting }: Place) => goFirst(waiting);
    for (const place of this.#waiting.filter(isFirst)) place.tryGo();
    while (!this.#waiting.some(isFirst)) {
      const next = this.#next();
      if (!next?.tryGo()) return;
      this.#served = clientOf(next);
    }
  }

  /** Answers in their order; then the first who is not of the client that was last, or the first of all. */
  #next(): Place | undefined {
    const [head] = this.#waiting;
    if (!head || head.waiting.first) return head;
    return this.#waiting.find((place) => clientOf(place) !== this.#served) ?? head;
  }

  refuse(error: IsthmusError, speaker: object | undefined): void {
    // First all of them: what waits behind another of the same speaker must not have its turn in between.
    for (const place of [...this.#waiting]) {
      if (speaker === undefined || place.waiting.speaker === speaker) place.end(error);
    }
    this.#onLeft();
  }
}

function clientOf({ waiting: { client, speaker } }: Place): object | string {
  return client ?? speaker;
}

interface Place {
  readonly waiting: WaitingCall;
  tryGo(isOverdue?: boolean): boolean;
  end(error: IsthmusError): void;
}

const MAX_WAITING = 1024;
