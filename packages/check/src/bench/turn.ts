import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import type { BenchLoad } from './model.js';
import type { BenchFailure, DirectAsk } from './request.js';
import type { Tally } from './tally.js';

/** Makes one request; never rejects. */
export type Ask = () => Promise<BenchFailure | undefined>;

interface TurnParts {
  readonly ask: Ask;
  /** The same without promises, where that is possible. */
  readonly direct?: DirectAsk | undefined;
  readonly load: BenchLoad;
  readonly durationMs: number;
  readonly tally: Tally;
  readonly pace: Pace;
  /** The user stopped the run: nothing is awaited. */
  readonly interrupted: AbortSignal;
  /** The server is gone: requests in flight fail by themselves, and nothing new is sent. */
  readonly gone: AbortSignal;
}

/** Decides when requests are sent. */
interface Loop {
  start(): void;
  /** A request has settled. */
  settled(at: number, worked: boolean): void;
  /** How many requests are due but not sent. */
  backlog(at: number): number;
  /** Stops sending, and counts the requests that were due but not sent. */
  stop(at: number): void;
}

/** What a loop works with. */
export interface Lane {
  readonly pace: Pace;
  readonly began: number;
  readonly ends: number;
  /** Answers come from outside this process, so the event loop runs between them. */
  readonly isOutside: boolean;
  inFlight(): number;
  /** Sends a request that was due at `due` and could have been sent `lateMs` ago; without `lateMs`, one that is due now. */
  send(due: number, lateMs?: number): void;
  /** The time is over. The turn ends with the last answer. */
  close(): void;
  neverSent(due: number, at: number): void;
}

/** Puts load on a server for a while, and settles after the last answer. */
export function runTurn(parts: TurnParts): Promise<void> {
  const { ask, direct, load, durationMs, tally, pace, interrupted, gone } = parts;
  if (interrupted.aborted || gone.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const began = pace.now();
    let inFlight = 0;
    let isClosing = false;
    let isOver = false;
    const lane: Lane = {
      pace,
      began,
      ends: began + durationMs,
      isOutside: direct !== undefined,
      inFlight: () => inFlight,
      neverSent: (due, at) => tally.neverSent(due, at),
      send(due, lateMs) {
        if (isClosing) return;
        inFlight += 1;
        const sent = lateMs === undefined ? due : pace.now();
        tally.asked(due, lateMs);
        if (direct) direct((failure) => settle(due, sent, failure));
        else void ask().then((failure) => settle(due, sent, failure));
      },
      close() {
        if (isClosing) return;
        isClosing = true;
        loop.stop(pace.now());
        if (inFlight === 0) finish(pace.now());
      },
    };
    const loop: Loop = load.kind === 'open' ? openLoop(load, lane) : closedLoop(load, lane);
    const settle = (due: number, sent: number, failure: BenchFailure | undefined) => {
      if (isOver) return;
      const over = pace.now();
      inFlight -= 1;
      tally.settled({ due, sent, over }, failure, loop.backlog(over));
      if (!isClosing) loop.settled(over, failure === undefined);
      else if (inFlight === 0) finish(over);
    };
    const finish = (at: number) => {
      if (isOver) return;
      isOver = true;
      interrupted.removeEventListener('abort', interrupt);
      gone.removeEventListener('abort', lane.close);
      tally.endTurn(at, inFlight, loop.backlog(at));
      resolve();
    };
    const interrupt = () => {
      lane.close();
      finish(pace.now());
    };
    interrupted.addEventListener('abort', interrupt, { once: true });
    gone.addEventListener('abort', lane.close, { once: true });
    tally.beginTurn(began);
    loop.start();
  });
}

/** Keeps `concurrency` requests in flight. Each starts when another has ended. */
export function closedLoop({ concurrency }: BenchLoad & { kind: 'closed' }, lane: Lane): Loop {
  const { pace, began, ends } = lane;
  let lastPause = began;
  const next = (now: number) => {
    if (now < ends) lane.send(now);
    else lane.close();
  };
  const pause = () => {
    pace.soon(() => {
      lastPause = pace.now();
      next(lastPause);
    });
  };
  return {
    start() {
      for (let count = 0; count < concurrency; count += 1) next(pace.now());
    },
    settled(at, worked) {
      if (at >= ends) lane.close();
      // A request that fails at once would otherwise be sent again before anything else can happen, Ctrl-C included. So
      // would one that a server in this process answers. Answers that are read from a stream need no pause: one request
      // that leaves later than the others of its write would travel apart from them until the end of the run.
      else if (!worked || (!lane.isOutside && at - lastPause > LONGEST_RUN_MS)) pause();
      else next(at);
    },
    backlog: () => 0,
    stop() {},
  };
}

const LONGEST_RUN_MS = 20;

/**
 * Sends requests at fixed times. When too many are in flight, the next one is sent late, but its latency counts from the time
 * at which it was due. This avoids "coordinated omission": the time that users would have waited is measured.
 */
function openLoop({ perSecond, concurrency }: BenchLoad & { kind: 'open' }, lane: Lane): Loop {
  const { pace, began, ends } = lane;
  const gapMs = 1000 / perSecond;
  /** Multiplied, not added up, so that rounding errors do not accumulate. */
  const dueTime = (index: number) => began + index * gapMs;
  const total = Math.max(1, Math.ceil((ends - began) / gapMs - 1e-6));
  let next = 0;
  let freeSince = began;
  let isStopped = false;
  let unsent = 0;
  let cancel = () => {};
  let cancelEnd = () => {};

  const dueBy = (at: number) => Math.min(total, Math.floor((at - began) / gapMs + 1e-6) + 1);
  const pump = () => {
    cancel();
    if (isStopped) return;
    const now = pace.now();
    for (const due = dueBy(now); next < due && lane.inFlight() < concurrency; ) {
      const time = dueTime(next);
      next += 1;
      lane.send(time, Math.max(0, pace.now() - Math.max(time, freeSince)));
    }
    if (next < total && lane.inFlight() < concurrency) cancel = pace.at(dueTime(next), pump);
  };
  return {
    start() {
      cancelEnd = pace.at(ends, () => {
        // Requests that are late because of the load generator itself are still sent.
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
      cancel();
      cancelEnd();
      unsent = dueBy(at) - next;
      for (let index = next; index < next + unsent; index += 1) lane.neverSent(dueTime(index), at);
    },
  };
}

/** Time in fractions of a millisecond, and timers. */
export interface Pace {
  now(): number;
  /** Calls `action` at that time, never synchronously. The returned function cancels it. */
  at(time: number, action: () => void): () => void;
  /** Calls `action` after everything else that is waiting in the event loop. */
  soon(action: () => void): void;
}

/**
 * Timers are late by up to two milliseconds, which is longer than many servers take to answer. So the last part of a wait
 * polls the clock between reads of the sockets. This keeps a processor busy.
 */
export const systemPace: Pace = {
  now: () => performance.now(),
  at(time, action) {
    let isOff = false;
    let cancel = () => {};
    const look = () => {
      if (isOff) return;
      const left = time - performance.now();
      if (left <= 0) action();
      else wait(left);
    };
    const wait = (left: number) => {
      if (left <= TIMER_IS_LATE_MS) setImmediate(look);
      else cancel = systemClock.after(Math.floor(left - TIMER_IS_LATE_MS) || 1, look);
    };
    wait(time - performance.now());
    return () => {
      isOff = true;
      cancel();
    };
  },
  soon: (action) => void setImmediate(action),
};

const TIMER_IS_LATE_MS = 2;
