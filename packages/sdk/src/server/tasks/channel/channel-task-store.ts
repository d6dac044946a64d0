import { createDeferred, type Deferred } from '../../../async/deferred.js';
import { IsthmusError } from '../../../errors.js';
import type { TaskStore } from '../store.js';
import type { TaskOperation, TaskStoreChannel, TaskStoreMessage } from './task-messages.js';

/** The tasks of another process, over a channel to it. The other side is `serveTaskStore`. */
export function channelTaskStore(channel: TaskStoreChannel): TaskStore {
  const waiting = new Map<number, Deferred<unknown>>();
  const watchers = new Map<string, Set<() => void>>();
  let last = 0;
  let isClosed = false;

  const close = () => {
    isClosed = true;
    for (const each of waiting.values()) each.reject(away('its process has ended'));
    waiting.clear();
    watchers.clear();
  };
  const send = (message: TaskStoreMessage) => {
    if (!isClosed) channel.send(message);
  };
  const settle = (id: number): Deferred<unknown> | undefined => {
    const found = waiting.get(id);
    waiting.delete(id);
    return found;
  };
  channel.onClosed(close);
  channel.onMessage((message) => {
    if (message.kind === 'done') settle(message.id)?.resolve(message.result);
    else if (message.kind === 'failed') settle(message.id)?.reject(away(message.why));
    else if (message.kind === 'changed') {
      for (const onChange of [...(watchers.get(message.task) ?? [])]) onChange();
    }
  });

  const ask =
    <Name extends TaskOperation>(operation: Name) =>
    async (...args: Parameters<TaskStore[Name]>): Promise<Awaited<ReturnType<TaskStore[Name]>>> => {
      if (isClosed) throw away('its process has ended');
      if (waiting.size >= MAX_WAITING) throw away(`${MAX_WAITING} operations wait for an answer`);
      last += 1;
      const answer = createDeferred<unknown>();
      waiting.set(last, answer);
      send({ of: 'tasks', kind: 'do', id: last, operation, args });
      return (await answer.promise) as Awaited<ReturnType<TaskStore[Name]>>;
    };
  return {
    create: ask('create'),
    get: ask('get'),
    replace: ask('replace'),
    list: ask('list'),
    beat: ask('beat'),
    isAlive: ask('isAlive'),
    review: ask('review'),
    watch(task, onChange) {
      const known = watchers.get(task);
      const own = known ?? new Set();
      // Each watch is an object of its own: one function may be given twice.
      const watcher = () => onChange();
      own.add(watcher);
      if (!known) {
        watchers.set(task, own);
        send({ of: 'tasks', kind: 'watch', task });
      }
      return () => {
        own.delete(watcher);
        if (own.size > 0 || watchers.get(task) !== own) return;
        watchers.delete(task);
        send({ of: 'tasks', kind: 'unwatch', task });
      };
    },
    async close() {
      for (const task of watchers.keys()) send({ of: 'tasks', kind: 'unwatch', task });
      close();
    },
  };
}

function away(why: string): IsthmusError {
  return new IsthmusError('ADDRESS_UNAVAILABLE', `The store of tasks cannot be used: ${why}`);
}

/** Operations without an answer yet. */
const MAX_WAITING = 10_000;
