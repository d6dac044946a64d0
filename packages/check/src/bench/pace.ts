import { systemClock } from '@isthmus/sdk/internal/async/clock.js';

/** Time in fractions of a millisecond, and ways to be called at one. */
export interface Pace {
  now(): number;
  /** Calls `action` at that time, never within this call; the returned function calls it off. */
  at(time: number, action: () => void): () => void;
  /** After whatever else waits for its turn. */
  soon(action: () => void): void;
}

/**
 * A timer is late by up to a millisecond or two, which is more than many servers take to answer. So the last of it is
 * waited for by looking at the clock again and again, between looks at the sockets: the price is a busy processor.
 */
export const systemPace: Pace = {
  now: () => performance.now(),
  at(time, action) {
    let isOff = false;
    let callOff = () => {};
    const look = () => {
      if (isOff) return;
      const left = time - performance.now();
      if (left <= 0) action();
      else wait(left);
    };
    const wait = (left: number) => {
      if (left <= TIMER_IS_LATE_MS) setImmediate(look);
      else callOff = systemClock.after(Math.floor(left - TIMER_IS_LATE_MS) || 1, look);
    };
    wait(time - performance.now());
    return () => {
      isOff = true;
      callOff();
    };
  },
  soon: (action) => void setImmediate(action),
};

const TIMER_IS_LATE_MS = 2;
