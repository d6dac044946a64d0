import { FakeClock } from '../../../../test/support/fake-clock.js';
import { memoryStore } from '../../src/cluster/memory-store.js';
import { describeStore } from './store-contract.js';

describeStore('in memory', async () => {
  const clock = new FakeClock();
  const store = memoryStore({ clock });
  return { open: async () => store, pass: async (ms) => clock.advance(ms) };
});
