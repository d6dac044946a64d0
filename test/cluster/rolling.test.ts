import { afterEach, describe, expect, it } from 'vitest';
import { rawLegacy, rawModern } from '../../packages/gateway/test/support/chaos/raw-clients.js';
import { hasHaproxy } from '../support/haproxy.js';
import { connectV1 } from '../support/official-v1.js';
import { hasRedis } from '../support/redis.js';
import { openRollingStage } from './load/rolling-stage.js';
import { CLUSTER_SECRET, startReplica } from './support.js';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

describe.skipIf(!hasRedis || !hasHaproxy)(
  'replicas that are restarted one after the other (skipped without redis-server and haproxy)',
  () => {
    it('fail no request and lose no session, while clients of both eras call', async () => {
      const stage = await openRollingStage(closing);
      const callers = await openCallers(stage.url);
      for (let place = 0; place < 3; place += 1) await stage.restart(place);
      const { failures, calls } = await callers.stop();
      expect(failures).toEqual([]);
      // Otherwise nothing was proven.
      expect(calls).toBeGreaterThan(60);
    }, 120_000);

    it('can get another secret in three rounds, without a failed request', async () => {
      const stage = await openRollingStage(closing);
      const roll = async (secrets: string) => {
        for (let place = 0; place < 3; place += 1) await stage.restart(place, secrets);
      };
      const early = await openCallers(stage.url);
      await roll(`${CLUSTER_SECRET},${NEXT}`);
      await roll(`${NEXT},${CLUSTER_SECRET}`);
      expect((await early.stop()).failures).toEqual([]);
      // Sessions that were opened with the old secret must be over before the third round.
      const late = await openCallers(stage.url);
      await roll(NEXT);
      expect((await late.stop()).failures).toEqual([]);
      // The old secret is of no use any more.
      const stranger = await startReplica(stage.redisUrl, [], { ISTHMUS_CLUSTER_SECRET: CLUSTER_SECRET });
      closing.push(() => stranger.child.reap());
      expect((await stranger.status()).cluster.members).toHaveLength(1);
    }, 240_000);

    it('end with exit code 0 after the drain, and tell balancers meanwhile that they are not ready', async () => {
      const stage = await openRollingStage(closing);
      const [first] = stage.replicas;
      const ready = async () => (await fetch(`${first!.origin}/readyz`)).status;
      expect(await ready()).toBe(200);
      first!.child.kill('SIGTERM');
      await expect.poll(ready).toBe(503);
      expect((await first!.status()).cluster.state).toBe('draining');
      // It still serves.
      const client = await rawModern(first!.url);
      expect(await client.call('echo', { text: 'hi' }, new AbortController().signal)).toBe('hi');
      expect(await first!.child.exit()).toEqual({ code: 0, signal: null });
    }, 60_000);
  },
);

const NEXT = 'another-secret-for-tests-with-enough-characters';

/** Clients that call one time after the other until they are told to stop, and note what fails. */
async function openCallers(url: string) {
  const failures: string[] = [];
  let calls = 0;
  let isOver = false;
  const official = await connectV1({ url });
  official.client.onerror = (error) => {
    // Its standing stream ends with the replica that carries it, and it opens another one.
    if (!String(error).includes('SSE stream disconnected')) failures.push(`official v1: ${String(error)}`);
  };
  const raw = await Promise.all([
    ...Array.from({ length: 3 }, () => rawModern(url)),
    ...Array.from({ length: 9 }, () => rawLegacy(url)),
  ]);
  const echoes: ((text: string) => Promise<unknown>)[] = [
    ...raw.map((client) => (text: string) => client.call('echo', { text }, new AbortController().signal)),
    async (text) => {
      const { content } = await official.client.callTool({ name: 'echo', arguments: { text } });
      return (content as [{ text: string }])[0].text;
    },
  ];
  const running = echoes.map(async (echo, at) => {
    while (!isOver) {
      const text = `${at} ${calls}`;
      calls += 1;
      try {
        const answer = await echo(text);
        if (answer !== text) failures.push(`${text} was answered with ${String(answer)}`);
      } catch (error) {
        failures.push(`${text}: ${String(error)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
  return {
    async stop() {
      isOver = true;
      await Promise.all(running);
      await official.client.close();
      return { failures, calls };
    },
  };
}
