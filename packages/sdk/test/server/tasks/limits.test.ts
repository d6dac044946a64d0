import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../../test/support/fake-clock.js';
import { until } from '../../../../../test/support/until.js';
import { memory, memoryTaskStore, type Server, serve } from '../../../src/index.js';
import { ALL_CAPABILITIES, connectTo, openPeer, settle } from '../../support/server.js';
import { gate, idOf, RELATED, taskServer, WITH_TASKS, waitFor } from '../../support/tasks.js';

const form = {
  message: 'Really?',
  requestedSchema: { type: 'object' as const, properties: { ok: { type: 'boolean' as const } } },
};

const modern = { capabilities: WITH_TASKS };

function peerOf(server: Server, principal: string | undefined, era: 'legacy' | 'modern' = 'modern') {
  const link = memory(server, undefined, { principal });
  return openPeer(link, era, era === 'modern' ? modern : { capabilities: ALL_CAPABILITIES });
}

describe('the owner of a task', () => {
  it('alone sees it; to others it is unknown (TASK-L-091, TASK-M-063, TASK-M-081)', async () => {
    const server = taskServer();
    const { opened, open } = gate();
    server.tool('slow', { task: 'allowed' }, () => opened.then(() => 'secret'));
    const ada = await peerOf(server, 'ada');
    const taskId = idOf(await ada.result('tools/call', { name: 'slow' }));
    const unknown = { code: -32602, message: 'Unknown task' };
    for (const stranger of [await peerOf(server, 'eve'), await peerOf(server, undefined)]) {
      for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
        expect(await stranger.error(method, { taskId, inputResponses: {} })).toEqual(unknown);
      }
      void stranger.request('subscriptions/listen', { notifications: { taskIds: [taskId] } }).catch(() => {});
      const ack = await until('acknowledged', () => stranger.notifications[0]);
      expect(ack.params?.['notifications']).toEqual({});
    }
    const old = await peerOf(server, 'eve', 'legacy');
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
      expect(await old.error(method, { taskId })).toEqual(unknown);
    }
    // The same principal may use it in the other era, and in another session.
    const again = await peerOf(server, 'ada', 'legacy');
    expect(await again.result('tasks/get', { taskId })).toMatchObject({ status: 'working' });
    open();
    expect(await again.result('tasks/result', { taskId })).toMatchObject({ content: [{ text: 'secret' }] });
  });

  it('alone gets its progress and its questions, if another one uses the same progress token', async () => {
    const server = taskServer();
    server.tool('tells', { task: 'allowed' }, async ({ who }, ctx) => {
      ctx.progress(1, 2, `for ${who}`);
      await ctx.elicit({ ...form, message: `Really, ${who}?` });
      return `done ${who}`;
    });
    const peers = await Promise.all(['ada', 'eve'].map((who) => peerOf(server, who, 'legacy')));
    for (const peer of peers) peer.respond = () => ({ action: 'decline' });
    const ids = await Promise.all(
      ['ada', 'eve'].map(async (who, index) => {
        const call = { name: 'tells', arguments: { who }, task: {}, _meta: { progressToken: 'same' } };
        return idOf(await peers[index]!.result('tools/call', call));
      }),
    );
    for (const [index, who] of ['ada', 'eve'].entries()) {
      const peer = peers[index]!;
      const taskId = ids[index]!;
      expect(await peer.result('tasks/result', { taskId })).toMatchObject({
        content: [{ text: `done ${who}` }],
      });
      expect(peer.questions.map(({ params }) => params?.['message'])).toEqual([`Really, ${who}?`]);
      const told = peer.notifications.filter(({ method }) => method === 'notifications/progress');
      expect(told.map(({ params }) => params)).toMatchObject([
        { progressToken: 'same', message: `for ${who}`, _meta: { [RELATED]: { taskId } } },
      ]);
    }
  });

  it('may move to the modern era with its legacy tasks, if its requests declare the extension (TASK-M-010)', async () => {
    const server = taskServer();
    const { opened, open } = gate();
    server.tool('slow', { task: 'allowed' }, () => opened.then(() => 'done'));
    const old = await peerOf(server, 'ada', 'legacy');
    const taskId = idOf(await old.result('tools/call', { name: 'slow', task: {} }));
    const link = memory(server, undefined, { principal: 'ada' });
    const tasks = { requests: { tools: { call: {} } } };
    const legacyOnly = await openPeer(link, 'modern', { capabilities: { ...ALL_CAPABILITIES, tasks } });
    for (const method of ['tasks/get', 'tasks/cancel'])
      expect(await legacyOnly.error(method, { taskId })).toMatchObject({ code: -32021 });
    const ada = await peerOf(server, 'ada');
    expect(await ada.result('tasks/get', { taskId })).toMatchObject({ taskId, status: 'working' });
    open();
    expect(await waitFor(ada, taskId, 'completed')).toMatchObject({
      result: { content: [{ text: 'done' }] },
    });
  });

  it('finds all of its tasks in pages of tasks/list (TASK-L-070, TASK-L-072)', async () => {
    const server = taskServer({ maxRunning: 1000 });
    server.tool('quick', { task: 'allowed' }, () => 'x');
    const ada = await peerOf(server, 'ada', 'legacy');
    const eve = await peerOf(server, 'eve', 'legacy');
    const made = new Set<string>();
    for (let count = 0; count < 101; count += 1) {
      made.add(idOf(await ada.result('tools/call', { name: 'quick', task: {} })));
    }
    const first = await ada.result('tasks/list');
    const second = await ada.result('tasks/list', { cursor: first['nextCursor'] });
    const ids = [first, second].map(({ tasks }) =>
      (tasks as { taskId: string }[]).map(({ taskId }) => taskId),
    );
    expect(ids.map(({ length }) => length)).toEqual([100, 1]);
    expect(new Set(ids.flat())).toEqual(made);
    expect(second['nextCursor']).toBeUndefined();
    expect(await eve.result('tasks/list')).toEqual({ tasks: [] });
    for (const cursor of ['x', 7, '']) {
      expect(await ada.error('tasks/list', { cursor })).toMatchObject({ code: -32602 });
    }
  });
});

