import { describe, expect, it } from 'vitest';
import { until } from '../../../../test/support/until.js';
import {
  type Client,
  type ConnectOptions,
  connect,
  memory,
  type ProgressUpdate,
  ProtocolError,
  type Server,
  serve,
} from '../../src/index.js';
import { ERAS } from '../support/server.js';
import { gate, taskServer } from '../support/tasks.js';

const form = {
  message: 'Really?',
  requestedSchema: { type: 'object' as const, properties: { ok: { type: 'boolean' as const } } },
};

async function withClients(
  server: Server,
  mode: string,
  work: (open: (options?: ConnectOptions) => Promise<Client>) => Promise<void>,
): Promise<void> {
  const link = memory();
  const served = await serve(server, link);
  const clients: Client[] = [];
  try {
    await work(async (options) => {
      const client = await connect(link, { mode, cache: false, ...options });
      clients.push(client);
      return client;
    });
  } finally {
    await Promise.all(clients.map((client) => client.close()));
    await served.close({ graceMs: 0 });
  }
}

describe.each(ERAS)('tasks for a client of the %s era', (era) => {
  it('are waited for by callTool, with progress, questions and errors of the plain call (TASK-L-009, TASK-M-004)', async () => {
    const server = taskServer();
    const { opened, open } = gate();
    server.tool('only', { task: 'required' }, async (_args, ctx) => {
      ctx.progress(1, 2, 'asking');
      const { action } = await ctx.elicit(form);
      await opened;
      ctx.progress(2, 2, 'telling');
      return `answered ${action}`;
    });
    server.tool('refused', { task: 'required' }, () => {
      throw new ProtocolError(-32077, 'no way', { why: 1 });
    });
    server.tool('broken', { task: 'required' }, () => {
      throw new Error('no luck');
    });
    await withClients(server, era, async (connected) => {
      let questions = 0;
      const elicit = () => {
        questions += 1;
        open();
        return { action: 'decline' as const };
      };
      const client = await connected({ answers: { elicit } });
      const updates: ProgressUpdate[] = [];
      const result = await client.callTool('only', {}, { onProgress: (update) => updates.push(update) });
      expect(result).toEqual({ content: [{ type: 'text', text: 'answered decline' }] });
      expect(questions).toBe(1);
      // The last message comes with the end.
      if (era === 'modern')
        expect(updates.map(({ message }) => message)).toEqual(['1/2 asking', '2/2 telling']);
      await expect(client.callTool('refused')).rejects.toMatchObject({
        code: -32077,
        message: 'no way',
        data: { why: 1 },
      });
      expect(await client.callTool('broken')).toMatchObject({ isError: true });
      // The same after the client has learned of the tools.
      await client.listTools();
      expect(await client.callTool('broken')).toMatchObject({ isError: true });
    });
  });

  it('can be left, and found again by another client (TASK-M-036)', async () => {
    const server = taskServer();
    const { opened, open } = gate();
    server.tool('slow', { task: 'allowed' }, () => opened.then(() => 'done'));
    await withClients(server, era, async (connected) => {
      const first = await connected();
      const handle = await first.startTask('slow');
      expect(await handle.get()).toMatchObject({ id: handle.id, status: 'working', pollIntervalMs: 5 });
      await first.close();
      const again = (await connected()).task(handle.id!);
      const control = new AbortController();
      const left = again.result({ signal: control.signal });
      control.abort();
      await expect(left).rejects.toMatchObject({ code: 'CANCELLED' });
      await expect(again.result({ timeoutMs: 5 })).rejects.toMatchObject({ code: 'TIMED_OUT' });
      expect(await again.get()).toMatchObject({ status: 'working' });
      open();
      expect(await again.result()).toEqual({ content: [{ type: 'text', text: 'done' }] });
      expect(await again.get()).toMatchObject({ status: 'completed' });
      await again.cancel();
      await expect((await connected()).task('nope').result()).rejects.toMatchObject({ code: -32602 });
    });
  });

  it('are cancelled with the call that waits for them, and by their handle', async () => {
    const server = taskServer();
    let aborted = 0;
    server.tool('endless', { task: 'required' }, (_args, ctx) => {
      return new Promise((_resolve, reject) => {
        ctx.signal.addEventListener('abort', () => {
          aborted += 1;
          reject(ctx.signal.reason);
        });
      });
    });
    await withClients(server, era, async (connected) => {
      const client = await connected();
      const control = new AbortController();
      let isSeen = false;
      server.use((call, next) => {
        if (call.method === (era === 'modern' ? 'tasks/get' : 'tasks/result')) isSeen = true;
        return next();
      });
      const calling = client.callTool('endless', {}, { signal: control.signal });
      await until('the client waits', () => isSeen);
      control.abort();
      await expect(calling).rejects.toMatchObject({ code: 'CANCELLED' });
      await until('the handler is told', () => aborted === 1);
      const handle = await client.startTask('endless');
      await handle.cancel();
      await until('the handler is told', () => aborted === 2);
      await expect(handle.result()).rejects.toMatchObject({ code: -32603 });
    });
  });

  it('are not made by a server without them: the handle has the result', async () => {
    const server = taskServer();
    server.tool('plain', {}, () => 'at once');
    await withClients(server, era, async (connected) => {
      const handle = await (await connected()).startTask('plain');
      expect(handle.id).toBeUndefined();
      expect(await handle.result()).toMatchObject({ content: [{ type: 'text', text: 'at once' }] });
      await expect(handle.get()).rejects.toThrow('The server answered this call at once: there is no task');
    });
  });
});
