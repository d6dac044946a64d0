import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../../test/support/fake-clock.js';
import { eventually, until } from '../../../../../test/support/until.js';
import { memory, memoryTaskStore, serve, type TaskRecord, type TaskStore } from '../../../src/index.js';
import { resolveTasks } from '../../../src/server/tasks/options.js';
import { RunningTask, TASK_LEFT } from '../../../src/server/tasks/running-task.js';
import { connectTo, openPeer, settle } from '../../support/server.js';
import { recordOf } from '../../support/task-store-contract.js';
import { gate, idOf, taskServer, WITH_TASKS, waitFor } from '../../support/tasks.js';

const form = {
  message: 'Really?',
  requestedSchema: { type: 'object' as const, properties: { ok: { type: 'boolean' as const } } },
};
const modern = { capabilities: WITH_TASKS };
const accepted = { action: 'accept', content: { ok: true } };

/** A memory store whose methods can be replaced by a test. */
function storeWith(changes: (inner: TaskStore) => Partial<TaskStore>): TaskStore {
  const inner = memoryTaskStore();
  return { ...inner, ...changes(inner) };
}

describe('a call that is about to become a task', () => {
  it('asks in the task what it asks while the store writes the task (TASK-M-023)', async () => {
    const { opened, open } = gate();
    const creating = gate();
    const store = storeWith(({ create }) => ({
      async create(record, bounds) {
        creating.open();
        await opened;
        return create(record, bounds);
      },
    }));
    const server = taskServer({ store });
    server.tool('asks', { task: { mode: 'allowed', start: 'handler' } }, async (_args, ctx) => {
      const [, { action }] = await Promise.all([
        ctx.startTask(),
        creating.opened.then(() => ctx.elicit(form)),
      ]);
      return action;
    });
    await using peer = await connectTo(server, 'modern', modern);
    const answer = peer.result('tools/call', { name: 'asks' });
    await creating.opened;
    await settle();
    open();
    const created = await answer;
    expect(created).toMatchObject({ resultType: 'task', status: 'working' });
    const taskId = idOf(created);
    await waitFor(peer, taskId, 'input_required');
    await peer.result('tasks/update', { taskId, inputResponses: { 'elicitation-1': accepted } });
    expect(await waitFor(peer, taskId, 'completed')).toMatchObject({
      result: { content: [{ text: 'accept' }] },
    });
  });

  it('begins once, when the handler and the clock want it while a question is open', async () => {
    const clock = new FakeClock();
    const server = taskServer({ clock });
    server.tool('asks', { task: { mode: 'allowed', start: { afterMs: 100 } } }, async (_args, ctx) => {
      const [{ action }, id] = await Promise.all([ctx.elicit(form), ctx.startTask()]);
      return `${action} ${typeof id}`;
    });
    await using peer = await connectTo(server, 'modern', modern);
    const asked = await peer.result('tools/call', { name: 'asks' });
    expect(asked).toMatchObject({ resultType: 'input_required' });
    clock.advance(200);
    const { requestState, inputRequests } = asked as { requestState: string; inputRequests: object };
    const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, accepted]));
    const taskId = idOf(await peer.result('tools/call', { name: 'asks', requestState, inputResponses }));
    expect(await waitFor(peer, taskId, 'completed')).toMatchObject({
      result: { content: [{ text: 'accept string' }] },
    });
  });

  it('is answered plainly if the handler ends while a question is open', async () => {
    const server = taskServer();
    const { opened, open } = gate();
    server.tool('asks', { task: { mode: 'allowed', start: 'handler' } }, async (_args, ctx) => {
      void ctx.elicit(form).catch(() => {});
      void ctx.startTask().catch(() => {});
      await opened;
      return 'done';
    });
    await using peer = await connectTo(server, 'modern', modern);
    const first = await peer.result('tools/call', { name: 'asks' });
    expect(first).toMatchObject({ resultType: 'input_required' });
    open();
    await settle();
    const { requestState, inputRequests } = first as { requestState: string; inputRequests: object };
    const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, accepted]));
    const last = await peer.result('tools/call', { name: 'asks', requestState, inputResponses });
    expect(last).toMatchObject({ resultType: 'complete', content: [{ text: 'done' }] });
  });
});

