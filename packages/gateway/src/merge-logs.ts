import type { LogsOptions } from './control/protocol.js';
import type { LogLine } from './log-tail.js';

/** The lines of one process. */
export type LogSource = (options: LogsOptions) => AsyncIterable<LogLine>;

/** First the last lines of several processes in the order of time, then new ones as they come. */
export async function* mergeLogs(
  sources: readonly LogSource[],
  { lines, follow }: LogsOptions,
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  const last = await Promise.all(
    sources.map(async (source) => {
      const found: LogLine[] = [];
      for await (const line of source({ lines, follow: false })) found.push(line);
      return found;
    }),
  );
  const sorted = last.flat().sort((a, b) => a.at - b.at);
  yield* lines === 0 ? [] : sorted.slice(-lines);
  if (!follow || signal.aborted) return;
  const feeds = sources.map((source) => source({ lines: 0, follow: true })[Symbol.asyncIterator]());
  const next = new Map(feeds.map((feed) => [feed, take(feed)]));
  while (next.size > 0) {
    const { feed, result } = await Promise.race(next.values());
    if (result.done) next.delete(feed);
    else {
      next.set(feed, take(feed));
      yield result.value;
    }
  }
}

interface Taken {
  readonly feed: AsyncIterator<LogLine>;
  readonly result: IteratorResult<LogLine>;
}

/** A process that has ended has no more lines. */
async function take(feed: AsyncIterator<LogLine>): Promise<Taken> {
  try {
    return { feed, result: await feed.next() };
  } catch {
    return { feed, result: { done: true, value: undefined } };
  }
}
