import type { LogLine } from './log-tail.js';

/** Somebody who wants to hear of every line. */
export interface Follower {
  add(line: LogLine): void;
}

/**
 * The lines that are there, then those that come. Whoever does not keep up misses the oldest, and is told how many:
 * a log must never hold up, or fill the memory of, what it is about.
 */
export async function* followLines(
  server: string | undefined,
  before: () => readonly LogLine[],
  followers: Set<Follower>,
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  let waiting: LogLine[] = [];
  let missed = 0;
  let wake = () => {};
  const follower: Follower = {
    add(line) {
      if (server !== undefined && line.server !== server) return;
      waiting.push(line);
      if (waiting.length >= 2 * MAX_WAITING) {
        missed += waiting.length - MAX_WAITING;
        waiting = waiting.slice(-MAX_WAITING);
      }
      wake();
    },
  };
  const onAbort = () => wake();
  signal.addEventListener('abort', onAbort);
  try {
    // In one go, so that nothing is lost or told twice in between.
    followers.add(follower);
    yield* before();
    while (!signal.aborted) {
      const line = waiting.shift();
      if (line) {
        const gap = missed;
        missed = 0;
        yield gap > 0 ? { ...line, missed: gap } : line;
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    followers.delete(follower);
    signal.removeEventListener('abort', onAbort);
  }
}

const MAX_WAITING = 1000;
