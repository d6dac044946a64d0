/** Tasks at two replicas of `isthmus serve --cluster`, without a balancer: each is asked by its own address. */
import { type Client, connect, http } from '@isthmus/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVERYTHING } from '../../packages/cli/test/support/isthmus.js';
import { descendantsOf } from '../solved/support/serve-file.js';
import { type Child, ISTHMUS, startChild } from '../support/child.js';
import { freePort, hasRedis, type RunningRedis, startRedis } from '../support/redis.js';
import { eventually } from '../support/until.js';
import { allKnown, startReplica } from './support.js';

let redis: RunningRedis;
beforeAll(async () => {
  if (hasRedis) redis = await startRedis();
});
afterAll(() => redis?.stop());

const BEHIND = ['--', process.execPath, ISTHMUS, 'demo'];

describe.runIf(hasRedis).each([
  ['of the demo', 'demo', [], false],
  ['of a server behind the bridge', 'bridge', BEHIND, true],
] as const)('tasks %s', (_what, name, args, hasHome) => {
  it('are known at each replica, and have failed after their replica was killed', async () => {
    const own = ['--cluster-name', name, ...args];
    const replicas = await Promise.all([startReplica(redis.url, own), startReplica(redis.url, own)]);
    try {
      await allKnown(replicas, 2);
      const open = (url: string) => connect(http(url), { mode: 'modern', cache: false });
      const [first, second] = await Promise.all(replicas.map(({ url }) => open(url)));
      const done = await first!.startTask('slow_compute', { seconds: 0.1, label: 'x' });
      expect(await second!.task(done.id!).result()).toMatchObject({
        content: [{ text: 'Computed x in 0.1 s' }],
      });
      const running = await first!.startTask('slow_compute', { seconds: 600, label: 'y' });
      expect(await second!.task(running.id!).get()).toMatchObject({ status: 'working' });
      // The replica that has the process of the server runs the task. The demo runs where it was called.
      const isHome = descendantsOf(replicas[1]!.child.pid).length > 0;
      const [victim, left] = isHome ? [replicas[1]!, first!] : [replicas[0]!, second!];
      const handedOn = async () => (await (isHome ? replicas[0]! : replicas[1]!).status()).cluster.handedOn;
      const before = await handedOn();
      // It dies with a request that it has not answered. The end of that request is not the end of the task.
      victim.child.kill('SIGSTOP');
      const end = expect(left.task(running.id!).result()).rejects.toMatchObject({
        code: -32603,
        data: { reason: 'SERVER_ENDED' },
      });
      if (hasHome) await eventually(async () => expect(await handedOn()).toBeGreaterThan(before));
      victim.child.kill('SIGKILL');
      await end;
      expect(await left.task(running.id!).get()).toMatchObject({ status: 'failed' });
      expect(await left.task(done.id!).get()).toMatchObject({ status: 'completed' });
      await Promise.all([first!.close(), second!.close()]);
    } finally {
      await Promise.all(replicas.map(({ child }) => child.reap()));
    }
  }, 90_000);
});

it.runIf(hasRedis)(
  'tasks of a gateway with --task-store outlive it: finished ones are there, and running ones have failed',
  async () => {
    const open = async () => {
      const args = [
        'serve',
        '--port',
        '0',
        '--json',
        '-q',
        '--no-control',
        '--task-store',
        redis.url,
        ...BEHIND,
      ];
      const child = startChild(ISTHMUS, { args });
      await child.until('the addresses', () => child.messages.length > 0);
      const [url] = (child.messages[0] as unknown as { addresses: [string] }).addresses;
      return { child, client: await connect(http(url), { mode: 'modern', cache: false }) };
    };
    const first = await open();
    const done = await first.client.startTask('slow_compute', { seconds: 0.1, label: 'x' });
    await done.result();
    const running = await first.client.startTask('slow_compute', { seconds: 600, label: 'y' });
    first.child.kill('SIGKILL');
    await first.child.ended;
    await first.client.close();
    const { client } = await open();
    expect(await client.task(done.id!).result()).toMatchObject({
      content: [{ text: 'Computed x in 0.1 s' }],
    });
    await expect(client.task(running.id!).result()).rejects.toMatchObject({
      data: { reason: 'SERVER_ENDED' },
    });
    await client.close();
  },
  90_000,
);

