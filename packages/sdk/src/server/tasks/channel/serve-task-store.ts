import { messageOf } from '../../../errors.js';
import type { TaskStore } from '../store.js';
import { TASK_OPERATIONS, type TaskStoreChannel, type TaskStoreMessage } from './task-messages.js';

/**
 * Does what another process asks of a store of tasks. The other side is `channelTaskStore`. When that process ends, the
 * tasks that it ran need not wait for the end of its lease.
 */
export function serveTaskStore(store: TaskStore, channel: TaskStoreChannel): void {
  const workers = new Set<string>();
  const watches = new Map<string, () => void>();
  const perform = async ({ id, operation, args }: Extract<TaskStoreMessage, { kind: 'do' }>) => {
    try {
      if (!TASK_OPERATIONS.includes(operation)) throw new Error(`there is no operation ${operation}`);
      if (operation === 'beat') workers.add(String(args[0]));
      const method = store[operation] as (...all: readonly unknown[]) => Promise<unknown>;
      channel.send({ of: 'tasks', kind: 'done', id, result: await method.apply(store, args as unknown[]) });
    } catch (error) {
      channel.send({ of: 'tasks', kind: 'failed', id, why: messageOf(error) });
    }
  };
  const unwatch = (task: string) => {
    watches.get(task)?.();
    watches.delete(task);
  };
  channel.onMessage((message) => {
    switch (message.kind) {
      case 'do':
        return void perform(message);
      case 'watch': {
        const { task } = message;
        unwatch(task);
        watches.set(
          task,
          store.watch(task, () => channel.send({ of: 'tasks', kind: 'changed', task })),
        );
        return;
      }
      case 'unwatch':
        unwatch(message.task);
    }
  });
  channel.onClosed(() => {
    for (const stop of watches.values()) stop();
    watches.clear();
    for (const worker of workers) void store.beat(worker, 0).catch(() => {});
  });
}
