import { setMaxListeners } from 'node:events';
/** The part of an `AbortSignal` that calls need; see `LazyAbort`. */
export type Cancellation = Pick<AbortSignal, 'aborted' | 'reason'> & {
  addEventListener(type: 'abort', listener: AbortListener, options?: { readonly once: true }): void;
  removeEventListener(type: 'abort', listener: AbortListener): void;
};

type AbortListener = (() => void) | { handleEvent(): void };

/**
 * An abort signal that costs nothing until `signal` is read. Most handlers never read it, and an `AbortController` per
 * request is a large part of the price of a small call. Listeners can be added without creating the real signal.
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

/** Waits for `work` or for the signal, and rejects with the signal's reason. A value after that goes to `tooLate`. */
export function orAborted<T>(
  work: Promise<T>,
  signal: Cancellation,
  tooLate: (value: T) => void,
): Promise<T> {
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

/** A controller whose signal has many listeners at once. Node would warn of a leak after ten. */
export function sharedAbort(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
