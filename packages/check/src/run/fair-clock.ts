import { readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import type { Clock } from '@isthmus/sdk/internal/async/clock.js';

interface FairClock extends Clock {
  /** Stops looking at the machine. The clock goes on at full speed. */
  stop(): void;
}

/**
 * A clock that goes more slowly while more work waits for the processors than they can do. A server that gets a tenth
 * of a processor needs ten times as long, and that is not its fault: all limits of a run are measured with this clock,
 * so that a busy machine does not fail a check. On a machine with room it is the clock that it was made from.
 */
export function createFairClock(base: Clock, readCrowd: () => number = crowd): FairClock {
  let lost = 0;
  let looked = base.now();
  let isStopped = false;
  const look = () => {
    const now = base.now();
    const slowness = Math.min(MOST, Math.max(1, readCrowd() / ROOM));
    lost += (now - looked) * (1 - 1 / slowness);
    looked = now;
  };
  let callOff = () => {};
  const goOn = () => {
    callOff = base.after(
      LOOK_MS,
      () => {
        look();
        if (!isStopped) goOn();
      },
      { background: true },
    );
  };
  goOn();
  let last = Number.NEGATIVE_INFINITY;
  // Time is taken away afterwards; until that is made up for, it stands still.
  const now = () => {
    last = Math.max(last, base.now() - lost);
    return last;
  };
  return {
    now,
    after(ms, action, options) {
      const until = now() + ms;
      let callOffThis = () => {};
      const wait = (left: number) => {
        callOffThis = base.after(
          left,
          () => {
            const rest = Math.ceil(until - now());
            if (rest > 0) wait(rest);
            else action();
          },
          options,
        );
      };
      wait(ms);
      return () => callOffThis();
    },
    stop() {
      isStopped = true;
      callOff();
    },
  };
}

const LOOK_MS = 200;
/** How many tasks a processor may have before time is stretched: limits are generous for less. */
const ROOM = 2;
const MOST = 20;

/** How many tasks there are for each processor: those that run or want to, this moment. */
function crowd(): number {
  return (runnable() ?? loadavg()[0] ?? 0) / availableParallelism();
}

/** Linux only: the fourth number of /proc/loadavg is that of the tasks that can run now, with the one that reads it. */
function runnable(): number | undefined {
  try {
    const [, count] = /^\S+ \S+ \S+ (\d+)\//.exec(readFileSync('/proc/loadavg', 'latin1')) ?? [];
    return count === undefined ? undefined : Number(count) - 1;
  } catch {
    return undefined;
  }
}
