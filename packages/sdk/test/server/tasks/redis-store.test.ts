import { afterAll, beforeAll, describe } from 'vitest';
import { hasRedis, type RunningRedis, startRedis } from '../../../../../test/support/redis.js';
import { redisTaskStore } from '../../../src/server/tasks/redis/redis-task-store.js';
import { taskStoreContract } from '../../support/task-store-contract.js';

describe.skipIf(!hasRedis)('with a real redis-server (skipped where there is none)', () => {
  let redis: RunningRedis;
  let count = 0;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  taskStoreContract('Redis', {
    open: () => redisTaskStore({ url: redis.url, name: `t${count}` }),
    reset: async () => {
      count += 1;
    },
  });
});
