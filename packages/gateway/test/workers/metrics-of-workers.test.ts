import { joinCluster, memoryStore } from '@isthmus/sdk/internal/transport/cluster.js';
import { expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../../../test/support/until.js';
import { type MetricsPage, metricsOfWorkers } from '../../src/workers/metrics-of-workers.js';

const secret = 'a secret of a test, with enough characters';
const NEVER = new Promise<void>(() => {});

it('each worker shows all workers of its parent, and no process of another one', async () => {
  const store = memoryStore();
  const members = [await join(store, 'left'), await join(store, 'left'), await join(store, 'right')] as const;
  const [a, b, c] = members;
  const alone = await join(store, undefined);
  await eventually(() => {
    for (const { members } of [a, b, c, alone])
      expect(members.all.map(parentOf).join()).toBe('left,left,right,');
  });
  const [ofA, ofB, ofC] = [page(a, 'n 1'), page(b, 'n 2'), page(c, 'n 3')];
  const both = `# HELP isthmus_worker_up Whether the worker has answered. The samples of one that has not are missing.
# TYPE isthmus_worker_up gauge
isthmus_worker_up{replica="${a.members.self}"} 1
isthmus_worker_up{replica="${b.members.self}"} 1

n{replica="${a.members.self}"} 1
n{replica="${b.members.self}"} 2
`;
  expect(await ofA()).toEqual({ type: 'text/plain', text: both });
  expect((await ofB()).text).toBe(both);
  expect((await ofC()).text).toContain(`n{replica="${c.members.self}"} 3\n`);
  expect((await ofC()).text).not.toContain(a.members.self);
  // A process without workers has its own page, unchanged.
  expect((await page(alone, 'n 4')()).text).toBe('n 4');
});

it('a worker that cannot answer is down on the page, and the others are there', async () => {
  const store = memoryStore();
  const [a, b, c] = [await join(store, 'left'), await join(store, 'left'), await join(store, 'left')];
  await eventually(() => expect(a!.members.all.map(parentOf)).toEqual(['left', 'left', 'left']));
  // The second one has not opened its gateway yet, and the third one fails.
  metricsOfWorkers(c!, () => Promise.reject(new Error('broken')), NEVER);
  const { text } = await page(a!, 'n 1')();
  expect(text.split('\n').filter((line) => /^\w/.test(line))).toEqual([
    `isthmus_worker_up{replica="${a!.members.self}"} 1`,
    `isthmus_worker_up{replica="${b!.members.self}"} 0`,
    `isthmus_worker_up{replica="${c!.members.self}"} 0`,
    `n{replica="${a!.members.self}"} 1`,
  ]);
});

it('many who ask at once get one page, and the next one gets a new page', async () => {
  let asked = 0;
  const cluster = await join(memoryStore(), 'left');
  const show = metricsOfWorkers(
    cluster,
    async () => {
      asked += 1;
      return { type: 'text/plain', text: `n ${asked}` };
    },
    NEVER,
  );
  const [first, second] = await Promise.all([show(), show()]);
  expect(first.text).toContain('"} 1\n');
  expect(second).toBe(first);
  expect((await show()).text).toContain(`n{replica="${cluster.members.self}"} 2\n`);
});

async function join(store: ReturnType<typeof memoryStore>, parent: string | undefined) {
  // Members that start in the same millisecond have no order.
  const startedAt = Date.now();
  await eventually(() => expect(Date.now()).toBeGreaterThan(startedAt));
  const cluster = await joinCluster({ store, secret });
  onTestFinished(() => cluster.leave());
  if (parent !== undefined) await cluster.members.say({ parent });
  return cluster;
}

function page(cluster: Awaited<ReturnType<typeof join>>, text: string): () => Promise<MetricsPage> {
  return metricsOfWorkers(cluster, async () => ({ type: 'text/plain', text }), NEVER);
}

function parentOf({ parent }: { readonly parent?: string }): string | undefined {
  return parent;
}
