import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { ControlClient } from '../control/control-client.js';
import type { Controlled, LogsOptions, ReloadReport } from '../control/protocol.js';
import { mergeLogs } from '../merge-logs.js';
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
    logs(name, options, signal) {
      // One of them asks the others, and those of other machines.
      if (options.all) return all()[0]!.logs(name, options, signal);
      const sources = all().map((worker) => (wanted: LogsOptions) => worker.logs(name, wanted, signal));
      return mergeLogs(sources, options, signal);
    },
    console: (access) => all()[0]!.console(access),
    // The workers are members of one cluster, so one of them asks the others.
    members: (request) => all()[0]!.members(request),
    shutdown,
    async inform(worker) {
      for (const name of off) await worker.stop(name).catch(() => {});
    },
  };
}
