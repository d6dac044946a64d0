import type { Load } from './model.js';
import type { Lane, Loop } from './turn.js';

/**
 * Requests that are due at fixed times. Where too many are in flight the next one leaves late, and is counted from the
 * time at which it was due: so it is seen that users would have waited, although the driver did not ask
 * ("coordinated omission").
 */
export function openLoop({ perSecond, concurrency }: Load & { kind: 'open' }, lane: Lane): Loop {
  const { pace, began, ends } = lane;
  const gapMs = 1000 / perSecond;
  /** Multiplied, not added up: a million small errors are a large one. */
  const dueTime = (index: number) => began + index * gapMs;
  const total = Math.max(1, Math.ceil((ends - began) / gapMs - 1e-6));
  let next = 0;
  let freeSince = began;
  let isStopped = false;
  let unsent = 0;
  let callOff = () => {};
  let callOffEnd = () => {};

  const dueBy = (at: number) => Math.min(total, Math.floor((at - began) / gapMs + 1e-6) + 1);
  const pump = () => {
    callOff();
    if (isStopped) return;
    const now = pace.now();
    for (const due = dueBy(now); next < due && lane.inFlight() < concurrency; ) {
      const time = dueTime(next);
      next += 1;
      lane.send(time, Math.max(0, pace.now() - Math.max(time, freeSince)));
    }
    if (next < total && lane.inFlight() < concurrency) callOff = pace.at(dueTime(next), pump);
  };
  return {
    start() {
      callOffEnd = pace.at(ends, () => {
        // What the driver itself is late with is still sent.
        pump();
        lane.close();
      });
      pump();
    },
    settled(at) {
      if (lane.inFlight() !== concurrency - 1) return;
      freeSince = at;
      pump();
    },
    backlog: (at) => (isStopped ? unsent : dueBy(at) - next),
    stop(at) {
      isStopped = true;
      callOff();
      callOffEnd();
      unsent = dueBy(at) - next;
      for (let index = next; index < next + unsent; index += 1) lane.neverSent(dueTime(index), at);
    },
  };
}
