import { systemClock } from '../async/clock.js';
import type { ChildWatcher } from './child-watcher.js';
import { createDeathWatch, type DeathWatch } from './death-watch.js';

/**
 * Watches the children that no host keeps: those of `connect(stdio(…))` and of commands such as `isthmus call`. One
 * watch for all of them, started with the first and sent home a little after the last, since programs that start one
 * child often start the next.
 */
export const ownDeathWatch: ChildWatcher = {
  started(pid) {
    callOff();
    living.add(pid);
    watch ??= createDeathWatch();
    watch.started(pid);
  },
  ended(pid) {
    watch?.ended(pid);
    if (!living.delete(pid) || living.size > 0) return;
    callOff = systemClock.after(LINGER_MS, sendHome, { background: true });
  },
};

const living = new Set<number>();
let watch: DeathWatch | undefined;
let callOff: () => void = () => {};

function sendHome(): void {
  if (living.size > 0) return;
  void watch?.close();
  watch = undefined;
}

const LINGER_MS = 2000;
