import { describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../../../../test/support/until.js';
import {
  type Client,
  connect,
  createBridge,
  createServer,
  memory,
  ProtocolError,
  type Server,
  serve,
} from '../../src/index.js';
import type { JsonObject } from '../../src/wire/json-rpc.js';
import { connectTo, type RawPeer } from '../support/server.js';
import { gate, idOf, RELATED, taskServer, WITH_TASKS, waitFor } from '../support/tasks.js';

type Era = 'legacy' | 'modern';
const CELLS: [Era, Era][] = [
  ['modern', 'modern'],
  ['modern', 'legacy'],
  ['legacy', 'modern'],
  ['legacy', 'legacy'],
];
const FORM = {
  message: 'Which one?',
  requestedSchema: { type: 'object' as const, properties: { pick: { type: 'string' as const } } },
};
const BRIDGE_TASKS = { pollIntervalMs: 5 };

/** A client of one era before a server of another, with a bridge between them. */
async function through(
  server: Server,
  client: Era,
  upstream: Era,
  options: { readonly promoteAfterMs?: number } = {},
): Promise<RawPeer> {
  const link = memory();
  const served = await serve(server, link);
  const bridge = createBridge(link, { mode: upstream, cache: false, tasks: BRIDGE_TASKS, ...options });
  const peer = await connectTo(bridge as unknown as Server, client, {
    ...(client === 'modern' && { capabilities: WITH_TASKS }),
  });
  onTestFinished(async () => {
    await peer[Symbol.asyncDispose]();
    await bridge.close();
    await served.close({ graceMs: 0 });
  });
  // Clients read the list of tools first; a legacy client learns from it which tools run as tasks.
  await peer.result('tools/list');
  return peer;
}

/** Calls the tool so that it becomes a task, as clients of each era do. */
async function start(peer: RawPeer, name: string, args: JsonObject = {}): Promise<string> {
  const task = peer.era === 'legacy' ? { task: { ttl: 60_000 } } : {};
  const created = await peer.result('tools/call', { name, arguments: args, ...task });
  return idOf(created);
}

/** The result of the plain call, once the task has ended. */
async function resultOf(peer: RawPeer, taskId: string): Promise<JsonObject> {
  if (peer.era === 'legacy') return peer.result('tasks/result', { taskId });
  const { result } = await waitFor(peer, taskId, 'completed');
  return result as JsonObject;
}

describe.each(CELLS)('a task of a %s client at a %s server', (client, upstream) => {
  it('ends with the result, which the client polls for', async () => {
    const server = taskServer();
    const { opened, open } = gate();
    server.tool('slow', { task: 'allowed' }, () => opened.then(() => 'done'));
    const peer = await through(server, client, upstream);
    const taskId = await start(peer, 'slow');
    expect(await peer.result('tasks/get', { taskId })).toMatchObject({ taskId, status: 'working' });
    open();
    const expected = { content: [{ type: 'text', text: 'done' }] };
    expect(await resultOf(peer, taskId)).toMatchObject(
      client === 'legacy' ? { ...expected, _meta: { [RELATED]: { taskId } } } : expected,
    );
  });

  it('asks its own client, and the answer reaches the tool', async () => {
    const server = taskServer();
    server.tool('asks', { task: 'allowed' }, async (_args, ctx) => {
      // A task from the beginning: what is asked before belongs to the call.
      await ctx.startTask();
      const answer = await ctx.elicit(FORM);
      return `picked ${String(answer.action === 'accept' && answer.content?.['pick'])}`;
    });
    const peer = await through(server, client, upstream);
    peer.respond = () => ({ action: 'accept', content: { pick: 'B' } });
    const taskId = await start(peer, 'asks');
    if (client === 'modern') {
      const task = await waitFor(peer, taskId, 'input_required');
      const [[key, request]] = Object.entries(task['inputRequests'] as JsonObject) as [[string, JsonObject]];
      expect(request).toEqual({ method: 'elicitation/create', params: { mode: 'form', ...FORM } });
      const inputResponses = { [key]: { action: 'accept', content: { pick: 'B' } } };
      await peer.result('tasks/update', { taskId, inputResponses });
    }
    expect(await resultOf(peer, taskId)).toMatchObject({ content: [{ type: 'text', text: 'picked B' }] });
    if (client === 'legacy') {
      expect(peer.questions.map(({ params }) => params?.['_meta'])).toMatchObject([
        { [RELATED]: { taskId } },
      ]);
    }
  });

  it('is cancelled, and the tool is told', async () => {
    const server = taskServer();
    let isAborted = false;
    const begun = gate();
    server.tool('slow', { task: 'allowed' }, async (_args, ctx) => {
      await ctx.startTask();
      begun.open();
      await new Promise<void>((_resolve, reject) => {
        ctx.signal.addEventListener('abort', () => {
          isAborted = true;
          reject(new Error('aborted'));
        });
      });
    });
    const peer = await through(server, client, upstream);
    const taskId = await start(peer, 'slow');
    await begun.opened;
    const answer = await peer.result('tasks/cancel', { taskId });
    if (client === 'legacy') expect(answer).toMatchObject({ taskId, status: 'cancelled' });
    expect(await waitFor(peer, taskId, 'cancelled')).toMatchObject({ taskId, status: 'cancelled' });
    await until('the tool is told', () => isAborted);
  });

  it('fails with the error of the tool (TASK-L-041, TASK-M-031)', async () => {
    const server = taskServer();

    server.tool('broken', { task: 'allowed' }, async (_args, ctx) => {
      await ctx.startTask();
      throw new ProtocolError(-32602, 'no luck', { why: 'test' });
    });
    const peer = await through(server, client, upstream);
    const taskId = await start(peer, 'broken');
    const error = { code: -32602, message: 'no luck', data: { why: 'test' } };
    const failed = await waitFor(peer, taskId, 'failed');
    if (client === 'modern') expect(failed).toMatchObject({ status: 'failed', error });
    else expect(await peer.error('tasks/result', { taskId })).toEqual(error);
  });

  it('shows the messages of the tool as its status', async () => {
    const server = taskServer();
    const { opened, open } = gate();
    server.tool('talks', { task: 'allowed' }, async (_args, ctx) => {
      await ctx.startTask();
      ctx.progress(1, 2, 'half');
      await opened;
      return 'x';
    });
    const peer = await through(server, client, upstream);
    const taskId = await start(peer, 'talks');
    await until('the message is shown', async () =>
      String((await peer.result('tasks/get', { taskId }))['statusMessage']).includes('half'),
    );
    open();
    await resultOf(peer, taskId);
  });
});

describe.each(CELLS)('a task of a %s client that has left, at a %s server,', (era, upstream) => {
  /** Clients of one bridge, which is served all the time. */
  async function clientsOf(server: Server, options: { readonly promoteAfterMs?: number } = {}) {
    const [behind, front] = [memory(), memory()];
    const served = await serve(server, behind);
    const bridge = createBridge(behind, { mode: upstream, cache: false, tasks: BRIDGE_TASKS, ...options });
    const bridged = await serve(bridge, front);
    const clients: Client[] = [];
    onTestFinished(async () => {
      await Promise.all(clients.map((each) => each.close()));
      await bridged.close({ graceMs: 0 });
      await bridge.close();
      await served.close({ graceMs: 0 });
    });
    const connected = async () => {
      const elicit = () => ({ action: 'accept' as const, content: { pick: 'B' } });
      const client = await connect(front, { mode: era, cache: false, answers: { elicit } });
      clients.push(client);
      return client;
    };
    return { bridge, connected };
  }

  it('goes on: another client gets its questions and its result (TASK-L-091)', async () => {
    const server = taskServer();
    const begun = gate();
    const { opened, open } = gate();
    server.tool('asks', { task: 'allowed' }, async (_args, ctx) => {
      begun.open();
      await opened;
      const answer = await ctx.elicit(FORM);
      return `picked ${String(answer.action === 'accept' && answer.content?.['pick'])}`;
    });
    const { bridge, connected } = await clientsOf(server);
    const first = await connected();
    const { id } = await first.startTask('asks');
    await begun.opened;
    await first.close();
    const second = await connected();
    const task = second.task(id!);
    expect(await task.get()).toMatchObject({ id, status: 'working' });
    open();
    expect(await task.result()).toMatchObject({ content: [{ text: 'picked B' }] });
    // The session with the server is not kept for longer.
    await until('one session is left', () => bridge.upstreamSessions <= 1);
  });

  it('can be cancelled by another client', async () => {
    const server = taskServer();
    const begun = gate();
    const told = gate();
    server.tool('slow', { task: 'allowed' }, (_args, ctx) => {
      begun.open();
      return new Promise<never>((_resolve, reject) => {
        ctx.signal.addEventListener('abort', () => {
          told.open();
          reject(new Error('aborted'));
        });
      });
    });
    const { connected } = await clientsOf(server);
    const first = await connected();
    const { id } = await first.startTask('slow');
    await begun.opened;
    await first.close();
    const task = (await connected()).task(id!);
    await task.cancel();
    await told.opened;
    await until('it is cancelled', async () => (await task.get()).status === 'cancelled');
  });

  it('goes on if it is a long call of a server without tasks', async () => {
    const server = createServer({ name: 'old', version: '1' });
    const begun = gate();
    const { opened, open } = gate();
    server.tool('slow', {}, () => {
      begun.open();
      return opened.then(() => 'done');
    });
    const { connected } = await clientsOf(server, { promoteAfterMs: 1 });
    const first = await connected();
    const { id } = await first.startTask('slow');
    await begun.opened;
    await first.close();
    const task = (await connected()).task(id!);
    expect(await task.get()).toMatchObject({ status: 'working' });
    open();
    expect(await task.result()).toMatchObject({ content: [{ text: 'done' }] });
  });
});

describe.each(['modern', 'legacy'] as const)(
  'a task of a modern server, for a %s client without tasks',
  (era) => {
    it('is waited for, and its result is the result of the call', async () => {
      const server = taskServer();
      server.tool('either', { task: 'allowed' }, () => 'done');
      const peer = await through(server, era === 'legacy' ? 'legacy' : 'modern', 'modern');
      const meta = { 'io.modelcontextprotocol/clientCapabilities': {} };
      const answer = await peer.request('tools/call', { name: 'either' }, era === 'modern' ? meta : {});
      expect(answer).toMatchObject({ kind: 'result', result: { content: [{ type: 'text', text: 'done' }] } });
    });
  },
);

describe('promotion: a long call of a server without tasks', () => {
  function slowServer() {
    const { opened, open } = gate();
    const server = createServer({ name: 'old', version: '1' });
    server.tool('slow', {}, async (_args, ctx) => {
      ctx.progress(1, undefined, 'reading');
      await opened;
      return 'done';
    });
    server.tool('quick', {}, () => 'at once');
    return { server, open };
  }

  it.each(['modern', 'legacy'] as const)(
    'becomes a task for a modern client at a %s server',
    async (upstream) => {
      const { server, open } = slowServer();
      const peer = await through(server, 'modern', upstream, { promoteAfterMs: 20 });
      const taskId = await start(peer, 'slow');
      expect(await peer.result('tasks/get', { taskId })).toMatchObject({ status: 'working' });
      open();
      expect(await resultOf(peer, taskId)).toMatchObject({ content: [{ type: 'text', text: 'done' }] });
    },
  );

  it('becomes a task for a legacy client that asks for one', async () => {
    const { server, open } = slowServer();
    const peer = await through(server, 'legacy', 'legacy', { promoteAfterMs: 60_000 });
    const { tools } = await peer.result('tools/list');
    expect(tools).toMatchObject([
      { name: 'slow', execution: { taskSupport: 'optional' } },
      { name: 'quick', execution: { taskSupport: 'optional' } },
    ]);
    const taskId = await start(peer, 'slow');
    open();
    expect(await resultOf(peer, taskId)).toMatchObject({ content: [{ type: 'text', text: 'done' }] });
  });

  it('stays a call if it ends in time', async () => {
    const { server } = slowServer();
    const peer = await through(server, 'modern', 'legacy', { promoteAfterMs: 60_000 });
    expect(await peer.result('tools/call', { name: 'quick' })).toMatchObject({
      resultType: 'complete',
      content: [{ type: 'text', text: 'at once' }],
    });
  });
});
