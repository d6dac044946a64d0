import { type Clock, systemClock } from '../../../src/async/clock.js';

/** The system's, with a count of what was set and neither came nor was called off. */
export function countingClock(): Clock & { pending(): number } {
  const set = new Set<object>();
  return {
    now: systemClock.now,
    after(ms, action, options) {
      const timer = {};
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
    pending: () => set.size,
  };
}
