import { describe, expect, it } from 'vitest';
import { until } from '../../../../test/support/until.js';
import type { JsonObject } from '../../src/wire/json-rpc.js';
import { openClient } from '../support/client/open-client.js';
import {
  DISCOVERED,
  type Script,
  type ScriptedConnection,
  scripted,
  WELCOME,
  type Wire,
} from '../support/client/scripted-server.js';

const RELATED = 'io.modelcontextprotocol/related-task';
const DATES = { createdAt: '2026-01-01T00:00:00Z', lastUpdatedAt: '2026-01-01T00:00:00Z' };
const DONE = { content: [{ type: 'text', text: 'done' }] };
const FORM = { mode: 'form', message: 'Really?', requestedSchema: { type: 'object', properties: {} } };
const TOOLS = [
  { name: 'none', inputSchema: { type: 'object' } },
  { name: 'never', inputSchema: { type: 'object' }, execution: { taskSupport: 'forbidden' } },
  { name: 'may', inputSchema: { type: 'object' }, execution: { taskSupport: 'optional' } },
];
const LEGACY_TASKS = { cancel: {}, requests: { tools: { call: {} } } };

/** A legacy server: `answer` has what is not the handshake and not the list of tools. */
function legacy(answer: Script, tasks: object | false = LEGACY_TASKS) {
  return scripted((message, connection) => {
    const capabilities = { tools: {}, ...(tasks && { tasks }) };
    if (message.method === 'initialize') connection.result(message, { ...WELCOME, capabilities });
    else if (message.method === 'tools/list') connection.result(message, { tools: TOOLS });
    else if (!message.method?.startsWith('notifications/')) answer(message, connection);
  });
}

function modern(answer: Script) {
  const capabilities = { tools: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } };
  return scripted((message, connection) => {
    if (message.method === 'server/discover') connection.result(message, { ...DISCOVERED, capabilities });
    else if (message.method) answer(message, connection);
  });
}

/** A task of a modern server in this state. */
function task(members: object): object {
  return { taskId: 'far', ...DATES, ttlMs: 60_000, pollIntervalMs: 1, ...members };
}

function calls(connection: ScriptedConnection | undefined): Wire[] {
  return connection?.received.filter(({ method }) => method === 'tools/call') ?? [];
}

describe('a client of a 2025-11-25 server', () => {
  const answerCall: Script = (message, connection) => {
    const { task: wish } = message.params;
    const made = { taskId: 'far', status: 'working', ...DATES, ttl: null };
    connection.result(message, wish ? { task: made } : DONE);
  };

  it('makes no tasks if the server declares none (TASK-L-003)', async () => {
    const server = legacy(answerCall, false);
    const client = await openClient(server, { mode: 'legacy' });
    expect((await client.startTask('may')).id).toBeUndefined();
    expect(calls(server.connections[0]).map(({ params }) => params)).toEqual([{ name: 'may' }]);
  });

  it.each(['none', 'never'])(
    'does not call as a task what does not allow it: %s (TASK-L-006)',
    async (name) => {
      const server = legacy(answerCall);
      const client = await openClient(server, { mode: 'legacy' });
      expect(await (await client.startTask(name)).result()).toEqual(DONE);
      expect(calls(server.connections[0]).map(({ params }) => params)).toEqual([{ name }]);
    },
  );

  it('does not call it as a task either when the server refuses the call (TASK-L-006)', async () => {
    const server = legacy((message, connection) => connection.error(message, -32601));
    const client = await openClient(server, { mode: 'legacy' });
    await client.listTools();
    await expect(client.callTool('none')).rejects.toMatchObject({ code: -32601 });
    await expect(client.startTask('never')).rejects.toMatchObject({ code: -32601 });
    expect(calls(server.connections[0]).map(({ params }) => params)).toEqual([
      { name: 'none' },
      { name: 'never' },
    ]);
  });

  it('calls what allows it either way, as its caller wants (TASK-L-008)', async () => {
    const server = legacy(answerCall);
    const client = await openClient(server, { mode: 'legacy' });
    expect((await client.startTask('may')).id).toBe('far');
    expect(await client.callTool('may')).toEqual(DONE);
    expect(calls(server.connections[0]).map(({ params }) => params)).toEqual([
      { name: 'may', task: {} },
      { name: 'may' },
    ]);
  });

  it('refuses a ttl that JSON cannot write, or that is negative', async () => {
    const server = legacy(answerCall);
    const client = await openClient(server, { mode: 'legacy' });
    for (const ttlMs of [Number.NaN, Number.POSITIVE_INFINITY, -1]) {
      await expect(client.startTask('may', {}, { ttlMs })).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    }
    await client.startTask('may', {}, { ttlMs: 0 });
    expect(calls(server.connections[0]).map(({ params }) => params.task)).toEqual([{ ttl: 0 }]);
  });

  it('answers a question of a task that comes on no stream of the task (TASK-L-039)', async () => {
    const server = legacy((message, connection) => {
      if (message.method === 'tools/call') {
        answerCall(message, connection);
        const params = { ...FORM, _meta: { [RELATED]: { taskId: 'far' } } };
        connection.send({ jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params });
      }
    });
    const client = await openClient(server, {
      mode: 'legacy',
      answers: { elicit: () => ({ action: 'accept', content: {} }) },
    });
    await client.startTask('may');
    const answer = await until('the answer', () =>
      server.connections[0]!.received.find(({ id, method }) => id === 'q' && method === undefined),
    );
    // TASK-L-050
    expect(answer.result).toEqual({
      action: 'accept',
      content: {},
      _meta: { [RELATED]: { taskId: 'far' } },
    });
  });

  it('cancels it with tasks/cancel only, and does not ask for it again: the server may delete it (TASK-L-080, TASK-L-084)', async () => {
    let isCancelled = false;
    const server = legacy((message, connection) => {
      if (message.method === 'tools/call') return answerCall(message, connection);
      if (isCancelled) return connection.error(message, -32602);
      if (message.method !== 'tasks/cancel') return;
      isCancelled = true;
      connection.result(message, { taskId: 'far', status: 'cancelled', ...DATES, ttl: null });
    });
    const client = await openClient(server, { mode: 'legacy' });
    const handle = await client.startTask('may');
    await handle.cancel();
    const sent = server.connections[0]!.received.map(({ method }) => method);
    expect(sent.filter((method) => method?.startsWith('tasks/'))).toEqual(['tasks/cancel']);
    expect(sent).not.toContain('notifications/cancelled');
  });
});

