import type { Clock } from '@isthmus/sdk/internal/async/clock.js';

export interface SilenceOptions {
  readonly clock: Clock;
  /** A request is without its answer. */
  isWaiting(): boolean;
  /** When there was a sign of life last. */
  heardAt(): number;
  isAlive(): Promise<boolean>;
  onDead(): void;
  readonly over: Promise<unknown>;
}

/**
 * A request may take long; but a daemon that was stopped, or hangs, must not keep its hosts waiting for ever. So when
 * nothing has come from it for a while, it is asked for a sign of life, and given up when there is none.
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
