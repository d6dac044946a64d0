import type { Clock } from '../../async/clock.js';

/** A signal that aborts after a time or with a parent signal, until it is cancelled. */
export interface RequestDeadline {
  readonly signal: AbortSignal;
  /** Removes the time limit. The parent signal still aborts it. */
  stopClock(): void;
  cancel(): void;
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
    cancel() {
      stopClock();
      parent?.removeEventListener('abort', onParent);
    },
  };
}

/** Runs work with the signal of a deadline, which is cancelled afterwards. */
export async function bounded(
  deadline: RequestDeadline,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  try {
    await work(deadline.signal);
  } finally {
    deadline.cancel();
  }
}

/** Waits. Rejects with the signal's reason when that aborts first. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const onAbort = () => {
      stopClock();
      reject(signal.reason);
    };
    const stopClock = clock.after(ms, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
