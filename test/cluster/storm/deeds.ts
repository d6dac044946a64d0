import { setTimeout as sleep } from 'node:timers/promises';
import type { createRandom } from '../../../packages/sdk/test/support/host-chaos.js';
import type { Stage } from './stage.js';

export type Random = ReturnType<typeof createRandom>;

/** What can happen to a cluster. Each settles when it is over. */
export const DEEDS: Readonly<Record<string, (stage: Stage, random: Random) => Promise<void>>> = {
  'kill -9': async (stage, random) => {
    const place = await anyPlace(stage, random);
    await stage.replicas[place]!.reap();
    stage.replicas[place] = undefined;
    await sleep(random.upTo(1500));
    await stage.revive(place);
  },
  'stop and start': async (stage, random) => {
    const place = await anyPlace(stage, random);
    const child = stage.replicas[place]!;
    stage.replicas[place] = undefined;
    child.kill('SIGTERM');
    await child.exit();
    await stage.revive(place);
  },
  'freeze for a moment': (stage, random) => freeze(stage, random, 200 + random.upTo(1500)),
  'freeze until the others take over': (stage, random) => freeze(stage, random, 6500),
  'restart Redis': (stage) => stage.restartRedis(),
  'flush Redis': async ({ redis }) => void (await redis.command('FLUSHALL')),
  'pause Redis': async ({ redis }, random) => {
    const ms = 300 + random.upTo(3000);
    await redis.command('CLIENT', 'PAUSE', String(ms), 'ALL');
    await sleep(ms);
  },
  'freeze Redis': async ({ redis }, random) => {
    redis.process.kill('SIGSTOP');
    await sleep(500 + random.upTo(4000));
    redis.process.kill('SIGCONT');
  },
  'fill Redis': async ({ redis }, random) => {
    await redis.command('CONFIG', 'SET', 'maxmemory', '1mb');
    await sleep(500 + random.upTo(2000));
    await redis.command('CONFIG', 'SET', 'maxmemory', '0');
  },
};

/** What happens to replicas alone. No session may be lost by it. */
export const OF_REPLICAS = [
  'kill -9',
  'kill -9',
  'stop and start',
  'freeze for a moment',
  'freeze until the others take over',
];
/** How replicas end. */
export const OF_ENDS = ['kill -9', 'kill -9', 'stop and start'];
/** What happens to Redis, and to replicas besides. */
export const OF_ALL = [...OF_REPLICAS, ...Object.keys(DEEDS).filter((name) => name.includes('Redis'))];

async function freeze(stage: Stage, random: Random, ms: number): Promise<void> {
  const child = stage.replicas[await anyPlace(stage, random)]!;
  child.kill('SIGSTOP');
  await sleep(ms);
  child.kill('SIGCONT');
}

async function anyPlace({ replicas }: Stage, random: Random): Promise<number> {
  return random.pick(replicas.flatMap((child, place) => (child ? [place] : [])));
}
