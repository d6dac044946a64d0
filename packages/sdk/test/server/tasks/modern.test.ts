import { describe, expect, it } from 'vitest';
import { inputRequired, memory, ProtocolError, serve } from '../../../src/index.js';
import { ALL_CAPABILITIES, connectTo, openPeer, settle } from '../../support/server.js';
import { gate, idOf, TASKS, taskServer, WITH_TASKS, waitFor } from '../../support/tasks.js';

const form = {
  message: 'Really?',
  requestedSchema: { type: 'object' as const, properties: { ok: { type: 'boolean' as const } } },
};
const missing = {
  code: -32021,
  message: `This request needs the client extension ${TASKS}`,
  data: { requiredCapabilities: { extensions: { [TASKS]: {} } } },
};

describe('a task of the modern era', () => {
  it('is a flat result, can be read at once, and ends with the result inside (TASK-M-020, TASK-M-021, TASK-M-033)', async () => {
    const server = taskServer();
    const { opened, open } = gate();
    server.tool('slow', { task: 'allowed' }, async () => {
      await opened;
      return 'done';
    });
    await using peer = await connectTo(server, 'modern', { capabilities: WITH_TASKS });
    const created = await peer.result('tools/call', { name: 'slow' });
    const taskId = idOf(created);
    expect(created).toEqual({
      resultType: 'task',
      taskId: expect.stringMatching(/^\w{32}$/),
      status: 'working',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      lastUpdatedAt: created['createdAt'],
      ttlMs: 3_600_000,
      pollIntervalMs: 5,
      _meta: expect.anything(),
    });
    const { _meta, ...seen } = await peer.result('tasks/get', { taskId });
    expect(seen).toMatchObject({ resultType: 'complete', taskId, status: 'working' });
    expect(Object.keys(seen)).not.toContain('result');
    open();
    expect(await waitFor(peer, taskId, 'completed')).toMatchObject({
      resultType: 'complete',
      status: 'completed',
      result: { resultType: 'complete', content: [{ type: 'text', text: 'done' }] },
    });
  });

  it('is given only to a request that declares the extension (TASK-M-003, TASK-M-006, TASK-M-007, TASK-M-012)', async () => {
    const server = taskServer();
    server.tool('either', { task: 'allowed' }, () => 'plain');
    server.tool('only', { task: 'required' }, () => 'never');
    server.tool('none', { task: 'never' }, () => 'plain');
    await using peer = await connectTo(server, 'modern', { capabilities: ALL_CAPABILITIES });
    expect(await peer.result('tools/call', { name: 'either', task: {} })).toMatchObject({
      resultType: 'complete',
      content: [{ type: 'text', text: 'plain' }],
    });
    expect(await peer.error('tools/call', { name: 'only' })).toEqual(missing);
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      expect(await peer.error(method, { taskId: 'gate-test', inputResponses: {} })).toEqual(missing);
    }
    expect(await peer.error('subscriptions/listen', { notifications: { taskIds: ['x'] } })).toEqual(missing);
    // The extension counts in the request that declares it, and not in the next one.
    const declared = { 'io.modelcontextprotocol/clientCapabilities': WITH_TASKS };
    const made = await peer.request('tools/call', { name: 'either' }, declared);
    expect(made).toMatchObject({ kind: 'result', result: { resultType: 'task' } });
    expect(await peer.result('tools/call', { name: 'either' })).toMatchObject({ resultType: 'complete' });
  });

  it('is announced as an extension, and the legacy capability and methods are not there (TASK-M-011, TASK-M-013)', async () => {
    const server = taskServer();
    server.tool('slow', { task: 'allowed' }, () => 'x');
    await using peer = await connectTo(server, 'modern', { capabilities: WITH_TASKS });
    const { capabilities } = await peer.result('server/discover');
    expect(capabilities).toEqual({ logging: {}, tools: { listChanged: true }, extensions: { [TASKS]: {} } });
    expect(await peer.result('tools/list')).toMatchObject({
      tools: [{ name: 'slow', inputSchema: { type: 'object' } }],
    });
    expect(JSON.stringify(await peer.result('tools/list'))).not.toContain('execution');
    for (const method of ['tasks/result', 'tasks/list']) {
      expect(await peer.error(method, { taskId: 'x' })).toMatchObject({ code: -32601 });
    }
  });

  it('is completed if the tool reports an error, and failed after an error of the protocol (TASK-M-030)', async () => {
    const server = taskServer();
    server.tool('broken', { task: 'required' }, () => {
      throw new Error('no luck');
    });
    server.tool('refused', { task: 'required' }, () => {
      throw new ProtocolError(-32042, 'no way', { why: 1 });
    });
    await using peer = await connectTo(server, 'modern', { capabilities: WITH_TASKS });
    const broken = idOf(await peer.result('tools/call', { name: 'broken' }));
    const refused = idOf(await peer.result('tools/call', { name: 'refused' }));
    expect(await waitFor(peer, broken, 'completed', 'failed')).toMatchObject({
      status: 'completed',
      result: { isError: true, content: [{ type: 'text', text: 'no luck' }] },
    });
    const failed = await waitFor(peer, refused, 'completed', 'failed');
    expect(failed).toMatchObject({
      status: 'failed',
      statusMessage: 'no way',
      error: { code: -32603, message: 'no way', data: { why: 1 } },
    });
    expect(Object.keys(failed)).not.toContain('result');
  });

  it('asks with keys that are never used again, and goes on with each answer (TASK-M-032, TASK-M-040, TASK-M-044 … TASK-M-046, TASK-M-048)', async () => {
    const server = taskServer();
    server.tool('ask', { task: 'allowed' }, async (_args, ctx) => {
      const both = await Promise.all([ctx.elicit(form), ctx.elicit(form)]);
      const third = await ctx.elicit(form);
      return JSON.stringify([...both, third].map(({ action }) => action));
    });
    await using peer = await connectTo(server, 'modern', { capabilities: WITH_TASKS });
    const taskId = idOf(await peer.result('tools/call', { name: 'ask' }));
    const asked = await waitFor(peer, taskId, 'input_required');
    const question = { method: 'elicitation/create', params: { mode: 'form', ...form } };
    expect(asked['inputRequests']).toEqual({ 'elicitation-1': question, 'elicitation-2': question });

    const update = (inputResponses: unknown) => ({ taskId, inputResponses });
    expect(await peer.error('tasks/update', update(undefined))).toMatchObject({ code: -32602 });
    expect(await peer.error('tasks/update', update({ 'elicitation-1': 1 }))).toMatchObject({ code: -32602 });
    expect(await peer.error('tasks/update', update({ 'elicitation-1': { action: 'x' } }))).toMatchObject({
      code: -32602,
      message: 'The answer to elicitation-1 (elicitation/create) needs "action": accept, decline or cancel',
    });
    const ack = await peer.result(
      'tasks/update',
      update({ 'elicitation-1': { action: 'decline' }, stranger: { ignored: true } }),
    );
    expect(Object.keys(ack).sort()).toEqual(['_meta', 'resultType']);
    const rest = await peer.result('tasks/get', { taskId });
    expect(rest['status']).toBe('input_required');
    expect(Object.keys(rest['inputRequests'] as object)).toEqual(['elicitation-2']);
    await peer.result('tasks/update', update({ 'elicitation-2': { action: 'cancel' } }));
    const last = await waitFor(peer, taskId, 'input_required');
    expect(Object.keys(last['inputRequests'] as object)).toEqual(['elicitation-3']);
    await peer.result('tasks/update', update({ 'elicitation-1': { action: 'accept', content: {} } }));
    expect(await peer.result('tasks/get', { taskId })).toMatchObject({ status: 'input_required' });
    await peer.result('tasks/update', update({ 'elicitation-3': { action: 'accept', content: {} } }));
    expect(await waitFor(peer, taskId, 'completed')).toMatchObject({
      result: { content: [{ text: '["decline","cancel","accept"]' }] },
    });
  });

  it('asks only what the call declared (TASK-M-047)', async () => {
    const server = taskServer();
    server.tool('ask', { task: 'allowed' }, async (_args, ctx) => (await ctx.elicit(form)).action);
    await using peer = await connectTo(server, 'modern', { capabilities: { extensions: { [TASKS]: {} } } });
    const taskId = idOf(await peer.result('tools/call', { name: 'ask' }));
    expect(await waitFor(peer, taskId, 'completed', 'failed')).toMatchObject({
      status: 'failed',
      error: { code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } },
    });
  });

  it('runs a replaying handler again with the answers', async () => {
    const server = taskServer();
    server.tool('replay', { task: 'allowed' }, (_args, ctx) => {
      if (!ctx.answers)
        return inputRequired({
          requests: { name: { method: 'elicitation/create', params: { mode: 'form', ...form } } },
          state: 7,
        });
      return JSON.stringify([ctx.answers, ctx.state]);
    });
    await using peer = await connectTo(server, 'modern', { capabilities: WITH_TASKS });
    const taskId = idOf(await peer.result('tools/call', { name: 'replay' }));
    await waitFor(peer, taskId, 'input_required');
    await peer.result('tasks/update', {
      taskId,
      inputResponses: { 'elicitation-1': { action: 'decline' } },
    });
    expect(await waitFor(peer, taskId, 'completed')).toMatchObject({
      result: { content: [{ text: '[{"name":{"action":"decline"}},7]' }] },
    });
  });

  it('begins when the handler says so, after rounds on the plain call (TASK-M-023)', async () => {
    const server = taskServer();
    server.tool('compose', { task: { mode: 'required', start: 'handler' } }, async (args, ctx) => {
      if (args['short']) return `short ${ctx.taskId}`;
      const { action } = await ctx.elicit(form);
      const id = await ctx.startTask();
      return `${action} ${id === ctx.taskId}`;
    });
    await using peer = await connectTo(server, 'modern', { capabilities: WITH_TASKS });
    const call = { name: 'compose', arguments: {} };
    const round = await peer.result('tools/call', call);
    expect(round).toMatchObject({ resultType: 'input_required' });
    expect(Object.keys(round)).not.toContain('taskId');
    const created = await peer.result('tools/call', {
      ...call,
      requestState: round['requestState'],
      inputResponses: { 'elicitation-1': { action: 'decline' } },
    });
    expect(created).toMatchObject({ resultType: 'task', status: 'working' });
    expect(Object.keys(created)).not.toContain('requestState');
    expect(await waitFor(peer, idOf(created), 'completed')).toMatchObject({
      result: { content: [{ text: 'decline true' }] },
    });
    expect(await peer.result('tools/call', { name: 'compose', arguments: { short: true } })).toMatchObject({
      resultType: 'complete',
      content: [{ text: 'short undefined' }],
    });
  });

  it('begins after a while if the call has not ended by then', async () => {
    const server = taskServer();
    const { opened, open } = gate();
    server.tool('long', { task: { mode: 'allowed', start: { afterMs: 1 } } }, async (_args, ctx) => {
      await opened;
      return String(ctx.signal.aborted);
    });
    server.tool('short', { task: { mode: 'allowed', start: { afterMs: 60_000 } } }, () => 'quick');
    await using peer = await connectTo(server, 'modern', { capabilities: WITH_TASKS });
    expect(await peer.result('tools/call', { name: 'short' })).toMatchObject({ resultType: 'complete' });
    const taskId = idOf(await peer.result('tools/call', { name: 'long' }));
    open();
    expect(await waitFor(peer, taskId, 'completed')).toMatchObject({
      result: { content: [{ text: 'false' }] },
    });
  });

  it('keeps its last message when it has ended, also one that came soon after another', async () => {
    const server = taskServer();
    const { opened, open } = gate();
    server.tool('steps', { task: 'allowed' }, async (_args, ctx) => {
      ctx.progress(1, 2, 'reading');
      await opened;
      ctx.progress(2, 2, 'writing');
      return 'done';
    });
    await using peer = await connectTo(server, 'modern', { capabilities: WITH_TASKS });
    const taskId = idOf(await peer.result('tools/call', { name: 'steps' }));
    open();
    expect(await waitFor(peer, taskId, 'completed')).toMatchObject({ statusMessage: '2/2 writing' });
  });

  it('shows progress as its status, and sends no progress and no logs (TASK-M-062)', async () => {
    const server = taskServer();
    const { opened, open } = gate();
    server.tool('steps', { task: 'allowed' }, async (_args, ctx) => {
      ctx.progress(3, 10, 'fetching');
      ctx.log('error', 'hidden');
      await opened;
    });
    await using peer = await connectTo(server, 'modern', { capabilities: WITH_TASKS });
    const meta = { progressToken: 'p', 'io.modelcontextprotocol/logLevel': 'debug' };
    const answer = await peer.request('tools/call', { name: 'steps' }, meta);
    const taskId = idOf((answer as { result: Record<string, unknown> }).result);
    for (;;) {
      const task = await peer.result('tasks/get', { taskId });
      if (task['statusMessage'] === '3/10 fetching') break;
    }
    open();
    await waitFor(peer, taskId, 'completed');
    expect(peer.notifications).toEqual([]);
  });

  it('is cancelled by tasks/cancel alone; the end of the handler decides (TASK-M-051, TASK-M-052, TASK-M-054)', async () => {
    const server = taskServer({ cancelGraceMs: 20 });
    const { opened, open } = gate();
    server.tool('obeys', { task: 'allowed' }, (_args, ctx) => {
      return new Promise((_resolve, reject) => {
        ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason));
      });
    });
    server.tool('finishes', { task: 'allowed' }, (_args, ctx) => {
      return new Promise<string>((resolve) => {
        ctx.signal.addEventListener('abort', () => resolve('saved'));
      });
    });
    server.tool('deaf', { task: 'allowed' }, () => opened);
    await using peer = await connectTo(server, 'modern', { capabilities: WITH_TASKS });
    const cancelled = async (name: string) => {
      const id = peer.nextId;
      const taskId = idOf(await peer.result('tools/call', { name }));
      peer.notify('notifications/cancelled', { requestId: id });
      await settle();
      expect(await peer.result('tasks/get', { taskId })).toMatchObject({ status: 'working' });
      const ack = await peer.result('tasks/cancel', { taskId });
      expect(Object.keys(ack).sort()).toEqual(['_meta', 'resultType']);
      const end = await waitFor(peer, taskId, 'completed', 'failed', 'cancelled');
      expect(await peer.result('tasks/cancel', { taskId })).toMatchObject({ resultType: 'complete' });
      expect((await peer.result('tasks/get', { taskId }))['status']).toBe(end['status']);
      return end['status'];
    };
    expect(await cancelled('obeys')).toBe('cancelled');
    expect(await cancelled('finishes')).toBe('completed');
    expect(await cancelled('deaf')).toBe('cancelled');
    open();
  });

  it('ends as cancelled while it waits for an answer', async () => {
    const server = taskServer();
    server.tool('ask', { task: 'allowed' }, async (_args, ctx) => (await ctx.elicit(form)).action);
    await using peer = await connectTo(server, 'modern', { capabilities: WITH_TASKS });
    const taskId = idOf(await peer.result('tools/call', { name: 'ask' }));
    await waitFor(peer, taskId, 'input_required');
    await peer.result('tasks/cancel', { taskId });
    const end = await waitFor(peer, taskId, 'cancelled');
    expect(Object.keys(end)).not.toContain('inputRequests');
  });

  it('survives the connection that made it', async () => {
    const server = taskServer();
    const { opened, open } = gate();
    server.tool('slow', { task: 'allowed' }, () => opened.then(() => 'done'));
    const link = memory();
    const served = await serve(server, link);
    const first = await openPeer(link, 'modern', { capabilities: WITH_TASKS });
    const taskId = idOf(await first.result('tools/call', { name: 'slow' }));
    first.close();
    await first.closed;
    open();
    const second = await openPeer(link, 'modern', { capabilities: WITH_TASKS });
    expect(await waitFor(second, taskId, 'completed')).toMatchObject({
      result: { content: [{ text: 'done' }] },
    });
    second.close();
    await served.close({ graceMs: 0 });
  });

  it('refuses unknown ids, and reveals nothing of them (TASK-M-080)', async () => {
    const server = taskServer();
    server.tool('slow', { task: 'allowed' }, () => 'x');
    await using peer = await connectTo(server, 'modern', { capabilities: WITH_TASKS });
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const refusal = await peer.error(method, { taskId: 'nope', inputResponses: {} });
      expect(refusal).toEqual({ code: -32602, message: 'Unknown task' });
      expect(await peer.error(method, { taskId: 7, inputResponses: {} })).toMatchObject({ code: -32602 });
    }
  });
});

