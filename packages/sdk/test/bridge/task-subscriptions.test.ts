import { describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../../../../test/support/until.js';
import { createBridge, memory, type Server, serve } from '../../src/index.js';
import { bridgeTo } from '../support/bridge/between.js';
import { SUBSCRIPTION_ID } from '../support/bridge/frames.js';
import { connectTo } from '../support/server.js';
import { gate, idOf, TASKS, taskServer, WITH_TASKS } from '../support/tasks.js';

const EXTENSION = { [TASKS]: {} };
const TASK = {
  resultType: 'task',
  taskId: 'far-1',
  status: 'working',
  createdAt: '2026-01-01T00:00:00Z',
  lastUpdatedAt: '2026-01-01T00:00:00Z',
  ttlMs: 60_000,
  pollIntervalMs: 100,
};

describe.each(['modern', 'legacy'] as const)('a subscription to tasks of a bridge to a %s server', (mode) => {
  it('is acknowledged for known tasks, and pushes their states (TASK-M-060, TASK-M-063, TASK-M-064)', async () => {
    const server = taskServer();
    const { opened, open } = gate();
    server.tool('slow', { task: 'allowed' }, () => opened.then(() => 'done'));
    const link = memory();
    const served = await serve(server, link);
    const bridge = createBridge(link, { mode, cache: false, tasks: { pollIntervalMs: 5 } });
    const peer = await connectTo(bridge as unknown as Server, 'modern', { capabilities: WITH_TASKS });
    onTestFinished(async () => {
      await peer[Symbol.asyncDispose]();
      await bridge.close();
      await served.close({ graceMs: 0 });
    });
    await peer.result('tools/list');
    const taskId = idOf(await peer.result('tools/call', { name: 'slow' }));
    const listen = peer.nextId;
    const notifications = { taskIds: ['nope', taskId], toolsListChanged: true };
    void peer.request('subscriptions/listen', { notifications }).catch(() => {});
    const pushed = () => peer.notifications.filter(({ method }) => method === 'notifications/tasks');
    await until('the present state', () => pushed().length === 1);
    expect(peer.notifications[0]).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { taskIds: [taskId], toolsListChanged: true } },
    });
    server.tool('new', {}, () => 'new');
    await until('the change of the list', () =>
      peer.notifications.some(({ method }) => method === 'notifications/tools/list_changed'),
    );
    open();
    await until('the end', () => pushed().some(({ params }) => params?.['status'] === 'completed'));
    const { _meta, resultType, ...got } = await peer.result('tasks/get', { taskId });
    expect(pushed()[0]!.params).toMatchObject({ taskId, status: 'working' });
    expect(pushed().at(-1)!.params).toEqual({ ...got, _meta: { [SUBSCRIPTION_ID]: listen } });
    expect(got['result']).toMatchObject({ content: [{ type: 'text', text: 'done' }] });
  });
});

describe('the server of a bridge', () => {
  const capabilities = { tools: { listChanged: true }, extensions: EXTENSION };

  it('is not told of the ids of the tasks, which are those of the bridge', async () => {
    const { near, far } = await bridgeTo('modern', { capabilities, foreign: /task/i });
    const client = near.modern({ capabilities: { extensions: EXTENSION } });
    client.call(1, 'slow');
    const call = await far.next();
    call.on.answer(call, TASK);
    const { taskId } = (await client.next()).result;
    expect(taskId).not.toBe('far-1');
    client.request('tasks', 'subscriptions/listen', { notifications: { taskIds: [taskId] } });
    expect((await client.next()).params.notifications).toEqual({ taskIds: [taskId] });
    expect((await client.next()).params).toMatchObject({ taskId, status: 'working' });
    const notifications = { taskIds: [taskId], toolsListChanged: true };
    client.request('both', 'subscriptions/listen', { notifications });
    const listen = await far.next();
    expect([listen.method, listen.params.notifications]).toEqual([
      'subscriptions/listen',
      { toolsListChanged: true },
    ]);
    listen.on.acknowledge(listen);
    expect((await client.next()).params.notifications).toEqual(notifications);
    expect((await client.next()).params).toMatchObject({ taskId, status: 'working' });
    const meta = { 'io.modelcontextprotocol/relatedTaskIds': [taskId], 'a.b/c': 1 };
    client.request('named', 'tools/list', {}, meta);
    const { params, on } = await far.next();
    expect(params._meta).toMatchObject({ 'a.b/c': 1 });
    expect(JSON.stringify(params)).not.toContain(taskId);
    expect(on.frames.map(({ message }) => JSON.stringify(message)).join()).not.toContain(taskId);
  });
});
