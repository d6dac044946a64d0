import { InboundCalls } from '@isthmus/sdk/internal/exchange/inbound-calls.js';
import { expect, it } from 'vitest';
import { FakeClock } from '../support/fake-clock.js';

it('R7: what was held starts after what waited, and no more calls run than may', () => {
  const started: string[] = [];
  let onRelease = () => {};
  const surroundings = {
    clock: new FakeClock(),
    arriving: 0,
    outputIsFull: () => false,
    awaitsPeer: () => false,
    holdInput: (held: boolean) => {
      if (!held) onRelease();
    },
  };
  const calls = new InboundCalls({ maxConcurrent: 1, maxQueued: 1, maxQueuedBytes: 1e6 }, surroundings);
  let most = 0;
  const admit = (id: string) => {
    const call = calls.accept(id)!;
    const work = () => {
      started.push(id);
      most = Math.max(most, calls.running);
    };
    if (calls.takeSlot()) work();
    else calls.enqueue(call, work);
  };
  onRelease = () => {
    onRelease = () => {};
    admit('held');
  };
  admit('first');
  admit('waiting');
  calls.release();
  expect(started).toEqual(['first', 'waiting']);
  calls.release();
  expect(started).toEqual(['first', 'waiting', 'held']);
  expect(most).toBe(1);
});
