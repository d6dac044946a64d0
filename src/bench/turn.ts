import { closedLoop } from './closed-loop.js';
import type { Load } from './model.js';
import { openLoop } from './open-loop.js';
import type { Failure } from './outcome.js';
import type { Pace } from './pace.js';
import type { Tally } from './tally.js';

/** Makes one request; never rejects. */
export type Ask = () => Promise<Failure | undefined>;

export interface TurnParts {
  readonly ask: Ask;
  readonly load: Load;
  readonly durationMs: number;
  readonly tally: Tally;
  readonly pace: Pace;
  /** The user has seen enough: nothing is waited for. */
  readonly interrupted: AbortSignal;
  /** The server is not there any more: what is in flight fails by itself, and nothing new is sent. */
  readonly gone: AbortSignal;
}

/** What decides when requests leave. */
export interface Loop {
  start(): void;
  /** One has settled. */
  settled(at: number, worked: boolean): void;
  /** How many are due and were not sent. */
  backlog(at: number): number;
  /** Sends nothing any more, and accounts for what it did not send. */
  stop(at: number): void;
}

/** What a loop works with. */
export interface Lane {
  readonly pace: Pace;
  readonly began: number;
  readonly ends: number;
  inFlight(): number;
  /** Sends one that was due then, and `lateMs` ago could have been sent. */
  send(due: number, lateMs: number): void;
  /** The time is over: the turn ends with the last answer. */
  close(): void;
  neverSent(due: number, at: number): void;
}

/** Puts load on a server for a while, and settles when the last answer is in. */
export function runTurn(parts: TurnParts): Promise<void> {
  const { ask, load, durationMs, tally, pace, interrupted, gone } = parts;
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
      inFlight: () => inFlight,
      neverSent: (due, at) => tally.neverSent(due, at),
      send(due, lateMs) {
        if (isClosing) return;
        inFlight += 1;
        const sent = pace.now();
        tally.asked(due, lateMs);
        void ask().then((failure) => settle(due, sent, failure));
      },
      close() {
        if (isClosing) return;
        isClosing = true;
        loop.stop(pace.now());
        if (inFlight === 0) finish(pace.now());
      },
    };
    const loop: Loop = load.kind === 'open' ? openLoop(load, lane) : closedLoop(load, lane);
    const settle = (due: number, sent: number, failure: Failure | undefined) => {
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