describe('a client of a server with the extension', () => {
  it.each([
    ['completed', { result: { resultType: 'complete', ...DONE } }],
    ['failed', { error: { code: -32077, message: 'no way' } }],
    ['cancelled', {}],
  ])('takes a task that begins as %s (TASK-M-022)', async (status, end) => {
    const server = modern((message, connection) => {
      const made = { resultType: 'task', ...task({ status }) };
      if (message.method === 'tools/call') connection.result(message, made);
      else connection.result(message, { resultType: 'complete', ...task({ status, ...end }) });
    });
    const client = await openClient(server, { mode: 'modern' });
    const outcome = await client.callTool('x').catch(({ code, message }) => ({ code, message }));
    expect(outcome).toEqual(
      {
        completed: DONE,
        failed: { code: -32077, message: 'no way' },
        cancelled: { code: -32603, message: 'The server cancelled the task' },
      }[status],
    );
  });

  it('answers a question of a task as it answers the request alone, and goes on observing (TASK-M-041, TASK-M-042)', async () => {
    let isAnswered = false;
    const updates: JsonObject[] = [];
    const server = modern((message, connection) => {
      if (message.method === 'tools/call')
        return connection.result(message, { resultType: 'task', ...task({ status: 'input_required' }) });
      if (message.method === 'tasks/update') {
        isAnswered = true;
        updates.push(message.params.inputResponses);
        return connection.result(message, { resultType: 'complete' });
      }
      const inputRequests = { a: { method: 'elicitation/create', params: FORM } };
      const state = isAnswered
        ? { status: 'completed', result: { resultType: 'complete', ...DONE } }
        : { status: 'input_required', inputRequests };
      connection.result(message, { resultType: 'complete', ...task(state) });
    });
    const asked: unknown[] = [];
    const elicit = (params: unknown) => {
      asked.push(params);
      return { action: 'decline' as const };
    };
    const client = await openClient(server, { mode: 'modern', answers: { elicit } });
    expect(await client.callTool('x')).toEqual(DONE);
    expect(asked).toEqual([FORM]);
    expect(updates).toEqual([{ a: { action: 'decline' } }]);
  });

  it('does not answer in a task what it would not answer alone (TASK-M-042)', async () => {
    const server = modern((message, connection) => {
      if (message.method === 'tools/call')
        return connection.result(message, { resultType: 'task', ...task({ status: 'working' }) });
      if (message.method !== 'tasks/get') return connection.result(message, { resultType: 'complete' });
      const params = { messages: [], maxTokens: 1 };
      const inputRequests = { a: { method: 'sampling/createMessage', params } };
      connection.result(message, {
        resultType: 'complete',
        ...task({ status: 'input_required', inputRequests }),
      });
    });
    const client = await openClient(server, {
      mode: 'modern',
      answers: { elicit: () => ({ action: 'decline' }) },
    });
    await expect(client.callTool('x')).rejects.toMatchObject({ code: 'CANNOT_ANSWER' });
    expect(server.connections[0]!.received.map(({ method }) => method)).not.toContain('tasks/update');
  });

  it('cancels it with tasks/cancel only, and asks for it no more (TASK-M-050, TASK-M-053)', async () => {
    let isAsked = false;
    const server = modern((message, connection) => {
      if (message.method === 'tasks/get') isAsked = true;
      const result = task({ status: 'working', pollIntervalMs: 60_000 });
      const resultType = message.method === 'tools/call' ? 'task' : 'complete';
      connection.result(message, { resultType, ...(message.method !== 'tasks/cancel' && result) });
    });
    const client = await openClient(server, { mode: 'modern' });
    const control = new AbortController();
    const calling = client.callTool('x', {}, { signal: control.signal });
    await until('the client waits', () => isAsked);
    control.abort();
    await expect(calling).rejects.toMatchObject({ code: 'CANCELLED' });
    const { received } = server.connections[0]!;
    await until('the cancellation', () => received.some(({ method }) => method === 'tasks/cancel'));
    await client.close();
    const sent = received.map(({ method }) => method);
    expect(sent.slice(sent.indexOf('tools/call'))).toEqual(['tools/call', 'tasks/get', 'tasks/cancel']);
  });
});
