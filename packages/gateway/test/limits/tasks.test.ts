import type { Server } from '@isthmus/sdk';
import { expect, it } from 'vitest';
import { until } from '../../../../test/support/until.js';
import { connectTo, settle } from '../../../sdk/test/support/server.js';
import { gate, idOf, taskServer, WITH_TASKS, waitFor } from '../../../sdk/test/support/tasks.js';
import { limitService, loadOf } from '../../src/limits/limit-service.js';

const form = {
  message: 'Really?',
  requestedSchema: { type: 'object' as const, properties: { ok: { type: 'boolean' as const } } },
};

function limited(tool: (server: Server) => void) {
  const server = taskServer();
  tool(server);
  server.tool('quick', {}, () => 'quick');
  // Limits around limits, as in a gateway with a rate for each caller.
  const inner = limitService(server, { server: 'x', limits: { maxConcurrent: 1 } });
  const service = limitService(inner, { server: 'x', limits: { maxConcurrentPerCaller: 5 } });
  return { inner, service: service as unknown as Server };
}

it('a call that has become a task counts until the task has ended', async () => {
  const { opened, open } = gate();
  const { inner, service } = limited((server) =>
    server.tool('slow', { task: 'allowed' }, () => opened.then(() => 'slow')),
  );
  await using peer = await connectTo(service, 'modern', { capabilities: WITH_TASKS });
  const taskId = idOf(await peer.result('tools/call', { name: 'slow' }));
  expect(loadOf(inner)).toMatchObject({ running: 1, waiting: 0 });
  const next = peer.result('tools/call', { name: 'quick' });
  await until('it waits', () => loadOf(inner)?.waiting === 1);
  open();
  expect(await next).toMatchObject({ content: [{ text: 'quick' }] });
  expect(await waitFor(peer, taskId, 'completed')).toMatchObject({ result: { content: [{ text: 'slow' }] } });
  await settle();
  expect(loadOf(inner)).toMatchObject({ running: 0, waiting: 0, asking: 0 });
});

it('a task that waits for a person leaves its place to others, and takes it again', async () => {
  const { opened, open } = gate();
  const { inner, service } = limited((server) =>
    server.tool('asks', { task: 'allowed' }, async (_args, ctx) => {
      await ctx.elicit(form);
      await opened;
      return 'asked';
    }),
  );
  await using peer = await connectTo(service, 'modern', { capabilities: WITH_TASKS });
  const taskId = idOf(await peer.result('tools/call', { name: 'asks' }));
  await waitFor(peer, taskId, 'input_required');
  expect(loadOf(inner)).toMatchObject({ running: 0, asking: 1 });
  expect(await peer.result('tools/call', { name: 'quick' })).toMatchObject({ content: [{ text: 'quick' }] });
  await peer.result('tasks/update', { taskId, inputResponses: { 'elicitation-1': { action: 'decline' } } });
  await until('it goes on', () => loadOf(inner)?.running === 1);
  open();
  await until('it has ended', () => loadOf(inner)?.running === 0);
  expect(await peer.result('tasks/get', { taskId })).toMatchObject({ status: 'completed' });
});

it('a task can be cancelled although all places are taken', async () => {
  const { inner, service } = limited((server) =>
    server.tool('slow', { task: 'allowed' }, (_args, ctx) => {
      return new Promise<string>((_resolve, reject) => {
        ctx.signal.addEventListener('abort', () => setImmediate(reject, new Error('aborted')));
      });
    }),
  );
  await using peer = await connectTo(service, 'modern', { capabilities: WITH_TASKS });
  const taskId = idOf(await peer.result('tools/call', { name: 'slow' }));
  const cancelled = peer.result('tasks/cancel', { taskId });
  await until('the place is free', () => loadOf(inner)?.running === 0);
  await cancelled;
  expect(await peer.result('tasks/get', { taskId })).toMatchObject({ status: 'cancelled' });
});
