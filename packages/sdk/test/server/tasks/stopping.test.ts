import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../../../../../test/support/fake-clock.js';
import { eventually, until } from '../../../../../test/support/until.js';
import { connect, http, memoryTaskStore, serve, type TaskOptions } from '../../../src/index.js';
import { settle } from '../../support/server.js';
import { gate, taskServer } from '../../support/tasks.js';

const form = {
  message: 'Really?',
  requestedSchema: { type: 'object' as const, properties: { ok: { type: 'boolean' as const } } },
};

/** A server with a task that runs until `open` is called. */
async function running(tasks: TaskOptions, clock?: FakeClock) {
  const { opened, open } = gate();
  const server = taskServer(tasks);
  const reasons: unknown[] = [];
  server.tool('work', { task: 'allowed' }, async (_args, ctx) => {
    ctx.signal.addEventListener('abort', () => reasons.push((ctx.signal.reason as Error).message));
    await Promise.race([opened, new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))]);
    ctx.signal.throwIfAborted();
    return 'done';
  });
  server.tool('ask', { task: 'allowed' }, async (_args, ctx) => (await ctx.elicit(form)).action);
  const served = await serve(server, http({ port: 0 }), { ...(clock && { clock }) });
  onTestFinished(() => served.close({ graceMs: 0 }));
  const url = served.addresses[0]!;
  const client = await connect(http(url), {
    mode: 'modern',
    cache: false,
    answers: { elicit: () => ({ action: 'decline' }) },
  });
  onTestFinished(() => client.close());
  /** Begins to close the server, and waits until it takes no more connections. */
  const beginToClose = async (graceMs: number) => {
    const closing = served.close({ graceMs });
    await eventually(() => expect(fetch(url)).rejects.toThrow('fetch failed'));
    await settle();
    return { closing };
  };
  return { served, client, open, reasons, beginToClose };
}

describe('a server that is asked to end, whose store others can read,', () => {
  it('lets its tasks run on, and ends when they have ended', async () => {
    const store = memoryTaskStore();
    const { client, open, reasons, beginToClose } = await running({ store });
    const { id } = await client.startTask('work');
    const { closing } = await beginToClose(60_000);
    expect(await store.get(id!)).toMatchObject({ status: 'working' });
    open();
    await closing;
    expect(reasons).toEqual([]);
    expect(await store.get(id!)).toMatchObject({
      status: 'completed',
      outcome: { result: { content: [{ type: 'text', text: 'done' }] } },
    });
  });

  it('waits for no longer than the grace', async () => {
    const clock = new FakeClock();
    const store = memoryTaskStore();
    const { client, reasons, beginToClose } = await running({ store }, clock);
    const { id } = await client.startTask('work');
    const began = clock.now();
    const { closing } = await beginToClose(1000);
    await until('the task was told', () => {
      clock.advance(10);
      return reasons.length > 0;
    });
    expect(clock.now() - began).toBeGreaterThanOrEqual(1000);
    await closing;
    expect(reasons).toEqual(['the server stopped']);
    expect(await store.get(id!)).toMatchObject({
      status: 'failed',
      outcome: { error: { data: { reason: 'SERVER_ENDED' } } },
    });
  });

  it('waits no more when it is asked again', async () => {
    const { served, client, reasons, beginToClose } = await running({ store: memoryTaskStore() });
    await client.startTask('work');
    const { closing } = await beginToClose(60_000);
    expect(reasons).toEqual([]);
    await served.close({ graceMs: 0 });
    await closing;
    expect(reasons).toEqual(['the server stopped']);
  });

  it('does not wait for a person', async () => {
    const store = memoryTaskStore();
    const { served, client } = await running({ store });
    const task = await client.startTask('ask');
    await eventually(async () => expect((await task.get()).status).toBe('input_required'));
    await served.close({ graceMs: 60_000 });
    expect(await store.get(task.id!)).toMatchObject({ status: 'failed' });
  });
});

it('a server whose tasks end with it does not wait for them: no client could read their results', async () => {
  const { served, client, reasons } = await running({});
  await client.startTask('work');
  await served.close({ graceMs: 60_000 });
  expect(reasons).toEqual(['the server stopped']);
});
