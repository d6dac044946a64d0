/** All waiting goes through a clock, so that tests can control time. */
export interface Clock {
  now(): number;
  /**
   * Runs `action` after `ms`; the returned function cancels it. A `background` timer does not keep the process alive:
   * use it for clean-up that does not matter once everything else has ended.
   */
  after(ms: number, action: () => void, options?: { background?: boolean }): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, action, options) {
    let timer: NodeJS.Timeout;
    const wait = (left: number) => {
      // Node's timers hold 31 bits; a longer wait takes several of them.
      const step = Math.min(left, MAX_TIMER_MS);
      timer = setTimeout(() => (left > step ? wait(left - step) : action()), step);
      if (options?.background) timer.unref();
    };
    wait(ms);
    return () => clearTimeout(timer);
  },
};

/** Waits for `work`, but at most `ms`. True when the work ended in time; a rejection counts as an end. */
export async function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  let cancelTimer: () => void = () => {};
  const late = new Promise<false>((resolve) => {
    cancelTimer = clock.after(ms, () => resolve(false));
  });
  const done = work.then(
    () => true as const,
    () => true as const,
  );
  try {
    return await Promise.race([done, late]);
  } finally {
    cancelTimer();
  }
}

const MAX_TIMER_MS = 2 ** 31 - 1;
