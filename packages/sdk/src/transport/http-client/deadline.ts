import type { Clock } from '../../async/clock.js';

/** A signal that ends with time or with another signal; whoever is done calls it off. */
export interface RequestDeadline {
  readonly signal: AbortSignal;
  /** Time no longer matters; the other signal still does. */
  stopClock(): void;
  callOff(): void;
}

export function createDeadline(
  clock: Clock,
  ms: number,
  reason: () => Error,
  parent?: AbortSignal,
): RequestDeadline {
  const controller = new AbortController();
  const stopClock = clock.after(ms, () => controller.abort(reason()), { background: true });
  const onParent = () => controller.abort(parent?.reason);
  if (parent?.aborted) onParent();
  parent?.addEventListener('abort', onParent, { once: true });
  return {
    signal: controller.signal,
    stopClock,
    callOff() {
      stopClock();
      parent?.removeEventListener('abort', onParent);
    },
  };
}

/** Waits; rejects with the signal's reason when it is called off. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const onAbort = () => {
      callOff();
      reject(signal.reason);
    };
    const callOff = clock.after(ms, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
