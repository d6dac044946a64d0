import { expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { channelStore } from '../../src/cluster/channel/channel-store.js';
import { serveStore } from '../../src/cluster/channel/serve-store.js';
import { memoryStore } from '../../src/cluster/memory-store.js';
import { storeChannels } from '../support/store-channels.js';
import { describeStore } from './store-contract.js';

describeStore('of another process', async () => {
  const clock = new FakeClock();
  const store = memoryStore({ clock });
  return {
    open: async () => {
      const [here, there] = storeChannels();
      serveStore(store, there);
      return channelStore(here);
    },
    pass: async (ms) => clock.advance(ms),
  };
});

it('a store of another process fails when that process has ended, and what waits fails, too', async () => {
  const [here, there] = storeChannels();
  const store = channelStore(here);
  const waiting = store.read('x');
  there.close();
  await expect(waiting).rejects.toThrow('its process has ended');
  await expect(store.read('x')).rejects.toThrow('its process has ended');
});

it('a served store knows the members of the other process, and ends its subscriptions', async () => {
  const [here, there] = storeChannels();
  const inner = memoryStore();
  const served = serveStore(inner, there);
  const store = channelStore(here);
  await store.beat({ member: 'aaaaaaaa', facts: Buffer.from('facts'), ttlMs: 1000 });
  expect([...served.members]).toEqual(['aaaaaaaa']);
  const heard: string[] = [];
  store.subscribe(
    'n',
    (value) => heard.push(Buffer.from(value).toString()),
    () => {},
  );
  await store.publish('n', Buffer.from('one'));
  expect(heard).toEqual(['one']);
  served.close();
  await store.publish('n', Buffer.from('two'));
  expect(heard).toEqual(['one']);
});
