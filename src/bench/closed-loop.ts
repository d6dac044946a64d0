import type { Load } from './model.js';
import type { Lane, Loop } from './turn.js';

/** So many at a time; each begins when another has ended. */
export function closedLoop({ concurrency }: Load & { kind: 'closed' }, lane: Lane): Loop {
  const { pace, began, ends } = lane;
  let lastPause = began;
  const next = () => {
    const now = pace.now();
    if (now < ends) lane.send(now, 0);
    else lane.close();
  };
  const pause = () => {
    pace.soon(() => {
      lastPause = pace.now();
      next();
    });
  };
  return {
    start() {
      for (let count = 0; count < concurrency; count += 1) next();
    },
    settled(at, worked) {
      if (at >= ends) lane.close();
      // What fails at once would otherwise be tried again before anything else can happen, Ctrl-C included; and so would
      // what a server within this process answers.
      else if (!worked || at - lastPause > LONGEST_RUN_MS) pause();
      else next();
    },
    backlog: () => 0,
    stop() {},
  };
}

const LONGEST_RUN_MS = 20;
