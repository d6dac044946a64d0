import { type Client, connect, http } from '@isthmus/sdk';
import { expect, it } from 'vitest';
import { ISTHMUS, startChild } from '../../../test/support/child.js';
import { eventually } from '../../../test/support/until.js';
import { ask, legacyCall, modernCall, openSession } from '../../sdk/test/support/http-server.js';
import { echoEntry, serveFile } from './support/serve-file.js';

it('--workers serves sessions at one port with several processes, and goes on when one is killed', async () => {
  const url = await serveDemo();
  const session = await openSession(url, { capabilities: { elicitation: {} } });
  // Each request is a connection, and connections go to the workers in turn.
  const call = await session.open(legacyCall(1, 'test_elicitation'));
  const question = await call.next();
  const result = { action: 'accept', content: { user_name: 'Ada' } };
  expect((await session.post({ jsonrpc: '2.0', id: question.id, result })).status).toBe(202);
  expect(await call.next()).toMatchObject({
    id: 1,
    result: { content: [{ text: 'Elicitation completed: action=accept, content={"user_name":"Ada"}' }] },
  });
  const pids = new Map<string, number>();
  await eventually(async () => {
    const { pid, cluster } = JSON.parse((await ask(url.replace('/mcp', '/status'), { method: 'GET' })).text);
    pids.set(cluster.replica, pid);
    expect(pids.size).toBe(3);
  });
  process.kill(pids.get(session.id.split('.')[0]!)!, 'SIGKILL');
  // A connection that the killed worker had just been given is cut.
  await eventually(() => session.post(legacyCall('first', 'echo', { text: 'x' })));
  for (let id = 2; id < 8; id += 1) {
    const { json } = await session.post(legacyCall(id, 'echo', { text: `call ${id}` }));
    expect(json.result.content).toEqual([{ type: 'text', text: `call ${id}` }]);
  }
});

