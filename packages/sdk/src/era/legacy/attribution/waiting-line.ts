import type { Cancellation } from '../../../async/abort.js';
import type { Clock } from '../../../async/clock.js';
import { IsthmusError } from '../../../errors.js';

/** A call that waits for others. */
export interface WaitingCall {
  readonly owner: object;
  readonly caller: object;
  /** Clients take turns, so that one with many calls in the line does not keep the others waiting. */
  readonly client?: object | string;
  /** Named in errors. */
  readonly what: string;
  readonly timeoutMs: number;
  readonly signal?: Cancellation | undefined;
  /** Goes before all calls that have not begun yet. */
  readonly first?: boolean;
}

/** Calls that wait for their turn, each with its own timeout. */
export class WaitingLine {
  readonly #clock: Clock;
  /** Called when a call has left the line: others may be next. */
  readonly #onLeft: () => void;
  readonly #waiting: Place[] = [];
  /** The client whose turn it was last. */
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
   * `tryGo` is called whenever the call may be able to begin. It calls `go` with a value, or returns false. Every
   * `overdueMs` it is called with `isOverdue`.
   */
  join<T>(
    waiting: WaitingCall,
    tryGo: (go: (value: T) => void, isOverdue: boolean) => boolean,
    overdueMs?: number,
  ): Promise<T> {
    if (!waiting.first && this.#waiting.length >= MAX_WAITING) {
      const message = `${this.#waiting.length} calls that may ask questions are waiting already; try again later`;
      return Promise.reject(new IsthmusError('BUSY', message, { sent: 'no' }));
    }
    const { what, timeoutMs, signal } = waiting;
    return new Promise<T>((resolve, reject) => {
      const callOff = Number.isFinite(timeoutMs)
        ? this.#clock.after(timeoutMs, () => {
            const message = `${what} waited ${timeoutMs} ms for calls of other conversations that may ask questions`;
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

  /** Lets calls begin: first those that `goFirst`; if none of these still waits, the others, one client after another. */
  admit(goFirst: (waiting: WaitingCall) => boolean): void {
    const isFirst = ({ waiting }: Place) => goFirst(waiting);
    for (const place of this.#waiting.filter(isFirst)) place.tryGo();
    while (!this.#waiting.some(isFirst)) {
      const next = this.#next();
      if (!next?.tryGo()) return;
      this.#served = clientOf(next);
    }
  }

  /** A call with `first`; otherwise the first call of another client than the last one; otherwise the first call. */
  #next(): Place | undefined {
    const [head] = this.#waiting;
    if (!head || head.waiting.first) return head;
    return this.#waiting.find((place) => clientOf(place) !== this.#served) ?? head;
  }

  refuse(error: IsthmusError, caller: object | undefined): void {
    // All of them before `#onLeft`: a call behind another of the same caller must not begin in between.
    for (const place of [...this.#waiting]) {
      if (caller === undefined || place.waiting.caller === caller) place.end(error);
    }
    this.#onLeft();
  }
}

function clientOf({ waiting: { client, caller } }: Place): object | string {
  return client ?? caller;
}

interface Place {
  readonly waiting: WaitingCall;
  tryGo(isOverdue?: boolean): boolean;
  end(error: IsthmusError): void;
}

const MAX_WAITING = 1024;
