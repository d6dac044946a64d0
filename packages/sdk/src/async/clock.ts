/** All waiting goes through a clock, so that tests can own time. */
export interface Clock {
  now(): number;
  /**
   * Runs `action` after `ms`; the returned function calls it off. A `background` timer does not keep the
   * process alive: use it for clean-up that no longer matters once everything else has ended.
   */
  after(ms: number, action: () => void, options?: { background?: boolean }): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, action, options) {
    let timer: NodeJS.Timeout;
    const wait = (left: number) => {
      // A timer holds 31 bits; a longer wait is several timers in a row.
      const step = Math.min(left, MAX_TIMER_MS);
      timer = setTimeout(() => (left > step ? wait(left - step) : action()), step);
      if (options?.background) timer.unref();
    };
    wait(ms);
    return () => clearTimeout(timer);
  },
};

const MAX_TIMER_MS = 2 ** 31 - 1;

/** Waits for `work`, but at most `ms`. Says whether the work was done in time; a rejection counts as done. */
export async function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  let callOff: () => void = () => {};
  const late = new Promise<false>((resolve) => {
    callOff = clock.after(ms, () => resolve(false));
  });
  const done = work.then(
    () => true as const,
    () => true as const,
  );
  try {
    return await Promise.race([done, late]);
  } finally {
    callOff();
  }
}
