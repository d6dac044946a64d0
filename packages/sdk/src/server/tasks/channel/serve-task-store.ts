import type { StoreChannel } from '../../../process/remote-store/messages.js';
import { serveRemoteStore } from '../../../process/remote-store/serve-remote-store.js';
import type { TaskStore } from '../store.js';
import { TASK_OPERATIONS, TASKS } from './channel-task-store.js';

/**
 * Does what another process asks of a store of tasks. The other side is `channelTaskStore`. When that process ends, the
 * tasks that it ran need not wait for the end of its lease.
 */
export function serveTaskStore(store: TaskStore, channel: StoreChannel): void {
  const workers = new Set<string>();
  serveRemoteStore({
    of: TASKS,
    operations: TASK_OPERATIONS,
    store,
    channel,
    watch: (task, onNews) => store.watch(task, () => onNews()),
    onOperation(operation, args) {
      if (operation === 'beat') workers.add(String(args[0]));
    },
  });
  channel.onClosed(() => {
    for (const worker of workers) void store.beat(worker, 0).catch(() => {});
  });
}
