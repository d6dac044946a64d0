import { IsthmusError, messageOf } from '@isthmus/sdk/internal/errors.js';
import type { TaskStore } from '@isthmus/sdk/internal/server/tasks/store.js';
import { CliError, EXIT, usageError } from '../cli-error.js';
import type { JoinedCluster } from '../cluster/cluster-options.js';
import type { WorkerLink } from '../workers/worker-link.js';
import type { ServeCommandOptions } from './serve-options.js';

type Options = Pick<ServeCommandOptions, 'taskStore' | 'cluster' | 'clusterName' | 'worker'>;

/**
 * Opens the store of `--task-store`. The processes of a cluster keep tasks in its Redis, and workers have them in the memory
 * of their parent, so that each of them knows the tasks of the others. Undefined: tasks are kept in memory. If it cannot be
 * opened, this process leaves the cluster.
 */
export async function openTaskStore(
  { taskStore, cluster, clusterName, worker }: Options,
  joined: JoinedCluster | undefined,
): Promise<TaskStore | undefined> {
  // Child processes must not inherit it.
  delete process.env['ISTHMUS_TASK_STORE'];
  const place = taskStore ?? cluster;
  if (place === undefined) return worker && tasksOfParent(worker);
  try {
    if (/^rediss?(\+\w+)?:\/\//.test(place)) {
      const { redisTaskStore } = await import('@isthmus/sdk/internal/server/tasks/redis/redis-task-store.js');
      return await redisTaskStore({ url: place, name: `gateway:${clusterName ?? 'default'}` });
    }
    const [, file] = /^sqlite:(.+)$/s.exec(place) ?? [];
    if (file === undefined) {
      throw usageError('--task-store takes redis://HOST:6379 or sqlite:FILE');
    }
    const { sqliteTaskStore } = await import(
      '@isthmus/sdk/internal/server/tasks/sqlite/sqlite-task-store.js'
    );
    return await sqliteTaskStore({ file });
  } catch (error) {
    await joined?.cluster.leave();
    if (!(error instanceof IsthmusError)) throw error;
    const message = `The store of tasks cannot be opened: ${messageOf(error)}`;
    const isAway = error.code === 'ADDRESS_UNAVAILABLE';
    throw new CliError(EXIT.cannotConnect, message, isAway ? { hint: AWAY } : {});
  }
}

const AWAY =
  'Check that Redis runs at the address of --task-store or --cluster, and that its user and password are right';

async function tasksOfParent({ stores }: WorkerLink): Promise<TaskStore> {
  const { channelTaskStore } = await import(
    '@isthmus/sdk/internal/server/tasks/channel/channel-task-store.js'
  );
  return channelTaskStore(stores);
}
