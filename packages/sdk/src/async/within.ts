import type { Clock } from './clock.js';

/** Waits for `work`, but at most `ms`. Says whether the work was done in time; a rejection counts as done. */
export async function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  let callOff: () => void = () => {};
  const late = new Promise<false>((resolve) => {
    callOff = clock.after(ms, () => resolve(false));
  });
  const done = work.then(
    () => true as const,
    () => true as const,
  );
  try {
    return await Promise.race([done, late]);
  } finally {
    callOff();
  }
}
