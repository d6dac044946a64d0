import { setMaxListeners } from 'node:events';
/** As much of an `AbortSignal` as calls need; see `LazyAbort`. */
export type Cancellation = Pick<AbortSignal, 'aborted' | 'reason'> & {
  addEventListener(type: 'abort', listener: AbortListener, options?: { readonly once: true }): void;
  removeEventListener(type: 'abort', listener: AbortListener): void;
};

export type AbortListener = (() => void) | { handleEvent(): void };

/**
 * An abort signal that costs nothing until somebody reads it: most handlers never do, and an
 * `AbortController` per request is a large part of the price of a small call. It can be listened to as it is, too.
 */
export class LazyAbort implements Cancellation {
  #controller: AbortController | undefined;
  #listeners: AbortListener | AbortListener[] | undefined;
  aborted = false;
  reason: unknown;

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.aborted) this.#controller.abort(this.reason);
    }
    return this.#controller.signal;
  }

  addEventListener(_type: 'abort', listener: AbortListener): void {
    const known = this.#listeners;
    if (known === undefined) this.#listeners = listener;
    else this.#listeners = Array.isArray(known) ? [...known, listener] : [known, listener];
  }

  removeEventListener(_type: 'abort', listener: AbortListener): void {
    const known = this.#listeners;
    if (known === listener) this.#listeners = undefined;
    else if (Array.isArray(known)) this.#listeners = known.filter((each) => each !== listener);
  }

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const listeners = this.#listeners;
    this.#listeners = undefined;
    for (const listener of Array.isArray(listeners) ? listeners : listeners ? [listeners] : []) {
      if (typeof listener === 'function') listener();
      else listener.handleEvent();
    }
    this.#controller?.abort(reason);
  }
}

/** Waits for `work`, or for the signal; what comes too late is handed to `tooLate`. Rejects with the signal's reason. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal, tooLate: (value: T) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    work.then(
      (value) => {
        signal.removeEventListener('abort', onAbort);
        if (signal.aborted) tooLate(value);
        else resolve(value);
      },
      (error) => {
        signal.removeEventListener('abort', onAbort);
        reject(error);
      },
    );
  });
}

/** A controller whose signal many listen to at once: that is what it is for, and no leak to warn of. */
export function sharedAbort(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
