import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest';
import { hasRedis, type RunningRedis, startRedis } from '../../../../test/support/redis.js';
import { eventually } from '../../../../test/support/until.js';
import { redisStore } from '../../src/cluster/redis/redis-store.js';
import type { ClusterStore } from '../../src/cluster/store.js';
import { describeStore } from './store-contract.js';

describe.skipIf(!hasRedis)('on a real Redis (skipped without redis-server)', () => {
  let redis: RunningRedis;
  let tests = 0;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.stop());

  describeStore('on Redis', async () => {
    tests += 1;
    const name = `test-${tests}`;
    return { open: () => openStore(redis.url, name), pass: (ms) => delay(ms) };
  });
});

async function openStore(url: string, name: string): Promise<ClusterStore> {
  const store = await redisStore({ url, name });
  onTestFinished(() => store.close());
  // The connection is made in the background.
  await eventually(() => store.read('ready'));
  return store;
}
