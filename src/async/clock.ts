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
    const timer = setTimeout(action, ms);
    if (options?.background) timer.unref();
    return () => clearTimeout(timer);
  },
};
