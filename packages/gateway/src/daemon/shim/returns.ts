import type { Clock } from '@isthmus/sdk/internal/async/clock.js';

/** When to attach again although nobody asks for anything: there are subscriptions. */
export interface Returns {
  /** After a pause, which grows as long as the daemons do not last. */
  soon(): void;
  callOff(): void;
  /** It is attached. */
  began(): void;
}

export function createReturns(clock: Clock, action: () => void): Returns {
  let attempts = 0;
  let beganAt = Number.POSITIVE_INFINITY;
  let callOff = () => {};
  return {
    soon() {
      if (clock.now() - beganAt > STABLE_MS) attempts = 0;
      const delay = Math.min(MAX_MS, FIRST_MS * 2 ** attempts);
      attempts += 1;
      callOff = clock.after(delay, action);
    },
    callOff: () => callOff(),
    began() {
      beganAt = clock.now();
    },
  };
}

const FIRST_MS = 250;
const MAX_MS = 30_000;
const STABLE_MS = 60_000;
