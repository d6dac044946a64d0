import type { Upstream } from '@isthmus/sdk/internal/client/connect.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { until } from '../../../../test/support/until.js';
import { RemoteHealth } from '../../src/pipeline/track-health.js';

/** A remote server that wants a login, and a store in which one may appear. */
function openHealth(withLogin = true) {
  const clock = new FakeClock();
  const stage = { mark: undefined as string | undefined, asked: 0, changes: [] as string[] };
  const session = {
    async connected() {
      stage.asked += 1;
      if (stage.mark !== 'good')
        throw new IsthmusError('UNAUTHORIZED', 'it needs a login', { status: 401, sent: 'no' });
      return { era: 'modern', call: async () => ({}) };
    },
    async close() {},
  };
  const upstream = { label: 'x', serves: 'everybody', open: () => session } as unknown as Upstream;
  const health: RemoteHealth = new RemoteHealth({
    upstream,
    clock,
    ...(withLogin && { login: { mark: async () => stage.mark } }),
    onChange: () => stage.changes.push(health.state.state),
  });
  /** Lets a second pass, and what follows from it. */
  const second = async () => {
    clock.advance(1000);
    for (let turns = 0; turns < 20; turns += 1) await new Promise(setImmediate);
  };
  return { clock, stage, health, second };
}

describe('a remote server without a login', () => {
  it('needs one; the store is looked at every second, and the server is asked when a login has come', async () => {
    const { stage, health, second } = openHealth();
    await health.review();
    expect(health.state).toEqual({ state: 'needs-login', reason: 'it needs a login' });
    for (let seconds = 0; seconds < 10; seconds += 1) await second();
    expect(stage.asked).toBe(1);
    stage.mark = 'good';
    await second();
    expect(stage.changes).toEqual(['needs-login', 'ready']);
    expect(stage.asked).toBe(2);
  });

  it('a login that the server refuses is tried once, and the next one again', async () => {
    const { stage, health, second } = openHealth();
    await health.review();
    stage.mark = 'for another audience';
    for (let seconds = 0; seconds < 5; seconds += 1) await second();
    expect([stage.asked, health.state.state]).toEqual([2, 'needs-login']);
    stage.mark = 'good';
    await second();
    expect(health.state.state).toBe('ready');
  });

  it('has failed where its credentials are headers: no login would help', async () => {
    const { health } = openHealth(false);
    await health.review();
    expect(health.state.state).toBe('failed');
  });

  it('is not looked at any more when it is closed', async () => {
    const { clock, health, stage, second } = openHealth();
    await health.review();
    health.close();
    expect(clock.waiting).toBe(0);
    stage.mark = 'good';
    await second();
    expect(stage.asked).toBe(1);
    await until('nothing waits', () => clock.waiting === 0);
  });
});