describe('how long a task is kept', () => {
  it('a running task is not lost, and its ttl grows with it (TASK-M-025, TASK-M-037)', async () => {
    const clock = new FakeClock();
    const server = taskServer({ clock, ttlMs: 60_000 });
    const { opened, open } = gate();
    server.tool('slow', { task: 'allowed' }, () => opened.then(() => 'done'));
    await using peer = await connectTo(server, 'modern', modern);
    const created = await peer.result('tools/call', { name: 'slow' });
    expect(created['ttlMs']).toBe(60_000);
    const taskId = idOf(created);
    clock.advance(600_000);
    expect(await peer.result('tasks/get', { taskId })).toMatchObject({ status: 'working', ttlMs: 660_000 });
    open();
    expect(await waitFor(peer, taskId, 'completed')).toMatchObject({ ttlMs: 660_000 });
    clock.advance(59_999);
    expect(await peer.result('tasks/get', { taskId })).toMatchObject({ status: 'completed', ttlMs: 660_000 });
    clock.advance(1);
    expect(await peer.error('tasks/get', { taskId })).toEqual({ code: -32602, message: 'Unknown task' });
  });

  it('a legacy client may ask for a ttl, within bounds (TASK-L-020, TASK-L-026)', async () => {
    const clock = new FakeClock();
    const server = taskServer({ clock, ttlMs: 60_000, maxTtlMs: 100_000 });
    const { opened, open } = gate();
    server.tool('slow', { task: 'allowed' }, () => opened);
    await using peer = await connectTo(server, 'legacy');
    const ttlOf = async (task: object) => {
      const created = await peer.result('tools/call', { name: 'slow', task });
      return (created['task'] as { ttl: number }).ttl;
    };
    expect(await ttlOf({})).toBe(60_000);
    expect(await ttlOf({ ttl: 70_000 })).toBe(70_000);
    expect(await ttlOf({ ttl: 7_000_000 })).toBe(100_000);
    expect(await ttlOf({ ttl: null })).toBe(100_000);
    expect(await ttlOf({ ttl: 1 })).toBe(5000);
    expect(await ttlOf({ ttl: 0 })).toBe(5000);
    expect(await ttlOf({ ttl: 60_000.4 })).toBe(60_000);
    expect(await ttlOf({ ttl: 1e308 })).toBe(100_000);
    for (const ttl of [-1, -1e308, '60000', true, [], {}]) {
      const task = { ttl };
      expect(await peer.error('tools/call', { name: 'slow', task })).toMatchObject({ code: -32602 });
    }
    open();
  });
});

