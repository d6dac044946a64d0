import { expect, it } from 'vitest';
import { memoryTaskStore } from '../../../src/index.js';
import { channelTaskStore } from '../../../src/server/tasks/channel/channel-task-store.js';
import { serveTaskStore } from '../../../src/server/tasks/channel/serve-task-store.js';
import { storeChannels } from '../../support/store-channels.js';
import { recordOf, taskStoreContract } from '../../support/task-store-contract.js';

const ROOM = { maxTasks: 100, maxBytes: 1_000_000 };

let inner = memoryTaskStore();
taskStoreContract('of another process', {
  async open() {
    const [here, there] = storeChannels();
    serveTaskStore(inner, there);
    return channelTaskStore(here);
  },
  async reset() {
    inner = memoryTaskStore();
  },
});

it('a store of another process fails when that process has ended, and what waits fails, too', async () => {
  const [here, there] = storeChannels();
  const store = channelTaskStore(here);
  const waiting = store.get('a');
  there.close();
  await expect(waiting).rejects.toMatchObject({ code: 'ADDRESS_UNAVAILABLE' });
  await expect(store.get('a')).rejects.toThrow('its process has ended');
});

it('a process that has ended does not live any more, whatever its lease says', async () => {
  const [here, there] = storeChannels();
  const kept = memoryTaskStore();
  const hasEnded = new Promise<void>((resolve) => there.onClosed(resolve));
  serveTaskStore(kept, there);
  const store = channelTaskStore(here);
  await store.beat('w1', 60_000);
  await kept.beat('w2', 60_000);
  await store.create(recordOf('a'), ROOM);
  await kept.create(recordOf('b', { worker: 'w2' }), ROOM);
  expect(await kept.isAlive('w1', 1)).toBe(true);
  here.close();
  await hasEnded;
  await new Promise(setImmediate);
  expect([await kept.isAlive('w1', 1), await kept.isAlive('w2', 1)]).toEqual([false, true]);
  expect(await kept.review(1)).toEqual(['a']);
});

it('a store that cannot do its work says why to the other process, and goes on', async () => {
  const [here, there] = storeChannels();
  const kept = memoryTaskStore();
  serveTaskStore({ ...kept, get: () => Promise.reject(new Error('the disk is full')) }, there);
  const store = channelTaskStore(here);
  await expect(store.get('a')).rejects.toThrow('The store of tasks cannot be used: the disk is full');
  expect(await store.create(recordOf('a'), ROOM)).toBe('created');
});

it('only operations of the store are done', async () => {
  const [here, there] = storeChannels();
  serveTaskStore(memoryTaskStore(), there);
  const answer = new Promise((resolve) => here.onMessage(resolve));
  here.send({ of: 'tasks', kind: 'do', id: 1, operation: 'close', args: [] });
  expect(await answer).toEqual({ of: 'tasks', kind: 'failed', id: 1, why: 'there is no operation close' });
});
