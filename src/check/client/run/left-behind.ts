import { systemClock } from '../../../async/clock.js';
import { within } from '../../../async/within.js';
import { isStillRunning, startTimeOf } from '../../../process/process-facts.js';
import type { Entry } from '../model.js';

/** How many of the recorded processes are still there, when they had a moment to follow their client. */
export async function countLeft(read: () => readonly Entry[]): Promise<number> {
  for (let waited = 0; ; waited += STEP_MS) {
    const left = livesIn(read()).filter(isThere).length;
    if (left === 0 || waited >= GRACE_MS) return left;
    await within(systemClock, STEP_MS, new Promise(() => {}));
  }
}

const GRACE_MS = 1000;
const STEP_MS = 50;

/** Of those that did not say goodbye. */
function livesIn(entries: readonly Entry[]): number[] {
  const gone = new Set(entries.filter(({ kind }) => kind === 'exit').map(({ life }) => life));
  return entries.flatMap(({ kind, life }) => (kind === 'started' && !gone.has(life) ? [life] : []));
}

function isThere(pid: number): boolean {
  const since = startTimeOf(pid);
  return since !== undefined && isStillRunning(pid, since);
}