it('/metrics with --workers has all workers whichever is asked, and no count falls', async () => {
  const { origin } = await serveFile({ mcpServers: { a: echoEntry() } }, '--workers', '2', '--no-control');
  // Each request is a connection, and connections go to the workers in turn.
  const scrape = async () => {
    const { text } = await ask(`${origin}/metrics`, { method: 'GET' });
    return readPage(text);
  };
  const up = /^isthmus_worker_up\{replica="(\w+)"\}$/;
  const replicas = await eventually(async () => {
    const found = [...(await scrape()).samples].flatMap(([name, value]) =>
      value === 1 ? (up.exec(name)?.[1] ?? []) : [],
    );
    expect(found.length).toBe(2);
    return found;
  });
  const calls = (samples: ReadonlyMap<string, number>) =>
    [...samples]
      .filter(([name]) => /^mcp_server_operation_duration_seconds_count\{.*"tools\/call"/.test(name))
      .reduce((sum, [, value]) => sum + value, 0);
  let before: ReadonlyMap<string, number> = new Map();
  for (let round = 1; round <= 6; round += 1) {
    expect((await ask(`${origin}/mcp`, modernCall(round, 'echo', { text: 'x' }))).status).toBe(200);
    // A call is counted when it is over, which may be a moment after its answer. A busy machine may keep a worker silent.
    const now = await eventually(async () => {
      const page = await scrape();
      const { samples } = page;
      expect(calls(samples)).toBe(round);
      for (const replica of replicas) {
        expect(samples.get(`isthmus_worker_up{replica="${replica}"}`)).toBe(1);
        expect(samples.get(`process_cpu_seconds_total{replica="${replica}"}`)).toBeGreaterThan(0);
      }
      return page;
    });
    for (const [name, value] of before) expect([name, now.counts.get(name)! >= value]).toEqual([name, true]);
    before = now.counts;
    expect([...now.samples.keys()].every((name) => /^\w+\{replica="\w+"/.test(name))).toBe(true);
  }
});

it('with --workers each worker knows the tasks of the others, also after the others were killed', async () => {
  const url = await serveDemo();
  const open = (mode: 'modern' | 'legacy') => connect(http(url), { mode, cache: false });
  // Each client has connections of its own, and connections go to the workers in turn.
  const clients = await Promise.all((['modern', 'legacy', 'modern', 'legacy'] as const).map(open));
  const [first, ...others] = clients as [Client, ...Client[]];
  const done = await first.startTask('slow_compute', { seconds: 0.05, label: 'x' });
  const running = await Promise.all(
    clients.map((client) => client.startTask('slow_compute', { seconds: 600, label: 'y' })),
  );
  const results = await Promise.all(others.map((client) => client.task(done.id!).result()));
  expect(results.map(({ content }) => content)).toEqual(
    others.map(() => [{ type: 'text', text: 'Computed x in 0.05 s' }]),
  );
  for (const { id } of running) {
    for (const client of others) expect((await client.task(id!).get()).status).toBe('working');
  }
  const pids = new Set<number>();
  await eventually(async () => {
    const { text } = await ask(url.replace('/mcp', '/status'), { method: 'GET' });
    pids.add(JSON.parse(text).pid);
    expect(pids.size).toBe(3);
  });
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  await Promise.all(clients.map((client) => client.close()));
  await eventually(async () => {
    const later = await open('modern');
    try {
      expect(await later.task(done.id!).get()).toMatchObject({ status: 'completed' });
      for (const { id } of running)
        expect(await later.task(id!).get()).toMatchObject({
          status: 'failed',
          error: { code: -32603, data: { reason: 'SERVER_ENDED', sent: 'maybe' } },
        });
    } finally {
      await later.close();
    }
  });
}, 90_000);

it.each([
  [['--listen', 'unix:/tmp/never.sock'], '--workers needs an HTTP address'],
  [['--config', '/nowhere/servers.json'], 'servers.json'],
  [
    ['--port', '0', '--cluster', 'redis://127.0.0.1:1', '--cluster-listen', 'http://127.0.0.1:7946'],
    'needs port 0',
  ],
])('--workers with %j says once what is wrong, and ends with 2', async (args, why) => {
  const env = { PATH: process.env['PATH'] ?? '', ISTHMUS_CLUSTER_SECRET: 'x'.repeat(32) };
  const child = startChild(ISTHMUS, { args: ['serve', '--workers', '2', '--no-control', ...args], env });
  expect(await child.exit()).toEqual({ code: 2, signal: null });
  expect(child.stderr.split('isthmus:').length).toBe(2);
  expect(child.stderr).toContain(why);
});

/** The samples of a page by name and labels, and those that never fall. Fails if two are the same, or two descriptions. */
function readPage(text: string) {
  const lines = text.split('\n').filter(Boolean);
  const types = lines.filter((line) => line.startsWith('# TYPE ')).map((line) => line.split(' ').slice(2));
  const named = new Map(types.map(([name, type]) => [name, type]));
  expect(named.size).toBe(types.length);
  const all = lines.filter((line) => !line.startsWith('#')).map((line) => line.split(/ (?=\S+$)/));
  const samples = new Map(all.map(([name, value]) => [name!, Number(value)]));
  expect(samples.size).toBe(all.length);
  const isCount = (name: string) => {
    const [metric = ''] = name.split('{');
    return (
      named.get(metric) === 'counter' || named.get(metric.replace(/_(bucket|sum|count)$/, '')) === 'histogram'
    );
  };
  return { samples, counts: new Map([...samples].filter(([name]) => isCount(name))) };
}

async function serveDemo(): Promise<string> {
  const child = startChild(ISTHMUS, {
    args: ['serve', '--workers', '3', '--port', '0', '--json', '-q', '--no-control'],
  });
  const [told] = await child.first(1);
  const { addresses, pid } = told as unknown as { addresses: [string]; pid: number };
  expect(pid).toBe(child.pid);
  return addresses[0];
}