describe('how many tasks run', () => {
  it('is bounded for each client: a plain result if the client takes one, and an error otherwise (TASK-L-093)', async () => {
    const server = taskServer({ maxRunning: 4, maxRunningPerClient: 1 });
    const { opened, open } = gate();
    server.tool('slow', { task: 'allowed' }, async (args) => {
      if (!args['quick']) await opened;
      return 'done';
    });
    server.tool('only', { task: 'required' }, () => 'done');
    const ada = await peerOf(server, 'ada');
    const eve = await peerOf(server, 'eve');
    const old = await peerOf(server, 'ada', 'legacy');
    const taskId = idOf(await ada.result('tools/call', { name: 'slow' }));
    const quick = { name: 'slow', arguments: { quick: true } };
    expect(await ada.result('tools/call', quick)).toMatchObject({ resultType: 'complete' });
    const busy = { code: -32603, data: { reason: 'BUSY', sent: 'no', status: 429, retryAfterMs: 1000 } };
    expect(await ada.error('tools/call', { name: 'only' })).toMatchObject(busy);
    expect(await old.error('tools/call', { ...quick, task: {} })).toMatchObject(busy);
    expect(await eve.result('tools/call', quick)).toMatchObject({ resultType: 'task' });
    open();
    await waitFor(ada, taskId, 'completed');
    expect(await ada.result('tools/call', quick)).toMatchObject({ resultType: 'task' });
  });

  it('is bounded by the store: if all that it keeps still run, a call stays plain, or is refused', async () => {
    const server = taskServer({ maxTasks: 2 });
    const { opened, open } = gate();
    server.tool('slow', { task: 'allowed' }, async (args) => {
      if (!args['quick']) await opened;
      return 'done';
    });
    server.tool('only', { task: 'required' }, () => 'done');
    const ada = await peerOf(server, 'ada');
    const eve = await peerOf(server, 'eve');
    const old = await peerOf(server, 'eve', 'legacy');
    const kept = idOf(await ada.result('tools/call', { name: 'slow' }));
    await ada.result('tools/call', { name: 'slow' });
    const quick = { name: 'slow', arguments: { quick: true } };
    expect(await eve.result('tools/call', quick)).toMatchObject({ resultType: 'complete' });
    const full = { code: -32603, data: { reason: 'BUSY', sent: 'no', status: 429 } };
    expect(await eve.error('tools/call', { name: 'only' })).toMatchObject(full);
    expect(await old.error('tools/call', { ...quick, task: {} })).toMatchObject(full);
    open();
    await waitFor(ada, kept, 'completed');
    expect(await eve.result('tools/call', quick)).toMatchObject({ resultType: 'task' });
  });

  it('is not what a subscription can name: 1,000 of them, and ids of 200 characters', async () => {
    const server = taskServer();
    server.tool('slow', { task: 'allowed' }, () => 'x');
    const peer = await peerOf(server, 'ada');
    const taskId = idOf(await peer.result('tools/call', { name: 'slow' }));
    const named = (count: number) => [
      taskId,
      ...Array.from({ length: count - 1 }, (_, index) => `x${index}`),
    ];
    for (const taskIds of [named(10_000), named(1001), Array(1001).fill(taskId)]) {
      expect(await peer.error('subscriptions/listen', { notifications: { taskIds } })).toMatchObject({
        message: expect.stringContaining('A subscription can name at most 1000 tasks'),
      });
    }
    const taskIds = [...named(999), 'x'.repeat(201)];
    void peer.request('subscriptions/listen', { notifications: { taskIds } }).catch(() => {});
    const ack = await until('acknowledged', () => peer.notifications[0]);
    expect(ack.params?.['notifications']).toEqual({ taskIds: [taskId] });
    expect(await peer.error('tasks/get', { taskId: 'x'.repeat(201) })).toEqual({
      code: -32602,
      message: 'Unknown task',
    });
  });

  it('and a result that is too large for the store fails its task', async () => {
    const server = taskServer({ maxBytes: 16_000 });
    server.tool('large', { task: 'allowed' }, () => '–'.repeat(500));
    await using peer = await connectTo(server, 'modern', modern);
    const taskId = idOf(await peer.result('tools/call', { name: 'large' }));
    expect(await waitFor(peer, taskId, 'failed')).toMatchObject({
      error: {
        code: -32603,
        message: 'The result has 1539 bytes, and the result of a task can have 1000',
      },
    });
  });
});

