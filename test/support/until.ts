import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { vi } from 'vitest';

/** A failure bound, never waited out by a passing test: a slow machine is not a failure. The long run does more in a test. */
export const PATIENCE_MS = process.env['ISTHMUS_LONG'] === '1' ? 100_000 : 25_000;

/** Waits until a check gives something other than false or undefined, and returns that. Fails when it never does. */
export async function until<T>(
  what: string,
  check: () => T | false | undefined,
  limitMs = PATIENCE_MS,
): Promise<T> {
  const deadline = Date.now() + limitMs;
  for (let looks = 0; ; looks += 1) {
    const found = check();
    if (found !== false && found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`not within ${limitMs} ms: ${what}`);
    // The other side may be another process that needs the processor more than this one does.
    await (looks < QUICK_LOOKS ? turn() : delay(2));
  }
}

const QUICK_LOOKS = 50;

/** The same for a check that throws as long as it is not so. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: PATIENCE_MS, interval: 5 });
}
