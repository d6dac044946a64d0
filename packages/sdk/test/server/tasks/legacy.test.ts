import { describe, expect, it } from 'vitest';
import { until } from '../../../../../test/support/until.js';
import { memory, ProtocolError, serve } from '../../../src/index.js';
import { connectTo, openPeer, settle } from '../../support/server.js';
import { gate, idOf, RELATED, taskServer, waitFor } from '../../support/tasks.js';

const form = {
  message: 'Really?',
  requestedSchema: { type: 'object' as const, properties: { ok: { type: 'boolean' as const } } },
};

describe('a task of 2025-11-25', () => {
  it('is nested, begins as working, and tasks/result waits for its end (TASK-L-021 … TASK-L-025, TASK-L-040 … TASK-L-042)', async () => {
    const server = taskServer();
    const { opened, open } = gate();
    server.tool('slow', { task: 'allowed' }, () => opened.then(() => 'done'));
    await using peer = await connectTo(server, 'legacy');
    const created = await peer.result('tools/call', { name: 'slow', task: { ttl: 60_000 } });
    const taskId = idOf(created);
    const task = {
      taskId: expect.stringMatching(/^\w{32}$/),
      status: 'working',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      lastUpdatedAt: expect.any(String),
      ttl: expect.any(Number),
      pollInterval: 5,
    };
    expect(created).toEqual({ task });
    expect(await peer.result('tasks/get', { taskId })).toEqual(task);
    let isAnswered = false;
    const result = peer.result('tasks/result', { taskId, _meta: { [RELATED]: { taskId: 'other' } } });
    void result.then(() => {
      isAnswered = true;
    });
    await settle();
    expect(isAnswered).toBe(false);
    open();
    const expected = { content: [{ type: 'text', text: 'done' }], _meta: { [RELATED]: { taskId } } };
    expect(await result).toEqual(expected);
    expect(await peer.result('tasks/result', { taskId })).toEqual(expected);
    const ended = await peer.result('tasks/get', { taskId });
    expect(ended).toEqual({ ...task, status: 'completed' });
    expect(ended['ttl']).toBeGreaterThanOrEqual(60_000);
    await until('told of the end', () =>
      peer.notifications.some(
        ({ method, params }) => method === 'notifications/tasks/status' && params?.['status'] === 'completed',
      ),
    );
    for (const { params } of peer.notifications) expect(params?.['_meta']).toBeUndefined();
  });

  it('is announced, without the list if there is no principal (TASK-L-001, TASK-L-004, TASK-L-092)', async () => {
    const server = taskServer();
    server.tool('slow', { task: 'allowed' }, () => 'x');
    server.tool('only', { task: 'required' }, () => 'x');
    server.tool('none', {}, () => 'x');
    const link = memory();
    const served = await serve(server, link);
    const peer = await openPeer(link, 'legacy');
    const handshake = await openPeerHandshake(link);
    expect(handshake['capabilities']).toEqual({
      logging: {},
      tools: { listChanged: true },
      tasks: { cancel: {}, requests: { tools: { call: {} } } },
    });
    const { tools } = (await peer.result('tools/list')) as { tools: Record<string, unknown>[] };
    expect(tools.map(({ execution }) => execution)).toEqual([
      { taskSupport: 'optional' },
      { taskSupport: 'required' },
      undefined,
    ]);
    expect(await peer.error('tasks/list')).toMatchObject({ code: -32601 });
    expect(await peer.error('tasks/update', { taskId: 'x' })).toMatchObject({ code: -32601 });
    peer.close();
    await served.close({ graceMs: 0 });
  });

  it('is refused or demanded as the tool says (TASK-L-007, TASK-L-010, TASK-L-011)', async () => {
    const server = taskServer();
    server.tool('only', { task: 'required' }, () => 'x');
    server.tool('none', {}, () => 'plain');
    await using peer = await connectTo(server, 'legacy');
    expect(await peer.error('tools/call', { name: 'none', task: {} })).toMatchObject({ code: -32601 });
    expect(await peer.error('tools/call', { name: 'only' })).toMatchObject({ code: -32601 });
    for (const task of [1, { ttl: 'long' }, { ttl: -1 }]) {
      expect(await peer.error('tools/call', { name: 'only', task })).toMatchObject({ code: -32602 });
    }
    const taskless = taskServer();
    taskless.tool('none', {}, () => 'plain');
    await using other = await connectTo(taskless, 'legacy');
    expect(await other.result('tools/call', { name: 'none', task: {} })).toEqual({
      content: [{ type: 'text', text: 'plain' }],
    });
    expect(await other.error('tasks/get', { taskId: 'x' })).toMatchObject({ code: -32601 });
  });

  it('does not exist in earlier revisions, which are served plainly', async () => {
    const server = taskServer();
    server.tool('only', { task: 'required' }, () => 'plain');
    await using peer = await connectTo(server, 'legacy', { revision: '2025-06-18' });
    expect(await peer.result('tools/call', { name: 'only', task: {} })).toMatchObject({
      content: [{ text: 'plain' }],
    });
    expect(JSON.stringify(await peer.result('tools/list'))).not.toContain('execution');
    expect(await peer.error('tasks/get', { taskId: 'x' })).toMatchObject({ code: -32601 });
  });

  it('has failed if the tool reports an error, and gives the same error as the plain call (TASK-L-035, TASK-L-041)', async () => {
    const server = taskServer();
    server.tool('broken', { task: 'allowed' }, (_args, ctx) => {
      ctx.progress(1, 2, 'half');
      throw new Error('no luck');
    });
    server.tool('refused', { task: 'allowed' }, () => {
      throw new ProtocolError(-32077, 'no way', { why: 1 });
    });
    await using peer = await connectTo(server, 'legacy');
    const broken = idOf(await peer.result('tools/call', { name: 'broken', task: {} }));
    expect(await waitFor(peer, broken, 'failed')).toMatchObject({ statusMessage: 'no luck' });
    const { _meta, ...result } = await peer.result('tasks/result', { taskId: broken });
    expect(result).toEqual(await peer.result('tools/call', { name: 'broken' }));
    const refused = idOf(await peer.result('tools/call', { name: 'refused', task: {} }));
    expect(await waitFor(peer, refused, 'failed')).toMatchObject({ statusMessage: 'no way' });
    const error = { code: -32077, message: 'no way', data: { why: 1 } };
    expect(await peer.error('tasks/result', { taskId: refused })).toEqual(error);
    expect(await peer.error('tools/call', { name: 'refused' })).toEqual(error);
  });

  it('asks in the new session of a client whose old session has not ended, and there only', async () => {
    const server = taskServer();
    server.tool('ask', { task: 'allowed' }, async (_args, ctx) => (await ctx.elicit(form)).action);
    const link = memory();
    const served = await serve(server, link);
    const old = await openPeer(link, 'legacy');
    const taskId = idOf(await old.result('tools/call', { name: 'ask', task: {} }));
    void old.request('tasks/result', { taskId }).catch(() => {});
    const asked = await until('the question in the old session', () => old.questions[0]);
    const fresh = await openPeer(link, 'legacy');
    fresh.respond = () => ({ action: 'decline' });
    expect(await fresh.result('tasks/result', { taskId })).toMatchObject({ content: [{ text: 'decline' }] });
    expect(fresh.questions).toHaveLength(1);
    expect(old.questions).toHaveLength(1);
    await until('the question in the old session is withdrawn', () =>
      old.notifications.some(
        ({ method, params }) => method === 'notifications/cancelled' && params?.['requestId'] === asked.id,
      ),
    );
    await served.close({ graceMs: 0 });
  });

  it('asks with real requests that name it, also while the client only polls (TASK-L-032, TASK-L-033, TASK-L-050)', async () => {
    const server = taskServer();
    server.tool('ask', { task: 'allowed' }, async (_args, ctx) => {
      const { action } = await ctx.elicit(form);
      const { model } = await ctx.sample({ messages: [], maxTokens: 1 });
      const roots = await ctx.roots();
      return `${action} ${model} ${roots.length}`;
    });
    await using peer = await connectTo(server, 'legacy');
    const taskId = idOf(await peer.result('tools/call', { name: 'ask', task: {} }));
    await waitFor(peer, taskId, 'input_required');
    const question = await until('a question', () => peer.questions[0]);
    expect(question.method).toBe('elicitation/create');
    expect(question.params?.['_meta']).toMatchObject({ [RELATED]: { taskId } });
    peer.respond = ({ method }) =>
      method === 'roots/list'
        ? { roots: [{ uri: 'file:///' }] }
        : { role: 'assistant', content: { type: 'text', text: '' }, model: 'm' };
    peer.send({ jsonrpc: '2.0', id: question.id, result: { action: 'decline' } });
    expect(await peer.result('tasks/result', { taskId })).toMatchObject({
      content: [{ text: 'decline m 1' }],
    });
    expect(peer.questions.map(({ method }) => method)).toEqual([
      'elicitation/create',
      'sampling/createMessage',
      'roots/list',
    ]);
    for (const { params } of peer.questions) {
      expect(params?.['_meta']).toMatchObject({ [RELATED]: { taskId } });
    }
  });

  it('asks in another session if the one that started it has ended', async () => {
    const server = taskServer();
    server.tool('ask', { task: 'allowed' }, async (_args, ctx) => (await ctx.elicit(form)).action);
    const link = memory();
    const served = await serve(server, link);
    const first = await openPeer(link, 'legacy');
    const taskId = idOf(await first.result('tools/call', { name: 'ask', task: {} }));
    await until('a question', () => first.questions[0]);
    first.close();
    await first.closed;
    await settle();
    const second = await openPeer(link, 'legacy');
    second.respond = () => ({ action: 'decline' });
    expect(await second.result('tasks/result', { taskId })).toMatchObject({ content: [{ text: 'decline' }] });
    expect(second.questions[0]?.params?.['_meta']).toMatchObject({ [RELATED]: { taskId } });
    second.close();
    await served.close({ graceMs: 0 });
  });

  it('tells the handler that the client refused a question', async () => {
    const server = taskServer();
    server.tool('ask', { task: 'allowed' }, async (_args, ctx) => (await ctx.elicit(form)).action);
    await using peer = await connectTo(server, 'legacy');
    const taskId = idOf(await peer.result('tools/call', { name: 'ask', task: {} }));
    const { id } = await until('a question', () => peer.questions[0]);
    peer.send({ jsonrpc: '2.0', id, error: { code: -1, message: 'not now' } });
    expect(await peer.result('tasks/result', { taskId })).toMatchObject({
      isError: true,
      content: [{ text: 'The client refused elicitation/create: not now (-1)' }],
    });
  });

  it('goes on with the progress token and the log level of the call, and names itself (TASK-L-050, TASK-L-062, TASK-L-063)', async () => {
    const server = taskServer();
    let late = () => {};
    server.tool('steps', { task: 'allowed' }, (_args, ctx) => {
      ctx.progress(1, 2, 'half');
      ctx.log('error', 'broken');
      late = () => ctx.progress(2, 2, 'late');
      return 'x';
    });
    await using peer = await connectTo(server, 'legacy');
    const params = { name: 'steps', task: {}, _meta: { progressToken: 'p' } };
    const taskId = idOf(await peer.result('tools/call', params));
    await peer.result('tasks/result', { taskId });
    late();
    await settle();
    const related = { [RELATED]: { taskId } };
    const sent = peer.notifications.filter(({ method }) => method !== 'notifications/tasks/status');
    expect(sent.map(({ method, params: sentParams }) => ({ method, params: sentParams }))).toEqual([
      {
        method: 'notifications/progress',
        params: { progressToken: 'p', progress: 1, total: 2, message: 'half', _meta: related },
      },
      { method: 'notifications/message', params: { level: 'error', data: 'broken', _meta: related } },
    ]);
  });

  it('is cancelled before the answer, and stays so (TASK-L-081, TASK-L-082, TASK-L-083, TASK-L-043)', async () => {
    const server = taskServer();
    const { opened, open } = gate();
    let isAborted = false;
    server.tool('deaf', { task: 'allowed' }, async (_args, ctx) => {
      await opened;
      isAborted = ctx.signal.aborted;
      return 'too late';
    });
    await using peer = await connectTo(server, 'legacy');
    const taskId = idOf(await peer.result('tools/call', { name: 'deaf', task: {} }));
    const waiting = peer.error('tasks/result', { taskId });
    expect(await peer.result('tasks/cancel', { taskId })).toMatchObject({ taskId, status: 'cancelled' });
    expect(await waiting).toEqual({ code: -32603, message: 'The task was cancelled' });
    open();
    await until('the handler has ended', () => isAborted);
    await settle();
    expect(await peer.result('tasks/get', { taskId })).toMatchObject({ status: 'cancelled' });
    expect(await peer.error('tasks/cancel', { taskId })).toMatchObject({ code: -32602 });
  });

  it('goes on if the client gives up waiting for its result (TASK-L-037)', async () => {
    const server = taskServer();
    const { opened, open } = gate();
    server.tool('slow', { task: 'allowed' }, () => opened.then(() => 'done'));
    await using peer = await connectTo(server, 'legacy');
    const taskId = idOf(await peer.result('tools/call', { name: 'slow', task: {} }));
    const id = peer.nextId;
    void peer.request('tasks/result', { taskId }).catch(() => {});
    peer.notify('notifications/cancelled', { requestId: id });
    await settle();
    expect(await peer.result('tasks/get', { taskId })).toMatchObject({ status: 'working' });
    open();
    expect(await peer.result('tasks/result', { taskId })).toMatchObject({ content: [{ text: 'done' }] });
  });

  it('refuses unknown ids (TASK-L-090)', async () => {
    const server = taskServer();
    server.tool('slow', { task: 'allowed' }, () => 'x');
    await using peer = await connectTo(server, 'legacy');
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
      expect(await peer.error(method, { taskId: 'nope' })).toEqual({ code: -32602, message: 'Unknown task' });
    }
  });
});

async function openPeerHandshake(link: ReturnType<typeof memory>): Promise<Record<string, unknown>> {
  const connection = link.connect();
  const answer = new Promise<Record<string, unknown>>((resolve) => {
    connection.open({
      receive: (message) => message.kind === 'result' && resolve(message.result),
      inputEnded() {},
      drained() {},
    });
  });
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  };
  connection.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params } as never);
  const result = await answer;
  connection.close();
  return result;
}