describe('servers that share a store', () => {
  it('answer, cancel and read tasks of each other', async () => {
    const store = memoryTaskStore();
    const servers = [taskServer({ store }), taskServer({ store })];
    for (const server of servers) {
      server.tool('ask', { task: 'allowed' }, async (_args, ctx) => (await ctx.elicit(form)).action);
    }
    await using one = await connectTo(servers[0]!, 'modern', modern);
    await using two = await connectTo(servers[1]!, 'modern', modern);
    const taskId = idOf(await one.result('tools/call', { name: 'ask' }));
    await waitFor(two, taskId, 'input_required');
    await two.result('tasks/update', { taskId, inputResponses: { 'elicitation-1': { action: 'decline' } } });
    expect(await waitFor(two, taskId, 'completed')).toMatchObject({
      result: { content: [{ text: 'decline' }] },
    });
    const other = idOf(await one.result('tools/call', { name: 'ask' }));
    await two.result('tasks/cancel', { taskId: other });
    expect(await waitFor(two, other, 'cancelled')).toMatchObject({ status: 'cancelled' });
  });

  it('see a task of a process that has ended as failed, and its late result changes nothing', async () => {
    const store = memoryTaskStore();
    const frozen = new FakeClock();
    const clock = new FakeClock();
    const { opened, open } = gate();
    const [first, second] = [taskServer({ store, clock: frozen }), taskServer({ store, clock })];
    let runs = 0;
    for (const server of [first, second]) {
      server.tool('slow', { task: 'allowed' }, () => {
        runs += 1;
        return opened.then(() => 'late');
      });
    }
    await using one = await connectTo(first, 'modern', modern);
    await using two = await connectTo(second, 'modern', modern);
    const taskId = idOf(await one.result('tools/call', { name: 'slow' }));
    clock.advance(14_999);
    expect(await two.result('tasks/get', { taskId })).toMatchObject({ status: 'working' });
    clock.advance(2);
    const failed = {
      status: 'failed',
      statusMessage: 'The server ended while it ran this task',
      error: {
        code: -32603,
        message: 'The server ended while it ran this task',
        data: { reason: 'SERVER_ENDED', sent: 'maybe' },
      },
    };
    expect(await two.result('tasks/get', { taskId })).toMatchObject(failed);
    open();
    await settle();
    expect(await two.result('tasks/get', { taskId })).toMatchObject(failed);
    expect(runs).toBe(1);
  });
});

describe('the end of a server', () => {
  it('aborts its tasks, and leaves them as failed', async () => {
    const store = memoryTaskStore();
    const server = taskServer({ store });
    let reason: unknown;
    server.tool('slow', { task: 'allowed' }, (_args, ctx) => {
      return new Promise<string>(() => {
        ctx.signal.addEventListener('abort', () => {
          reason = ctx.signal.reason;
        });
      });
    });
    const link = memory();
    const served = await serve(server, link);
    const peer = await openPeer(link, 'modern', modern);
    const taskId = idOf(await peer.result('tools/call', { name: 'slow' }));
    await served.close({ graceMs: 0 });
    expect(reason).toMatchObject({ code: 'CANCELLED', message: 'the server stopped' });
    expect(await store.get(taskId)).toMatchObject({ status: 'failed' });
  });
});

describe('what a task definition may say', () => {
  it('is checked', () => {
    const server = taskServer();
    const tool = (task: unknown) => () => server.tool('x', { task: task as 'never' }, () => 'x');
    expect(tool('maybe')).toThrow('task');
    expect(tool({ mode: 'never' })).toThrow(
      'tool x: task must be "never", "allowed", "required" or { mode: … }',
    );
    expect(tool({ mode: 'allowed', ttlMs: 0 })).toThrow('tool x: task.ttlMs must be a whole number, got 0');
    expect(() => taskServer({ maxTasks: 0.5 })).toThrow(
      'createServer: tasks.maxTasks must be a positive whole number, got 0.5',
    );
    expect(() => taskServer({ store: {} as never })).toThrow(
      'createServer: tasks.store must be a task store, got an object',
    );
  });
});
