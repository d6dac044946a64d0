import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { vi } from 'vitest';

/** A failure bound, never waited out by a passing test: a slow machine is not a failure. */
export const PATIENCE_MS = 25_000;

/** Waits until something is so, and fails when it never is. */
export async function until(what: string, check: () => boolean, limitMs = PATIENCE_MS): Promise<void> {
  const deadline = Date.now() + limitMs;
  for (let looks = 0; !check(); looks += 1) {
    if (Date.now() > deadline) throw new Error(`not within ${limitMs} ms: ${what}`);
    // Whoever is waited for may be another process, and needs the processor more than we do.
    await (looks < QUICK_LOOKS ? turn() : delay(2));
  }
}

const QUICK_LOOKS = 50;

/** The same for a check that throws as long as it is not so. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: PATIENCE_MS, interval: 5 });
}