describe.runIf(hasRedis).each([['modern'], ['legacy']])('a task of a %s server at an address', (era) => {
  const startDemo = async () => {
    const args = ['serve', '--port', '0', '--json', '-q', '--no-control'];
    const child = startChild(ISTHMUS, { args });
    return { child, url: await addressOf(child) };
  };
  const open = (url: string) =>
    connect(http(url), {
      mode: 'modern',
      cache: false,
      answers: { elicit: () => ({ action: 'accept', content: { confirm: true } }) },
    });
  /** One task works for some time, the other one asks. */
  const begin = async (client: Client) => {
    await client.listTools();
    const works = await client.startTask('slow_compute', { seconds: 5, label: 'x' });
    const asks = await client.startTask('confirm_delete', { filename: 'f' });
    await eventually(async () => {
      expect(await client.task(asks.id!).get()).toMatchObject({ status: 'input_required' });
    });
    return { works: works.id!, asks: asks.id! };
  };
  const isFinished = async (client: Client, ids: { works: string; asks: string }) => {
    expect(await client.task(ids.asks).result()).toMatchObject({ content: [{ text: 'Deleted f' }] });
    expect(await client.task(ids.works).result()).toMatchObject({ content: [{ text: 'Computed x in 5 s' }] });
  };

  it.each(['SIGKILL', 'SIGTERM'] as const)(
    'goes on in the next gateway with the same store after %s, and asks its person there',
    async (signal) => {
      const demo = await startDemo();
      const serveOnce = async () => {
        const where = ['serve', '--port', '0', '--json', '-q', '--no-control', '--task-store', redis.url];
        const child = startChild(ISTHMUS, { args: [...where, '--upstream', demo.url, '--era', era] });
        return { child, client: await open(await addressOf(child)) };
      };
      const first = await serveOnce();
      const ids = await begin(first.client);
      first.child.kill(signal);
      await first.child.ended;
      const next = await serveOnce();
      await isFinished(next.client, ids);
      await Promise.all([first.client.close(), next.client.close()]);
    },
    120_000,
  );

  it('goes on at another replica after that of its client was killed', async () => {
    const demo = await startDemo();
    const args = ['--cluster-name', `resumed-${era}`, '--upstream', demo.url, '--era', era];
    const replicas = await Promise.all([startReplica(redis.url, args), startReplica(redis.url, args)]);
    try {
      await allKnown(replicas, 2);
      const [first, second] = await Promise.all(replicas.map(({ url }) => open(url)));
      const ids = await begin(first!);
      replicas[0]!.child.kill('SIGKILL');
      await isFinished(second!, ids);
      await Promise.all([first!.close(), second!.close()]);
    } finally {
      await Promise.all(replicas.map(({ child }) => child.reap()));
    }
  }, 120_000);
});

it.runIf(hasRedis)(
  'a task of the official everything server, which binds tasks to their session, fails after its gateway was started again',
  async () => {
    const port = await freePort();
    const env = { PATH: process.env['PATH'] ?? '', PORT: String(port) };
    const everything = startChild(EVERYTHING, { args: ['streamableHttp'], env });
    await everything.until('it listens', () => everything.stderr.includes(`port ${port}`));
    const serveOnce = async () => {
      const where = ['serve', '--port', '0', '--json', '-q', '--no-control', '--task-store', redis.url];
      const upstream = ['--upstream', `http://127.0.0.1:${port}/mcp`];
      const child = startChild(ISTHMUS, { args: [...where, ...upstream] });
      const answers = { elicit: () => ({ action: 'decline' as const }) };
      const options = { mode: 'modern', cache: false, answers } as const;
      return { child, client: await connect(http(await addressOf(child)), options) };
    };
    const first = await serveOnce();
    const query = { topic: 'python', ambiguous: true };
    const { id } = await first.client.startTask('simulate-research-query', query);
    // It waits for its person, so it does not end by itself.
    await eventually(async () => {
      expect(await first.client.task(id!).get()).toMatchObject({ status: 'input_required' });
    });
    first.child.kill('SIGTERM');
    await first.child.ended;
    const next = await serveOnce();
    await expect(next.client.task(id!).result()).rejects.toMatchObject({
      code: -32603,
      data: { reason: 'SERVER_ENDED' },
    });
    await Promise.all([first.client.close(), next.client.close()]);
  },
  90_000,
);

async function addressOf(child: Child): Promise<string> {
  await child.until('the addresses', () => child.messages.length > 0);
  return (child.messages[0] as unknown as { addresses: [string] }).addresses[0];
}
