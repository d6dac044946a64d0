import { systemClock } from '../../async/clock.js';
import { within } from '../../async/within.js';
import { DEFAULT_RESTART, decideRestart } from '../../host/restart-policy.js';
import { inSeconds } from './describe-serving.js';
import { hasEnded, isHopeless } from './describe-start-failure.js';

export interface FirstStart {
  /** Settles when the server behind has answered; rejects with why it could not be spoken to. */
  start(): Promise<void>;
  /** A command that ended at once is started again: `then` says when. Not set: with the next request. */
  readonly onRestart: ((error: unknown, then: string) => void) | undefined;
  /** Nobody waits for it any more. */
  readonly over: AbortSignal;
}

/**
 * Speaks to the server behind for the first time. Settles when it has answered or nobody waits any more; with the
 * failure when it may answer later. Rejects when it never will.
 */
export async function startFarSide({ start, onRestart, over }: FirstStart): Promise<unknown> {
  const stopped = new Promise<void>((resolve) => over.addEventListener('abort', () => resolve()));
  for (let failures = 1; ; failures += 1) {
    try {
      return await start();
    } catch (error) {
      if (over.aborted) return undefined;
      if (isHopeless(error)) throw error;
      if (!onRestart || !hasEnded(error)) return error;
      const next = decideRestart(DEFAULT_RESTART, failures, Math.random());
      if (next.kind === 'give-up') throw error;
      const count = `${next.attempt} of ${DEFAULT_RESTART.attempts}`;
      onRestart(error, `it is started again in ${inSeconds(next.delayMs)} (${count})`);
      await within(systemClock, next.delayMs, stopped);
      if (over.aborted) return undefined;
    }
  }
}
