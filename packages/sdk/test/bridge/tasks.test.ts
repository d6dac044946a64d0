import { describe, expect, it } from 'vitest';
import { bridgeTo, heardLater } from '../support/bridge/between.js';
import { CAPABILITIES, type Era, RELATED_TASK, SERVER_INFO } from '../support/bridge/frames.js';
import type { NearClient } from '../support/bridge/near.js';

const CAN_TASKS = { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } };
const TASKS = { 'io.modelcontextprotocol/tasks': {} };
const TOOL = { name: 'slow', inputSchema: { type: 'object' }, execution: { taskSupport: 'required' } };
const TASK = {
  taskId: 'task-1',
  status: 'working',
  createdAt: '2026-01-01T00:00:00Z',
  lastUpdatedAt: '2026-01-01T00:00:00Z',
  ttl: 60_000,
  pollInterval: 10,
};
const DONE = { content: [{ type: 'text', text: 'at last' }] };

describe.each(['modern', 'legacy'] as const)(
  'row 20: a tool that only runs as a task, for a %s client that asks for none',
  (era: Era) => {
    async function listed(capabilities: object = { roots: {} }) {
      const between = await bridgeTo('legacy', { capabilities: CAN_TASKS });
      const { near, far } = between;
      const client: NearClient =
        era === 'legacy' ? await near.legacy({ capabilities }) : near.modern({ capabilities });
      client.request('list', 'tools/list');
      const list = await far.next();
      list.on.answer(list, { tools: [TOOL] });
      const { execution, ...plain } = TOOL;
      expect((await client.next()).result.tools).toEqual([era === 'legacy' ? TOOL : plain]);
      return { ...between, client };
    }

    async function running() {
      const known = await listed();
      known.client.call(1, 'slow', { arguments: { n: 1 } });
      const start = await known.far.next();
      expect(start.params).toMatchObject({
        name: 'slow',
        arguments: { n: 1 },
        task: { ttl: expect.any(Number) },
      });
      start.on.answer(start, { task: TASK });
      const wait = await known.far.next();
      expect([wait.method, wait.params.taskId]).toEqual(['tasks/result', 'task-1']);
      return { ...known, wait };
    }

    it('is started as a task and waited for; its result is the result of the call (TASK-003, TASK-008)', async () => {
      const { client, far, wait } = await running();
      wait.on.answer(wait, { ...DONE, _meta: { [RELATED_TASK]: { taskId: 'task-1' }, 'a.b/c': 1 } });
      const { id, result } = await client.next();
      expect([id, result.content]).toEqual([1, DONE.content]);
      expect(result._meta).toEqual(
        era === 'modern' ? { 'a.b/c': 1, [SERVER_INFO]: { name: 'far', version: '9' } } : { 'a.b/c': 1 },
      );
      expect(await far.rest()).toEqual([]);
    });

    it('fails, and the error is the error of the call', async () => {
      const { client, wait } = await running();
      wait.on.refuse(wait, -32602, 'no such flight', { why: 'closed' });
      expect((await client.next()).error).toEqual({
        code: -32602,
        message: 'no such flight',
        data: { why: 'closed' },
      });
    });

    describe('whose result is refused with -32602 after the connection was lost,', () => {
      async function refused() {
        const known = await running();
        const { far, wait } = known;
        // The first loss is repeated at once, and concerns this request only.
        wait.on.vanish();
        (await far.next()).on.vanish();
        const again = await heardLater(known);
        expect([again.method, again.params.taskId]).toEqual(['tasks/result', 'task-1']);
        again.on.refuse(again, -32602, 'no such flight', { why: 'closed' });
        const look = await far.next();
        expect([look.method, look.params.taskId]).toEqual(['tasks/get', 'task-1']);
        return { ...known, look };
      }

      it('fails with this error if the server knows the task (TASK-L-041)', async () => {
        const { client, look } = await refused();
        look.on.answer(look, { ...TASK, status: 'failed' });
        expect((await client.next()).error).toEqual({
          code: -32602,
          message: 'no such flight',
          data: { why: 'closed' },
        });
      });

      it('fails with the lost connection if the server does not know the task', async () => {
        const { client, look } = await refused();
        look.on.refuse(look, -32602, 'Task not found');
        const { error } = await client.next();
        expect(error).toMatchObject({ code: -32603, data: { reason: 'CONNECTION_CLOSED', sent: 'maybe' } });
      });
    });

    it('asks while it runs: the client is asked as in any call (TASK-011)', async () => {
      const { client, far, wait } = await running();
      wait.on.ask('q', 'roots/list', { _meta: { [RELATED_TASK]: { taskId: 'task-1' } } });
      const asked = await client.next();
      if (asked.method) client.answer(asked, { roots: [] });
      else {
        const { inputRequests, requestState } = asked.result;
        const [key] = Object.keys(inputRequests) as [string];
        client.call(2, 'slow', {
          arguments: { n: 1 },
          requestState,
          inputResponses: { [key]: { roots: [] } },
        });
      }
      expect(await far.next()).toMatchObject({ id: 'q', result: { roots: [] } });
      wait.on.answer(wait, DONE);
      expect((await client.next()).result.content).toEqual(DONE.content);
    });

    it('is taken back: the task is cancelled over there (TASK-013)', async () => {
      const { client, far } = await running();
      client.cancel(1);
      const frames = await far.rest();
      const cancel = frames.find(({ method }) => method === 'tasks/cancel');
      expect(cancel?.params).toMatchObject({ taskId: 'task-1' });
      cancel!.on.answer(cancel!, { ...TASK, status: 'cancelled' });
      expect(await client.rest()).toEqual([]);
    });

    it('answers at once after all', async () => {
      const { client, far } = await listed();
      client.call(1, 'slow');
      const start = await far.next();
      start.on.answer(start, DONE);
      expect((await client.next()).result.content).toEqual(DONE.content);
      expect(await far.rest()).toEqual([]);
    });

    it('was never listed: the refusal of the server tells, and the call is made as a task (TASK-003)', async () => {
      const { near, far } = await bridgeTo('legacy', { capabilities: CAN_TASKS });
      const client = era === 'legacy' ? await near.legacy() : near.modern();
      client.call(1, 'slow');
      const plain = await far.next();
      expect(plain.params).not.toHaveProperty('task');
      plain.on.refuse(plain, -32601, 'Tool slow requires task augmentation');
      const start = await far.next();
      expect(start.params).toMatchObject({ name: 'slow', task: expect.anything() });
      start.on.answer(start, { task: TASK });
      const wait = await far.next();
      wait.on.answer(wait, DONE);
      expect((await client.next()).result.content).toEqual(DONE.content);
    });

    it('reports progress under the token of the call (PROG-011)', async () => {
      const { client, far } = await listed();
      client.call(1, 'slow', {}, { progressToken: 'mine' });
      const start = await far.next();
      const { progressToken } = start.params._meta;
      start.on.answer(start, { task: TASK });
      const wait = await far.next();
      wait.on.notify('notifications/progress', { progressToken, progress: 3 });
      expect((await client.next()).params).toEqual({ progressToken: 'mine', progress: 3 });
      wait.on.answer(wait, DONE);
      await client.next();
    });

    it('is left alone where the server has no tasks for tools (TASK-002)', async () => {
      const { near, far } = await bridgeTo('legacy', { capabilities: { tools: {} } });
      const client = era === 'legacy' ? await near.legacy() : near.modern();
      client.call(1, 'slow');
      const plain = await far.next();
      plain.on.refuse(plain, -32601, 'Unknown tool');
      expect((await client.next()).error).toMatchObject({ code: -32601, message: 'Unknown tool' });
      expect(await far.rest()).toEqual([]);
    });
  },
);