describe('a subscription to tasks', () => {
  it('is acknowledged for known tasks, and pushes what tasks/get would say (TASK-M-060 … TASK-M-064)', async () => {
    const server = taskServer();
    const { opened, open } = gate();
    server.tool('slow', { task: 'allowed' }, () => opened.then(() => 'done'));
    server.tool('quick', { task: 'allowed' }, () => 'at once');
    await using peer = await connectTo(server, 'modern', { capabilities: WITH_TASKS });
    const slow = idOf(await peer.result('tools/call', { name: 'slow' }));
    const quick = idOf(await peer.result('tools/call', { name: 'quick' }));
    await waitFor(peer, quick, 'completed');
    const listenId = peer.nextId;
    void peer
      .request('subscriptions/listen', { notifications: { taskIds: [slow, 'nope', quick] } })
      .catch(() => {});
    const seen = (id: string) =>
      peer.notifications.filter(
        ({ method, params }) => method === 'notifications/tasks' && params?.['taskId'] === id,
      );
    while (seen(slow).length < 1 || seen(quick).length < 1) await settle();
    open();
    while (seen(slow).length < 2) await settle();
    const [ack] = peer.notifications;
    expect(ack).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { taskIds: [slow, quick] } },
    });
    expect(seen(slow).map(({ params }) => params?.['status'])).toEqual(['working', 'completed']);
    const { _meta, resultType, ...got } = await peer.result('tasks/get', { taskId: slow });
    expect(seen(slow)[1]!.params).toEqual({
      ...got,
      _meta: { 'io.modelcontextprotocol/subscriptionId': listenId },
    });
    expect(seen(quick).map(({ params }) => params?.['status'])).toEqual(['completed']);
  });
});
