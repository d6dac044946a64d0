import type { Clock } from '@isthmus/sdk/internal/async/clock.js';

/** Attaches again after a pause, for a host that has subscriptions and sends nothing. */
export interface Reattachment {
  /** The pause grows while daemons end soon after they were attached. */
  schedule(): void;
  callOff(): void;
  attached(): void;
}

export function createReattachment(clock: Clock, action: () => void): Reattachment {
  let attempts = 0;
  let attachedAt = Number.POSITIVE_INFINITY;
  let callOff = () => {};
  return {
    schedule() {
      if (clock.now() - attachedAt > STABLE_MS) attempts = 0;
      const delay = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempts);
      attempts += 1;
      callOff = clock.after(delay, action);
    },
    callOff: () => callOff(),
    attached() {
      attachedAt = clock.now();
    },
  };
}

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 30_000;
const STABLE_MS = 60_000;

export interface SilenceOptions {
  readonly clock: Clock;
  /** Whether a request has no answer yet. */
  isWaiting(): boolean;
  /** When the daemon sent something last. */
  heardAt(): number;
  isAlive(): Promise<boolean>;
  onDead(): void;
  readonly over: Promise<unknown>;
}

/**
 * Gives up a daemon that was stopped or hangs. A request may take long, so silence alone is not enough: a silent
 * daemon is asked for its status, and given up when it does not answer.
 */
export function watchSilence({ clock, isWaiting, heardAt, isAlive, onDead, over }: SilenceOptions): void {
  let callOff = () => {};
  let isOver = false;
  const look = async () => {
    const isSilent = () => isWaiting() && clock.now() - heardAt() >= SILENCE_MS;
    if (isSilent() && !(await isAlive().catch(() => false)) && isSilent()) onDead();
    if (!isOver) callOff = clock.after(EVERY_MS, () => void look(), { background: true });
  };
  callOff = clock.after(EVERY_MS, () => void look(), { background: true });
  void over.then(() => {
    isOver = true;
    callOff();
  });
}

const SILENCE_MS = 60_000;
const EVERY_MS = 15_000;
