import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';

/** The system's, which knows what was set and neither came nor was called off: how long, and by whom. */
export function countingClock(): Clock & { pending(): string[] } {
  const set = new Set<{ readonly by: Error }>();
  return {
    now: systemClock.now,
    after(ms, action, options) {
      const timer = { by: new Error(`${ms} ms`) };
      set.add(timer);
      const run = () => {
        set.delete(timer);
        action();
      };
      const callOff = systemClock.after(ms, run, options);
      return () => {
        set.delete(timer);
        callOff();
      };
    },
    pending: () => [...set].map(({ by }) => String(by.stack)),
  };
}
