import { systemClock, within } from '@isthmus/sdk/internal/async/clock.js';
import { isStillRunning, startTimeOf } from '@isthmus/sdk/internal/process/process-facts.js';
import type { Entry } from '../model.js';
import { openLives } from '../scripted/record-file.js';

/** How many of the recorded processes are still there, when they had a moment to follow their client. */
export async function countLeft(read: () => readonly Entry[]): Promise<number> {
  for (let waited = 0; ; waited += STEP_MS) {
    const left = openLives(read()).filter(isThere).length;
    if (left === 0 || waited >= GRACE_MS) return left;
    await within(systemClock, STEP_MS, new Promise(() => {}));
  }
}

const GRACE_MS = 1000;
const STEP_MS = 50;

function isThere(pid: number): boolean {
  const since = startTimeOf(pid);
  return since !== undefined && isStillRunning(pid, since);
}
