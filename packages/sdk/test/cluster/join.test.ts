import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { eventually } from '../../../../test/support/until.js';
import type { ClusterStore } from '../../src/cluster/store.js';
import { joinCluster, memoryStore } from '../../src/transport/cluster.js';

const secret = 'a secret of a test, with enough characters';

describe('a process that starts before its store', () => {
  it('joins when the store is there, and then beats once a second', async () => {
    const { clock, store, beats } = storeThatComes(3000);
    const joining = joinCluster({ store, secret, clock });
    let hasJoined = false;
    void joining.then(() => {
      hasJoined = true;
    });
    // Its private listener is opened first.
    await eventually(() => expect(beats()).toBe(1));
    await pass(clock, 2500);
    expect(hasJoined).toBe(false);
    // Three failures in a row, then the store is left alone for a second.
    expect(beats()).toBeLessThan(10);
    await pass(clock, 2500);
    const cluster = await joining;
    onTestFinished(() => cluster.leave());
    const before = beats();
    await pass(clock, 5000);
    expect(beats() - before).toBe(5);
  });

  it('gives up after ten seconds, with the reason', async () => {
    const { clock, store, beats } = storeThatComes(60_000);
    const joining = joinCluster({ store, secret, clock });
    await eventually(() => expect(beats()).toBe(1));
    const failed = expect(joining).rejects.toThrow('The cluster default cannot be joined: not there yet');
    await pass(clock, 12_000);
    await failed;
  });
});

/** A store that cannot be reached for a while, and then can. */
function storeThatComes(afterMs: number) {
  const clock = new FakeClock();
  const store = memoryStore({ clock });
  const from = clock.now() + afterMs;
  let count = 0;
  const late = new Proxy(store, {
    get(target, name: keyof ClusterStore) {
      const own: unknown = target[name];
      if (name !== 'beat') return typeof own === 'function' ? own.bind(target) : own;
      return (beat: Parameters<ClusterStore['beat']>[0]) => {
        count += 1;
        return clock.now() < from ? Promise.reject(new Error('not there yet')) : target.beat(beat);
      };
    },
  });
  return { clock, store: late, beats: () => count };
}

/** Lets time pass in steps, so that what falls due can also answer. */
async function pass(clock: FakeClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 50) {
    clock.advance(50);
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
}
