import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { ControlClient } from '../control/control-client.js';
import type { Controlled, LogsOptions, ReloadReport } from '../control/protocol.js';
import type { LogLine } from '../log-tail.js';
import { mergeStatus, type WorkersFacts } from './merge-status.js';

export interface ControlWorkersOptions {
  readonly facts: WorkersFacts;
  /** The workers that serve, the first one first. */
  workers(): readonly ControlClient[];
  /** Begins to end all workers. */
  shutdown(): void;
}

/** Several workers, controlled as one gateway. */
export interface ControlledWorkers extends Controlled {
  /** Tells a worker that has just begun what the others were told. */
  inform(worker: ControlClient): Promise<void>;
}

export function controlWorkers({ facts, workers, shutdown }: ControlWorkersOptions): ControlledWorkers {
  /** Servers that were switched off. Workers that come later switch them off, too. */
  const off = new Set<string>();
  const all = (): readonly ControlClient[] => {
    const found = workers();
    if (found.length > 0) return found;
    throw new IsthmusError('BUSY', 'No worker serves at the moment; another one is being started');
  };
  /** Waits for all of them, and then reports the first failure. */
  const each = async <T>(action: (worker: ControlClient) => Promise<T>): Promise<T[]> => {
    const results = await Promise.allSettled(all().map(action));
    return results.map((result) => {
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    });
  };
  return {
    status: async () => mergeStatus(facts, await each((worker) => worker.status())),
    async restart(name) {
      await each((worker) => worker.restart(name));
    },
    async stop(name) {
      await each((worker) => worker.stop(name));
      off.add(name);
    },
    async start(name) {
      off.delete(name);
      await each((worker) => worker.start(name));
    },
    async reload(): Promise<ReloadReport> {
      const reports = await each((worker) => worker.reload());
      return reports.find(({ problem }) => problem !== undefined) ?? reports[0]!;
    },
    logs: (name, options, signal) => mergedLogs(all(), name, options, signal),
    console: (access) => all()[0]!.console(access),
    // The workers are members of one cluster, so one of them asks the others.
    members: (request) => all()[0]!.members(request),
    shutdown,
    async inform(worker) {
      for (const name of off) await worker.stop(name).catch(() => {});
    },
  };
}

/** First the last lines of all workers in the order of time, then new ones as they come. */
async function* mergedLogs(
  workers: readonly ControlClient[],
  name: string | undefined,
  { lines, follow }: LogsOptions,
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  const last = await Promise.all(
    workers.map(async (worker) => {
      const found: LogLine[] = [];
      for await (const line of worker.logs(name, { lines, follow: false }, signal)) found.push(line);
      return found;
    }),
  );
  const sorted = last.flat().sort((a, b) => a.at - b.at);
  yield* lines === 0 ? [] : sorted.slice(-lines);
  if (!follow || signal.aborted) return;
  const feeds = workers.map((worker) =>
    worker.logs(name, { lines: 0, follow: true }, signal)[Symbol.asyncIterator](),
  );
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

/** A worker that has ended has no more lines. */
async function take(feed: AsyncIterator<LogLine>): Promise<Taken> {
  try {
    return { feed, result: await feed.next() };
  } catch {
    return { feed, result: { done: true, value: undefined } };
  }
}
