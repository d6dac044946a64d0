import { readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import type { Clock } from '@isthmus/sdk/internal/async/clock.js';

interface FairClock extends Clock {
  /** Stops measuring the load. The clock continues at full speed. */
  stop(): void;
}

/**
 * A clock that runs more slowly while the machine is overloaded. A server that gets a tenth of a processor takes ten times
 * as long, which is not its fault. All time limits of a run use this clock, so that a busy machine does not fail a check.
 * On an idle machine it is the same as `base`.
 */
export function createFairClock(base: Clock, readLoad: () => number = tasksPerProcessor): FairClock {
  let lost = 0;
  let looked = base.now();
  let isStopped = false;
  const look = () => {
    const now = base.now();
    const slowness = Math.min(MOST, Math.max(1, readLoad() / ROOM));
    lost += (now - looked) * (1 - 1 / slowness);
    looked = now;
  };
  let cancelNext = () => {};
  const scheduleNext = () => {
    cancelNext = base.after(
      LOOK_MS,
      () => {
        look();
        if (!isStopped) scheduleNext();
      },
      { background: true },
    );
  };
  scheduleNext();
  let last = Number.NEGATIVE_INFINITY;
  // Lost time is subtracted afterwards. The clock never runs backwards; it stands still instead.
  const now = () => {
    last = Math.max(last, base.now() - lost);
    return last;
  };
  return {
    now,
    after(ms, action, options) {
      const until = now() + ms;
      let cancelThis = () => {};
      const wait = (left: number) => {
        cancelThis = base.after(
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
      return () => cancelThis();
    },
    stop() {
      isStopped = true;
      cancelNext();
    },
  };
}

const LOOK_MS = 200;
/** How many tasks for each processor do not slow the clock yet. The limits allow for that many. */
const ROOM = 2;
const MOST = 20;

/** The number of tasks for each processor that run or are ready to run now. */
function tasksPerProcessor(): number {
  return (runnable() ?? loadavg()[0] ?? 0) / availableParallelism();
}

/** Linux only: the fourth field of /proc/loadavg has the number of runnable tasks, including the one that reads it. */
function runnable(): number | undefined {
  try {
    const [, count] = /^\S+ \S+ \S+ (\d+)\//.exec(readFileSync('/proc/loadavg', 'latin1')) ?? [];
    return count === undefined ? undefined : Number(count) - 1;
  } catch {
    return undefined;
  }
}
