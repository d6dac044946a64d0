import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
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

  it.each(['live', 'facts', 'version'])('knows all members again after it has evicted %s', async (part) => {
    const store = await openStore(redis.url, `evicts-${part}`);
    const beat = async (member: string) => {
      const facts = Buffer.from(`facts of ${member}`);
      const answer = await store.beat({ member, facts: undefined, ttlMs: 5000 });
      return answer.wasKnown ? answer : store.beat({ member, facts, ttlMs: 5000 });
    };
    for (const member of ['a', 'b', 'a']) await beat(member);
    await redis.command('DEL', `isthmus:evicts-${part}:{members}:${part}`);
    for (const member of ['a', 'b']) await beat(member);
    const { members } = await beat('a');
    expect(members.map(({ member }) => member).sort()).toEqual(['a', 'b']);
    // One that has ended does not come back.
    await store.leave('b');
    expect((await beat('a')).members.map(({ member }) => member)).toEqual(['a']);
  });
});

async function openStore(url: string, name: string): Promise<ClusterStore> {
  const store = await redisStore({ url, name });
  onTestFinished(() => store.close());
  // The connection is made in the background.
  await eventually(() => store.read('ready'));
  return store;
}
