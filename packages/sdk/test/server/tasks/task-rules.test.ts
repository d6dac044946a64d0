import { describe, expect, it } from 'vitest';
import { connect, createServer, memory, memoryTaskStore, type TaskStore } from '../../../src/index.js';
import { connectTo } from '../../support/server.js';
import { gate, idOf, TASKS, taskServer, WITH_TASKS, waitFor } from '../../support/tasks.js';

const form = {
  message: 'Really?',
  requestedSchema: { type: 'object' as const, properties: { ok: { type: 'boolean' as const } } },
};
const modern = { capabilities: WITH_TASKS };

/** A store that notes each status that a task has had. */
function noting(): { readonly store: TaskStore; readonly seen: string[] } {
  const inner = memoryTaskStore();
  const seen: string[] = [];
  const note = (status: string) => {
    if (seen.at(-1) !== status) seen.push(status);
  };
  return {
    seen,
    store: {
      ...inner,
      async create(record, bounds) {
        note(record.status);
        return inner.create(record, bounds);
      },
      async replace(record, bounds) {
        const answer = await inner.replace(record, bounds);
        if (answer === 'replaced') note(record.status);
        return answer;
      },
    },
  };
}

/** Tools with the ends that a task can have. The last one goes on when it is told to. */
function serverWith(store: TaskStore) {
  const { opened, open } = gate();
  const server = taskServer({ store });
  server.tool('asks', { task: 'allowed' }, async (_args, ctx) => (await ctx.elicit(form)).action);
  server.tool('asks and fails', { task: 'allowed' }, async (_args, ctx) => {
    await ctx.elicit(form);
    throw new Error('no luck');
  });
  server.tool('late', { task: 'allowed' }, () => opened.then(() => 'too late'));
  return { server, open };
}

describe('the states of a task', () => {
  it('are working, input_required, working, and an end that stays (TASK-L-030, TASK-L-032)', async () => {
    const { store, seen } = noting();
    const { server } = serverWith(store);
    await using peer = await connectTo(server, 'legacy');
    peer.respond = () => ({ action: 'decline' });
    const taskId = idOf(await peer.result('tools/call', { name: 'asks', task: {} }));
    await peer.result('tasks/result', { taskId });
    expect(seen).toEqual(['working', 'input_required', 'working', 'completed']);
    const failing = idOf(await peer.result('tools/call', { name: 'asks and fails', task: {} }));
    await peer.result('tasks/result', { taskId: failing });
    // The result has an error of the tool, which a client of 2025-11-25 sees as failed.
    expect(seen.slice(4)).toEqual(['working', 'input_required', 'working', 'completed']);
    expect(await peer.result('tasks/get', { taskId: failing })).toMatchObject({ status: 'failed' });
  });

  it('do not change after the cancellation, whatever the work does later (TASK-L-030, TASK-L-083)', async () => {
    const { store, seen } = noting();
    const { server, open } = serverWith(store);
    await using peer = await connectTo(server, 'legacy');
    const taskId = idOf(await peer.result('tools/call', { name: 'late', task: {} }));
    await peer.result('tasks/cancel', { taskId });
    open();
    const other = idOf(await peer.result('tools/call', { name: 'late', task: {} }));
    await peer.result('tasks/result', { taskId: other });
    expect(seen).toEqual(['working', 'cancelled', 'working', 'completed']);
    expect(await peer.result('tasks/get', { taskId })).toMatchObject({ status: 'cancelled' });
  });
});

describe('what can be a task', () => {
  const withOthers = () => {
    const server = taskServer();
    server.tool('may', { task: { mode: 'allowed', start: 'handler' } }, async ({ long }, ctx) => {
      if (long) await ctx.startTask();
      return 'done';
    });
    server.prompt('p', {}, () => 'a prompt');
    server.resource('test://r', { name: 'r' }, () => 'a text');
    return server;
  };

  it('is what the capability names, and nothing else in 2025-11-25 (TASK-L-002, TASK-L-011)', async () => {
    await using client = await connect(memory(withOthers()), { mode: 'legacy', cache: false });
    expect(client.server.capabilities.tasks).toEqual({ cancel: {}, requests: { tools: { call: {} } } });
    const task = { ttl: 60_000 };
    for (const [method, params] of [
      ['prompts/get', { name: 'p' }],
      ['resources/read', { uri: 'test://r' }],
    ] as const) {
      expect(await client.request(method, { ...params, task })).toEqual(await client.request(method, params));
    }
  });

  it('is a call of a tool only, also for a client that declares the extension (TASK-M-008)', async () => {
    await using peer = await connectTo(withOthers(), 'modern', modern);
    const answers = [
      await peer.result('prompts/get', { name: 'p' }),
      await peer.result('resources/read', { uri: 'test://r' }),
      await peer.result('tools/list'),
    ];
    expect(answers.map(({ resultType, taskId }) => [resultType, taskId])).toEqual([
      ['complete', undefined],
      ['complete', undefined],
      ['complete', undefined],
    ]);
  });

  it('is decided for each call: the same tool answers with a task and without (TASK-M-002)', async () => {
    await using peer = await connectTo(withOthers(), 'modern', modern);
    const call = (long: boolean) => peer.result('tools/call', { name: 'may', arguments: { long } });
    expect(await call(true)).toMatchObject({ resultType: 'task', status: 'working' });
    expect(await call(false)).toMatchObject({ resultType: 'complete', content: [{ text: 'done' }] });
  });
});

describe('the names that belong to tasks (TASK-M-082)', () => {
  it.each(['tasks/get', 'tasks/own', 'notifications/tasks/own'])(
    'cannot be methods of a server: %s',
    (name) => {
      expect(() => taskServer().method(name, () => ({}))).toThrow(name);
    },
  );

  it('cannot be announced by hand', () => {
    const extensions = { [TASKS]: {} };
    expect(() => createServer({ name: 's', version: '1', extensions })).toThrow(TASKS);
  });

  it.each(['never', 'allowed'] as const)(
    'cannot be the type of the result of a handler, whose tool has task: %s',
    async (task) => {
      const server = taskServer();
      server.tool('real', { task: 'allowed' }, () => 'x');
      const forged = { resultType: 'task', taskId: 'forged', status: 'working', content: [] };
      server.tool('forges', { task: { mode: 'allowed', start: 'handler' } }, () => forged);
      server.tool('forges plainly', { task }, () => forged);
      await using peer = await connectTo(server, 'modern', modern);
      expect(await peer.result('tools/call', { name: 'forges' })).toMatchObject({ resultType: 'complete' });
      const answer = await peer.result('tools/call', { name: 'forges plainly' });
      if (task === 'never') expect(answer).toMatchObject({ resultType: 'complete' });
      else {
        const { result } = await waitFor(peer, idOf(answer), 'completed');
        expect(result).toMatchObject({ resultType: 'complete', content: [] });
      }
    },
  );
});
