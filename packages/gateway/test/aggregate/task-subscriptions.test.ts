/** Tasks at the address of all servers, which a client subscribes to, and whose results have addresses of two servers. */
import { createBridge, memory, type Server, serve } from '@isthmus/sdk';
import { expect, it, onTestFinished } from 'vitest';
import { until } from '../../../../test/support/until.js';
import { connectTo } from '../../../sdk/test/support/server.js';
import { gate, idOf, TASKS, taskServer, WITH_TASKS } from '../../../sdk/test/support/tasks.js';
import { Aggregate } from '../../src/aggregate/aggregate.js';

/** A server behind its bridge, as a gateway has it. */
async function behindBridge(server: Server) {
  const link = memory();
  const served = await serve(server, link);
  const bridge = createBridge(link, { mode: 'legacy', cache: false, tasks: { pollIntervalMs: 5 } });
  onTestFinished(async () => {
    await bridge.close();
    await served.close({ graceMs: 0 });
  });
  return bridge;
}

async function connected(servers: Record<string, Server>) {
  const aggregate = new Aggregate({ info: { name: 'all', version: '1' } });
  const members = Object.entries(servers).map(async ([name, server]) => ({
    name,
    service: await behindBridge(server),
    absence: () => undefined,
  }));
  aggregate.setMembers(await Promise.all(members));
  const capabilities = { ...WITH_TASKS, extensions: { [TASKS]: {} } };
  const peer = await connectTo(aggregate as unknown as Server, 'modern', { capabilities });
  onTestFinished(() => peer[Symbol.asyncDispose]());
  return peer;
}

it('a subscription reports tasks of several servers (TASK-M-060, TASK-M-063)', async () => {
  const { opened, open } = gate();
  const withTask = (name: string) => {
    const server = taskServer();
    server.tool('slow', { task: 'allowed' }, () => opened.then(() => `of ${name}`));
    return server;
  };
  const peer = await connected({ one: withTask('one'), two: withTask('two') });
  await peer.result('tools/list');
  const ids: string[] = [];
  for (const name of ['one__slow', 'two__slow']) ids.push(idOf(await peer.result('tools/call', { name })));
  void peer.request('subscriptions/listen', { notifications: { taskIds: [...ids, 'nope'] } }).catch(() => {});
  const pushed = () => peer.notifications.filter(({ method }) => method === 'notifications/tasks');
  await until('the present states', () => pushed().length === 2);
  expect(peer.notifications[0]).toMatchObject({
    method: 'notifications/subscriptions/acknowledged',
    params: { notifications: { taskIds: ids } },
  });
  open();
  const ends = () => pushed().filter(({ params }) => params?.['status'] === 'completed');
  await until('the ends', () => ends().length === 2);
  const texts = ends().map(({ params }) => [params?.['taskId'], JSON.stringify(params?.['result'])]);
  expect(Object.fromEntries(texts)).toEqual({
    [ids[0]!]: expect.stringContaining('of one'),
    [ids[1]!]: expect.stringContaining('of two'),
  });
});

it('a link in the result of a task has the address that the lists have', async () => {
  const withView = () => {
    const server = taskServer();
    server.resource('ui://view', { name: 'view' }, () => 'x');
    server.tool('draw', { task: 'allowed' }, () => ({
      content: [{ type: 'resource_link' as const, uri: 'ui://view', name: 'view' }],
    }));
    return server;
  };
  const peer = await connected({ one: withView(), two: withView() });
  await peer.result('tools/list');
  const { resources } = await peer.result('resources/list');
  expect((resources as { uri: string }[]).map(({ uri }) => uri)).toEqual(['ui://view', 'ui://two~/view']);
  const taskId = idOf(await peer.result('tools/call', { name: 'two__draw' }));
  const link = { content: [{ type: 'resource_link', uri: 'ui://two~/view', name: 'view' }] };
  void peer.request('subscriptions/listen', { notifications: { taskIds: [taskId] } }).catch(() => {});
  const end = await until('the end', () =>
    peer.notifications.find(({ params }) => params?.['status'] === 'completed'),
  );
  expect(end.params?.['result']).toMatchObject(link);
  expect((await peer.result('tasks/get', { taskId }))['result']).toMatchObject(link);
});
