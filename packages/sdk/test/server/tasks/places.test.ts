import { expect, it } from 'vitest';
import { FakeClock } from '../../../../../test/support/fake-clock.js';
import { memory, memoryTaskStore, type Server } from '../../../src/index.js';
import { openPeer, settle } from '../../support/server.js';
import { gate, idOf, taskServer, WITH_TASKS, waitFor } from '../../support/tasks.js';

const form = {
  message: 'Really?',
  requestedSchema: { type: 'object' as const, properties: { ok: { type: 'boolean' as const } } },
};

const peerOf = (server: Server, principal: string) =>
  openPeer(memory(server, undefined, { principal }), 'modern', { capabilities: WITH_TASKS });

it('tasks that wait for a person hold no places', async () => {
  const server = taskServer({ maxRunning: 4 });
  const { opened, open } = gate();
  server.tool('asks', { task: 'required' }, async (_args, ctx) => (await ctx.elicit(form)).action);
  server.tool('slow', { task: 'required' }, () => opened.then(() => 'done'));
  const ada = await peerOf(server, 'ada');
  const eve = await peerOf(server, 'eve');
  const start = async (peer: typeof ada, name: string) => idOf(await peer.result('tools/call', { name }));
  const waiting: string[] = [];
  for (let count = 0; count < 100; count += 1) {
    waiting.push(await start(eve, 'asks'));
    await waitFor(eve, waiting[count]!, 'input_required');
  }
  const running = await start(ada, 'slow');
  // What goes on is not refused, although it takes a place.
  const inputResponses = { 'elicitation-1': { action: 'decline' } };
  for (const taskId of waiting) await eve.result('tasks/update', { taskId, inputResponses });
  for (const taskId of waiting) await waitFor(eve, taskId, 'completed');
  open();
  await waitFor(ada, running, 'completed');
});

it('no client gets all places: the next one finds one', async () => {
  const server = taskServer({ maxRunning: 40, maxRunningPerClient: 40 });
  const { opened, open } = gate();
  server.tool('slow', { task: 'required' }, () => opened);
  const running: number[] = [];
  for (const name of ['ada', 'bob', 'cid', 'dan', 'eve']) {
    const peer = await peerOf(server, name);
    let count = 0;
    for (; count < 40; count += 1) {
      const answer = await peer.request('tools/call', { name: 'slow' });
      if (answer.kind === 'error') break;
    }
    running.push(count);
  }
  expect(running).toEqual([23, 10, 4, 2, 1]);
  open();
});

it('questions of one client have a share of the bytes; the question is refused to the handler', async () => {
  const server = taskServer({ maxBytes: 64_000 });
  const asked: string[] = [];
  server.tool('asks', { task: 'required' }, async (_args, ctx) => {
    const large = { ...form, message: 'm'.repeat(5000) };
    try {
      await ctx.elicit(large);
      asked.push('answered');
    } catch (error) {
      asked.push((error as Error).message);
    }
    return 'done';
  });
  const eve = await peerOf(server, 'eve');
  const ada = await peerOf(server, 'ada');
  const start = async (peer: typeof ada) => idOf(await peer.result('tools/call', { name: 'asks' }));
  const first = await start(eve);
  await waitFor(eve, first, 'input_required');
  await waitFor(eve, await start(eve), 'completed');
  expect(asked).toEqual(['The open questions of this client have too many bytes']);
  await waitFor(ada, await start(ada), 'input_required');
  // What is answered gives its room back.
  const inputResponses = { 'elicitation-1': { action: 'decline' } };
  await eve.result('tasks/update', { taskId: first, inputResponses });
  await waitFor(eve, first, 'completed');
  await waitFor(eve, await start(eve), 'input_required');
});

it('tasks that no client asks for are dropped after their time', async () => {
  const clock = new FakeClock();
  const store = memoryTaskStore();
  const server = taskServer({ clock, store, ttlMs: 60_000 });
  server.tool('quick', { task: 'allowed' }, () => 'done');
  const ada = await peerOf(server, 'ada');
  for (let count = 0; count < 50; count += 1) await ada.result('tools/call', { name: 'quick' });
  await settle();
  const limit = { tasks: 100, bytes: 1_000_000 };
  expect((await store.list('ada', undefined, limit)).records.length).toBe(50);
  clock.advance(75_000);
  await settle();
  expect((await store.list('ada', undefined, limit)).records).toEqual([]);
});

it('a handler that ignores its cancellation keeps its place for as long as it runs, and its task is cancelled', async () => {
  const clock = new FakeClock();
  const server = taskServer({ clock, maxRunningPerClient: 1 });
  const { opened, open } = gate();
  server.tool('deaf', { task: 'required' }, () => opened.then(() => 'late'));
  const ada = await peerOf(server, 'ada');
  const taskId = idOf(await ada.result('tools/call', { name: 'deaf' }));
  await ada.result('tasks/cancel', { taskId });
  await settle();
  clock.advance(5000);
  await waitFor(ada, taskId, 'cancelled');
  expect(await ada.error('tools/call', { name: 'deaf' })).toMatchObject({ data: { status: 429 } });
  open();
  await settle();
  expect(await ada.result('tasks/get', { taskId })).toMatchObject({ status: 'cancelled' });
  expect(await ada.result('tools/call', { name: 'deaf' })).toMatchObject({ resultType: 'task' });
});
