import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startRedis } from '../support/redis.js';
import { eventually } from '../support/until.js';
import { faultOf, tally } from './storm/judge.js';
import { openStage, type Stage } from './storm/stage.js';
import { storm } from './storm/storm.js';
import { hasClusterTools } from './support.js';

/** What happens to Redis, or to the way there, while clients of all kinds call at three replicas that live on. */
const FAULTS: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
  'is emptied again and again (FLUSHALL)': async ({ redis }) => {
    for (let round = 0; round < 5; round += 1) {
      await redis.command('FLUSHALL');
      await sleep(700);
    }
  },
  'evicts what it has': async ({ redis }) => {
    await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-random');
    await redis.command('CONFIG', 'SET', 'maxmemory', '1mb');
    await sleep(4000);
    await redis.command('CONFIG', 'SET', 'maxmemory', '0');
  },
  'is full (maxmemory 1mb)': async ({ redis }) => {
    await redis.command('CONFIG', 'SET', 'maxmemory', '1mb');
    await sleep(4000);
    await redis.command('CONFIG', 'SET', 'maxmemory', '0');
  },
  'is killed and started again, empty': async (stage) => {
    await stage.restartRedis();
    await sleep(1000);
    await stage.restartRedis();
  },
  'fails over to a replica that lacks the last second': async (stage) => {
    const { redis, link } = stage;
    const standby = await startRedis({ args: ['--replicaof', '127.0.0.1', String(redis.port)] });
    await eventually(async () =>
      expect(await standby.command('INFO', 'replication')).toContain('master_link_status:up'),
    );
    await standby.command('REPLICAOF', 'NO', 'ONE');
    await sleep(1000);
    link.target = standby.port;
    stage.redis = standby;
    await redis.stop();
  },
  'is paused (CLIENT PAUSE)': async ({ redis }) => {
    await redis.command('CLIENT', 'PAUSE', '4000', 'ALL');
    await sleep(4500);
  },
  'is stopped for 3 s (SIGSTOP)': (stage) => freeze(stage, 3000),
  'is stopped for 10 s (SIGSTOP)': (stage) => freeze(stage, 10_000),
  'is far away, and connections to it break': async ({ link }) => {
    link.delayMs = 300;
    for (let round = 0; round < 6; round += 1) {
      await sleep(600);
      link.cut();
    }
    link.delayMs = 0;
  },
  'is behind connections that are half open': async ({ link }) => {
    link.silence();
    await sleep(5000);
    link.silence();
    await sleep(3000);
  },
};

describe.skipIf(!hasClusterTools)(
  'three replicas that live, while Redis (skipped without redis-server and nginx)',
  () => {
    it.each(Object.entries(FAULTS))(
      '%s, answer each call once',
      async (name, fault) => {
        const stage = await openStage(3);
        onTestFinished(() => stage.close());
        const { outcomes, complaints } = await storm(stage, {
          ...{ seed: 1, clients: CLIENTS, deeds: [name] },
          forMs: 6000,
          doDeed: () => fault(stage),
        });
        const runs = stage.runs();
        expect(outcomes.flatMap((each) => faultOf(each, runs.get(each.token) ?? 0) ?? [])).toEqual([]);
        // No process has died, so nothing else is allowed.
        expect(outcomes.filter(({ end }) => end.kind !== 'answer')).toEqual([]);
        expect(complaints).toEqual([]);
        expect(runs.size).toBe(outcomes.length);
        // A busy machine makes few calls in this time.
        expect(outcomes.length).toBeGreaterThan(8);
        if (process.env['ISTHMUS_CHAOS_VERBOSE']) console.log(name, tally(outcomes));
        expect(await stage.leftovers()).toEqual([]);
      },
      120_000,
    );
  },
);

const CLIENTS = [
  ...(['our modern', 'our legacy', 'official v1', 'official v2', 'raw modern', 'raw legacy'] as const),
  ...(['our legacy', 'official v1'] as const),
];

async function freeze({ redis }: Stage, ms: number): Promise<void> {
  redis.process.kill('SIGSTOP');
  await sleep(ms);
  redis.process.kill('SIGCONT');
}