describe('row 21: tasks', () => {
  it('of a legacy server are announced in the form of each era (TASK-L-001, TASK-L-092, TASK-M-013)', async () => {
    const { near } = await bridgeTo('legacy', { capabilities: CAN_TASKS });
    const modern = near.modern();
    modern.request(1, 'server/discover');
    expect((await modern.next()).result.capabilities).toEqual({ tools: {}, extensions: TASKS });
    const legacy = near.raw();
    expect((await legacy.handshake('2025-11-25')).result.capabilities).toEqual(CAN_TASKS);
    const older = near.raw();
    expect((await older.handshake('2025-06-18')).result.capabilities).toEqual({ tools: {} });
  });

  it('are not announced for a server that has none, nor declared to it', async () => {
    for (const farEra of ['modern', 'legacy'] as const) {
      const { near, far } = await bridgeTo(farEra, { capabilities: { tools: {} } });
      const modern = near.modern({ capabilities: { extensions: TASKS } });
      modern.request('d', 'server/discover');
      expect((await modern.next()).result.capabilities).toEqual({ tools: {} });
      const legacy = await near.legacy({ capabilities: { tasks: { list: {} } } });
      for (const client of [modern, legacy]) {
        client.call(1, 'a');
        const call = await far.next();
        const told = JSON.stringify([call.params, call.on.opening!.params]);
        expect(told).not.toContain('tasks');
        call.on.answer(call, { resultType: 'complete', content: [] });
        await client.next();
      }
    }
  });

  it('of a legacy client are nothing that a modern server hears of (TASK-004)', async () => {
    const { near, far } = await bridgeTo('modern');
    const client = await near.legacy();
    client.call(1, 'a', { task: { ttl: 1000 } });
    const call = await far.next();
    expect(call.params).not.toHaveProperty('task');
    call.on.answer(call, { resultType: 'complete', content: [] });
    expect((await client.next()).result).toEqual({ content: [] });
  });

  it.each(['modern', 'legacy'] as const)(
    'of a server without tasks cannot be asked for by a %s client: there is no such method (ERR-014)',
    async (era) => {
      const { near, far } = await bridgeTo('legacy', { capabilities: { tools: {} } });
      const client: NearClient = era === 'legacy' ? await near.legacy() : near.modern();
      for (const method of ['tasks/list', 'tasks/get', 'tasks/result', 'tasks/cancel']) {
        client.request(method, method, { taskId: 'task-1' });
        expect((await client.next()).error).toMatchObject({ code: -32601 });
      }
      expect(await far.rest()).toEqual([]);
    },
  );

  it('of a legacy server are never listed by the bridge, so it reads no cursor of the server (TASK-L-071)', async () => {
    const capabilities = { ...CAN_TASKS, tasks: { ...CAN_TASKS.tasks, list: {} } };
    const { near, far } = await bridgeTo('legacy', { capabilities, foreign: /tasks\/list/ });
    const client = await near.legacy();
    client.request('list', 'tasks/list', { cursor: 'page 2' });
    expect(await client.next()).toMatchObject({ error: { code: -32601 } });
    expect(await far.rest()).toEqual([]);
  });

  it('of a modern server are declared for clients that take one, and for legacy clients (TASK-M-003)', async () => {
    const { near, far } = await bridgeTo('modern', { capabilities: { tools: {}, extensions: TASKS } });
    const declared = async (client: NearClient) => {
      client.call(1, 'a');
      const call = await far.next();
      call.on.answer(call, { resultType: 'complete', content: [] });
      await client.next();
      return call.params._meta[CAPABILITIES].extensions;
    };
    expect(await declared(near.modern({ capabilities: { extensions: TASKS } }))).toEqual(TASKS);
    expect(await declared(near.modern({ capabilities: {} }))).toBeUndefined();
    expect(await declared(await near.legacy())).toEqual(TASKS);
  });

  it('that a modern server makes although nobody declared them are an error (TASK-016)', async () => {
    const { near, far } = await bridgeTo('modern');
    const client = await near.legacy();
    client.call(1, 'a');
    const call = await far.next();
    call.on.answer(call, { resultType: 'task', taskId: 't', status: 'working', ttlMs: null });
    expect(await client.next()).toMatchObject({ id: 1, error: { code: -32603 } });
  });
});
