import { IsthmusError } from '../../../errors.js';
import type { StoreChannel } from '../../../process/remote-store/messages.js';
import { remoteStore } from '../../../process/remote-store/remote-store.js';
import type { TaskStore } from '../store.js';

/** The tasks of another process, over a channel to it. The other side is `serveTaskStore`. */
export function channelTaskStore(channel: StoreChannel): TaskStore {
  const remote = remoteStore<TaskStore, TaskOperation>({
    of: TASKS,
    operations: TASK_OPERATIONS,
    channel,
    unavailable: (why) =>
      new IsthmusError('ADDRESS_UNAVAILABLE', `The store of tasks cannot be used: ${why}`),
  });
  return {
    ...remote.operations,
    watch: (task, onChange) => remote.watch(task, () => onChange()),
    async close() {
      remote.close();
    },
  };
}

/** The name of the store on its channel. */
export const TASKS = 'tasks';

/** The operations that are answered. Each is a method of the store with the same arguments. */
export const TASK_OPERATIONS = [
  'create',
  'get',
  'replace',
  'list',
  'beat',
  'isAlive',
  'review',
] as const satisfies readonly (keyof TaskStore)[];

type TaskOperation = (typeof TASK_OPERATIONS)[number];
