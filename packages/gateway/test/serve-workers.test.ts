import { expect, it } from 'vitest';
import { ISTHMUS, startChild } from '../../../test/support/child.js';
import { eventually } from '../../../test/support/until.js';
import { ask, legacyCall, openSession } from '../../sdk/test/support/http-server.js';

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

async function serveDemo(): Promise<string> {
  const child = startChild(ISTHMUS, {
    args: ['serve', '--workers', '3', '--port', '0', '--json', '-q', '--no-control'],
  });
  const [told] = await child.first(1);
  const { addresses, pid } = told as unknown as { addresses: [string]; pid: number };
  expect(pid).toBe(child.pid);
  return addresses[0];
}