describe('a store that fails', () => {
  /** A store that is away while `isAway`. */
  function flaky(state: { isAway: boolean }): TaskStore {
    return storeWith(({ get, replace }) => ({
      async get(id) {
        if (state.isAway) throw new Error('away');
        return get(id);
      },
      async replace(record, bounds) {
        if (state.isAway) throw new Error('away');
        return replace(record, bounds);
      },
    }));
  }

  it('for a moment loses no result', async () => {
    const clock = new FakeClock();
    const state = { isAway: false };
    const server = taskServer({ clock, store: flaky(state) });
    const { opened, open } = gate();
    server.tool('slow', { task: 'allowed' }, () => opened.then(() => 'done'));
    await using peer = await connectTo(server, 'modern', modern);
    const taskId = idOf(await peer.result('tools/call', { name: 'slow' }));
    state.isAway = true;
    open();
    await settle();
    expect(await peer.error('tasks/get', { taskId })).toMatchObject({ code: -32603 });
    clock.advance(100);
    await settle();
    state.isAway = false;
    clock.advance(200);
    expect(await waitFor(peer, taskId, 'completed')).toMatchObject({
      result: { content: [{ text: 'done' }] },
    });
  });

  it('for a minute costs the result, but the task ends all the same', async () => {
    const clock = new FakeClock();
    const state = { isAway: false };
    const server = taskServer({ clock, store: flaky(state) });
    const { opened, open } = gate();
    server.tool('slow', { task: 'allowed' }, () => opened.then(() => 'done'));
    await using peer = await connectTo(server, 'modern', modern);
    const taskId = idOf(await peer.result('tools/call', { name: 'slow' }));
    state.isAway = true;
    open();
    for (let seconds = 0; seconds < 120; seconds += 1) {
      await settle();
      clock.advance(1000);
    }
    state.isAway = false;
    clock.advance(20_000);
    expect(await waitFor(peer, taskId, 'failed')).toMatchObject({
      error: {
        code: -32603,
        message: 'The task has ended, and the store could not keep its result',
        data: { reason: 'NOT_STORED', sent: 'yes' },
      },
    });
  });

  it('does not hold up the end of the server for longer than 5 s', async () => {
    const clock = new FakeClock();
    const state = { isAway: false };
    const server = taskServer({ clock, store: flaky(state) });
    server.tool('slow', { task: 'allowed' }, () => new Promise<string>(() => {}));
    const link = memory();
    const served = await serve(server, link);
    const peer = await openPeer(link, 'modern', modern);
    await peer.result('tools/call', { name: 'slow' });
    state.isAway = true;
    let isClosed = false;
    const closing = served.close({ graceMs: 0 }).then(() => {
      isClosed = true;
    });
    await settle();
    clock.advance(4999);
    await settle();
    expect(isClosed).toBe(false);
    clock.advance(1);
    await closing;
  });

  it('and loses the message about a change hides it for no longer than a lease', async () => {
    const clock = new FakeClock();
    // Nothing is ever told, as when the connection for messages is lost.
    const store = storeWith(() => ({ watch: () => () => {} }));
    const server = taskServer({ clock, store, leaseMs: 1000 });
    server.tool('asks', { task: 'allowed' }, async (_args, ctx) => (await ctx.elicit(form)).action);
    await using peer = await connectTo(server, 'modern', modern);
    const taskId = idOf(await peer.result('tools/call', { name: 'asks' }));
    await waitFor(peer, taskId, 'input_required');
    await peer.result('tasks/update', { taskId, inputResponses: { 'elicitation-1': accepted } });
    await settle();
    expect(await peer.result('tasks/get', { taskId })).toMatchObject({ status: 'working' });
    clock.advance(1000);
    expect(await waitFor(peer, taskId, 'completed')).toMatchObject({
      result: { content: [{ text: 'accept' }] },
    });
  });
});

describe('a question of a legacy task', () => {
  it('is asked once, also by a request that read the task before the answer was written', async () => {
    let stale: TaskRecord | undefined;
    const held = gate();
    let holds = false;
    const store = storeWith(({ get }) => ({
      async get(id) {
        const record = await get(id);
        if (!holds || record?.status !== 'input_required' || stale) return record;
        stale = record;
        await held.opened;
        return record;
      },
    }));
    const server = taskServer({ store });
    const { opened, open } = gate();
    server.tool('asks', { task: 'allowed' }, async (_args, ctx) => {
      const { action } = await ctx.elicit(form);
      await opened;
      return action;
    });
    await using peer = await connectTo(server, 'legacy', { capabilities: { elicitation: {} } });
    await using other = await connectTo(server, 'legacy');
    const taskId = idOf(await peer.result('tools/call', { name: 'asks', task: {} }));
    await until('it is asked', () => peer.questions.length > 0);
    holds = true;
    const slow = other.result('tasks/get', { taskId });
    await until('the old state was read', () => stale);
    peer.send({ jsonrpc: '2.0', id: peer.questions[0]!.id, result: { action: 'decline' } });
    await until('the answer is written', async () => (await store.get(taskId))?.status === 'working');
    await settle();
    held.open();
    expect(await slow).toMatchObject({ status: 'input_required' });
    await settle();
    expect(peer.questions.length).toBe(1);
    open();
    expect(await peer.result('tasks/result', { taskId })).toMatchObject({ content: [{ text: 'decline' }] });
  });
});

it('a process that finds its task in another process leaves it: it writes nothing more, and answers no question', async () => {
  const store = memoryTaskStore();
  const settings = resolveTasks({ store });
  const context = {
    settings,
    messagePauseMs: () => 0,
    takeBytes: () => () => {},
    onWaiting: () => {},
    onState: () => {},
  };
  const record = recordOf('a', { worker: 'w1' });
  await store.create(record, settings.bounds);
  const task = new RunningTask(context, record);
  let isAnswered = false;
  const asked = task.ask({ method: 'elicitation/create', params: { mode: 'form', ...form } });
  asked.then(
    () => (isAnswered = true),
    () => (isAnswered = true),
  );
  const taken = async () => {
    const known = (await store.get('a'))!;
    const next = { ...known, worker: 'w2', questions: {}, status: 'working', revision: known.revision + 1 };
    return (await store.replace(next as TaskRecord, settings.bounds)) === 'replaced';
  };
  await eventually(async () => expect(await taken()).toBe(true));
  await until('the task is left', () => task.cancellation.aborted);
  expect(task.cancellation.reason).toBe(TASK_LEFT);
  const left = await store.get('a');
  task.say('still here');
  task.keep({ x: 1 });
  await task.finish({ result: { content: [] } });
  await settle();
  expect(await store.get('a')).toEqual(left);
  expect(left).toMatchObject({ status: 'working', worker: 'w2' });
  expect(isAnswered).toBe(false);
});
