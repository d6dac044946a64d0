import { describe, expect, it } from 'vitest';
import { connect, createServer, jsonSchema, memory } from '../../src/index.js';
import {
  collectDropped,
  type Era,
  FIRST,
  failure,
  frame,
  meet,
  PlayedServer,
  settle,
} from '../support/client/played-server.js';

const ERAS: readonly Era[] = ['modern', 'legacy'];

describe.each(ERAS)('the methods of a client of a %s server', (era) => {
  it('sends a tool call as it was asked for and gives the result', async () => {
    const { client, server } = await meet(era);
    const calling = client.callTool('add', { a: 1, b: 2 });
    const sent = await server.next();
    expect(sent).toEqual(frame(era, FIRST, 'tools/call', { name: 'add', arguments: { a: 1, b: 2 } }));
    server.answer(sent, { content: [{ type: 'text', text: '3' }], structuredContent: { sum: 3 } });
    expect(await calling).toEqual({
      content: [{ type: 'text', text: '3' }],
      structuredContent: { sum: 3 },
    });
  });

  it('sends no arguments where none are given', async () => {
    const { client, server } = await meet(era);
    const calls = Promise.all([client.callTool('now'), client.getPrompt('greet')]);
    const tool = await server.next();
    const prompt = await server.next();
    expect(tool).toEqual(frame(era, 1, 'tools/call', { name: 'now' }));
    expect(prompt).toEqual(frame(era, 2, 'prompts/get', { name: 'greet' }));
    server.answer(tool, { content: [] });
    server.answer(prompt, { messages: [] });
    await calls;
  });

  it('reads resources, gets prompts and completes arguments', async () => {
    const { client, server } = await meet(era);
    const reading = client.readResource('memo://1');
    const read = await server.next();
    expect(read).toEqual(frame(era, 1, 'resources/read', { uri: 'memo://1' }));
    server.answer(read, { contents: [{ uri: 'memo://1', text: 'hi' }] });
    expect((await reading).contents).toEqual([{ uri: 'memo://1', text: 'hi' }]);

    const getting = client.getPrompt('greet', { name: 'Ada' });
    const get = await server.next();
    expect(get).toEqual(frame(era, 2, 'prompts/get', { name: 'greet', arguments: { name: 'Ada' } }));
    server.answer(get, {
      description: 'Greets',
      messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }],
    });
    expect(await getting).toEqual({
      description: 'Greets',
      messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }],
    });

    const completing = client.complete({
      ref: { type: 'ref/prompt', name: 'greet' },
      argument: { name: 'name', value: 'A' },
      context: { arguments: { tone: 'warm' } },
    });
    const complete = await server.next();
    expect(complete).toEqual(
      frame(era, 3, 'completion/complete', {
        ref: { type: 'ref/prompt', name: 'greet' },
        argument: { name: 'name', value: 'A' },
        context: { arguments: { tone: 'warm' } },
      }),
    );
    server.answer(complete, { completion: { values: ['Ada', 'Al'], total: 2, hasMore: false } });
    expect(await completing).toEqual({ values: ['Ada', 'Al'], total: 2, hasMore: false });
  });

  it('walks all pages of a list, also past an empty cursor (PAGE-003, PAGE-004, PAGE-005)', async () => {
    const { client, server } = await meet(era);
    const listing = client.listTools();
    const pages = [
      { tools: [tool('a')], nextCursor: '  ' },
      { tools: [], nextCursor: '' },
      { tools: [tool('b'), tool('c')], nextCursor: null },
    ];
    const sent = [];
    for (const page of pages) {
      const request = await server.next();
      sent.push(request);
      server.answer(request, page);
    }
    expect((await listing).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect(sent).toEqual([
      frame(era, 1, 'tools/list'),
      frame(era, 2, 'tools/list', { cursor: '  ' }),
      frame(era, 3, 'tools/list', { cursor: '' }),
    ]);
  });

  it.each([
    ['tools/list', 'tools', 'listTools', 'listToolsPage'],
    ['resources/list', 'resources', 'listResources', 'listResourcesPage'],
    ['resources/templates/list', 'resourceTemplates', 'listResourceTemplates', 'listResourceTemplatesPage'],
    ['prompts/list', 'prompts', 'listPrompts', 'listPromptsPage'],
  ] as const)('lists %s in one go and page by page', async (method, key, all, page) => {
    const { client, server } = await meet(era);
    const listing = client[all]();
    const first = await server.next();
    expect(first).toEqual(frame(era, 1, method));
    server.answer(first, { [key]: [{ name: 'one' }], nextCursor: 'more' });
    const second = await server.next();
    expect(second).toEqual(frame(era, 2, method, { cursor: 'more' }));
    server.answer(second, { [key]: [{ name: 'two' }] });
    expect(await listing).toEqual([{ name: 'one' }, { name: 'two' }]);

    const paging = client[page]('more');
    const third = await server.next();
    expect(third).toEqual(frame(era, 3, method, { cursor: 'more' }));
    server.answer(third, { [key]: [{ name: 'two' }], nextCursor: 'end' });
    expect(await paging).toEqual({ [key]: [{ name: 'two' }], nextCursor: 'end' });
  });

  it('does not walk in circles when a server repeats a cursor', async () => {
    const { client, server } = await meet(era);
    const listing = failure(client.listPrompts());
    for (let page = 0; page < 2; page += 1) {
      server.answer(await server.next(), { prompts: [], nextCursor: 'again' });
    }
    expect(await listing).toMatchObject({ code: 'INVALID_RESULT' });
    expect(await server.rest()).toEqual([]);
  });

  it('gives errors of the server with their code and data', async () => {
    const { client, server } = await meet(era);
    const calling = client.readResource('memo://none');
    server.refuse(await server.next(), -32602, 'Resource not found', { uri: 'memo://none' });
    await expect(calling).rejects.toMatchObject({
      name: 'ProtocolError',
      code: -32602,
      message: 'Resource not found',
      data: { uri: 'memo://none' },
    });
  });

  it('gives the failure of a tool as a result, not as an error', async () => {
    const { client, server } = await meet(era);
    const calling = client.callTool('fail');
    server.answer(await server.next(), { content: [{ type: 'text', text: 'no' }], isError: true });
    expect(await calling).toEqual({ content: [{ type: 'text', text: 'no' }], isError: true });
  });

  it('sends any other request as it is', async () => {
    const { client, server } = await meet(era);
    const asking = client.request('example/do', { deep: { value: [1] } });
    const sent = await server.next();
    expect(sent).toEqual(frame(era, FIRST, 'example/do', { deep: { value: [1] } }));
    server.answer(sent, { done: true });
    expect(await asking).toEqual({ done: true });
  });

  it('says who the server is', async () => {
    const { client } = await meet(era);
    expect(client.era).toBe(era);
    expect(client.revision).toBe(era === 'modern' ? '2026-07-28' : '2025-11-25');
    expect(client.server.info).toEqual({ name: 'scripted', version: '9' });
    expect(client.server.instructions).toBe('Be kind.');
    expect(client.server.capabilities.tools).toEqual({ listChanged: true });
    expect(client.verdict).toMatchObject({ era, source: 'mode' });
  });

  it('holds a tool to its output schema once the list is read', async () => {
    const { client, server } = await meet(era);
    const listing = client.listTools();
    server.answer(await server.next(), {
      tools: [
        {
          ...tool('sum'),
          outputSchema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
        },
        tool('free'),
      ],
    });
    await listing;
    const results = [
      { content: [], structuredContent: { sum: 3 } },
      { content: [], structuredContent: { sum: 'three' } },
      { content: [] },
      { content: [], isError: true },
    ];
    const calls = results.map(() => client.callTool('sum').then(() => 'fine', failureCode));
    for (const result of results) server.answer(await server.next(), result);
    expect(await Promise.all(calls)).toEqual(['fine', 'INVALID_RESULT', 'INVALID_RESULT', 'fine']);

    const free = client.callTool('free');
    server.answer(await server.next(), { content: [], structuredContent: ['anything'] });
    expect(await free).toMatchObject({ structuredContent: ['anything'] });
  });

  it('does not hold a tool to a schema that the server says has changed', async () => {
    const { client, server } = await meet(era);
    const listing = client.listTools();
    server.answer(await server.next(), {
      tools: [{ ...tool('t'), outputSchema: { type: 'object', required: ['old'] } }],
    });
    await listing;
    if (era === 'modern') {
      const opening = client.listen({ tools: true });
      const { id } = await server.next();
      const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
      server.send(acknowledged(_meta), { method: 'notifications/tools/list_changed', params: { _meta } });
      await opening;
    } else {
      // Nobody listens: the server tells all the same.
      server.send({ method: 'notifications/tools/list_changed' });
    }
    await settle();
    const calling = client.callTool('t');
    server.answer(await server.next(), { content: [], structuredContent: { new: 1 } });
    expect(await calling).toMatchObject({ structuredContent: { new: 1 } });
  });

  it('fails one call, not the client, when a declared output schema cannot be used', async () => {
    const { client, server } = await meet(era);
    const listing = client.listTools();
    server.answer(await server.next(), {
      tools: [
        { ...tool('odd'), outputSchema: { type: 'object', $ref: 'https://example.com/schema.json' } },
        { ...tool('bad'), outputSchema: { type: 'no such type' } },
      ],
    });
    expect(await listing).toHaveLength(2);
    const calling = client.callTool('bad').catch(() => 'failed');
    server.answer(await server.next(), { content: [], structuredContent: {} });
    await calling;
    const next = client.callTool('free');
    server.answer(await server.next(), { content: [] });
    expect(await next).toEqual({ content: [] });
  });

  it.each([
    ['tools/call', 'a list', [1]],
    ['tools/call', 'a string', 'x'],
  ])('rejects a %s result that is %s', async (_method, _what, result) => {
    const { client, server } = await meet(era);
    const calling = failure(client.callTool('t', {}, { timeoutMs: 2000 }));
    server.send({ id: (await server.next()).id, result });
    expect(await calling).toMatchObject({ code: 'INVALID_RESULT', sent: 'maybe' });
  });

  it('does not hand out results without their main part', async () => {
    const { client, server } = await meet(era);
    const calls = [
      () => client.readResource('a://b'),
      () => client.getPrompt('p'),
      () => client.listToolsPage(),
      () => client.complete({ ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } }),
    ];
    const codes = [];
    for (const call of calls) {
      const calling = failure(call());
      server.answer(await server.next(), {});
      codes.push((await calling).code);
    }
    expect(codes).toEqual(['INVALID_RESULT', 'INVALID_RESULT', 'INVALID_RESULT', 'INVALID_RESULT']);
  });

  it('matches answers by type and value of the id and reports the rest', async () => {
    const dropped = collectDropped();
    const { client, server } = await meet(era);
    let settled = false;
    const calling = client.callTool('t').finally(() => {
      settled = true;
    });
    const { id } = await server.next();
    server.send(
      { id: String(id), result: { content: [{ type: 'text', text: 'wrong type' }] } },
      { id: 4711, result: {} },
      { id: null, error: { code: -32603, message: 'whose?' } },
      { method: 'notifications/unheard-of', params: { a: 1 } },
      { method: 'notifications/progress', params: { progressToken: 'nobody', progress: 1 } },
      { method: 'notifications/cancelled', params: { requestId: 99 } },
    );
    await settle();
    expect(settled).toBe(false);
    server.send({ id, result: { content: [] } });
    expect(await calling).toEqual({ content: [] });
    expect(dropped).toHaveLength(6);
  });

  it('reports noise on the line, skips it, and loses nothing', async () => {
    const noise: string[] = [];
    const { client, server } = await meet(era, { onNoise: (line) => noise.push(line.error.message) });
    const calling = client.callTool('t');
    const { id } = await server.next();
    server.write(
      `Starting up…\n\n[1,2\n{"level":"info"}\n"text"\n${JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } })}\n`,
    );
    expect(await calling).toEqual({ content: [] });
    expect(noise).toHaveLength(4);
  });

  it('survives an onNoise that throws', async () => {
    const { client, server } = await meet(era, {
      onNoise: () => {
        throw new Error('a bug of the caller');
      },
    });
    const calling = client.callTool('t', {}, { timeoutMs: 2000 });
    calling.catch(() => {});
    const { id } = await server.next();
    // On a real pipe this would be an uncaught exception: the end of the caller's process.
    expect(() =>
      server.write(`noise\n${JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } })}\n`),
    ).not.toThrow();
    const outcome = await calling;
    expect(outcome).toEqual({ content: [] });
  });

  it('loses one call, and not the connection, to a line that is too long', async () => {
    const { client, server } = await meet(era, { maxLineBytes: 2000 });
    const [big, small] = [failure(client.callTool('big')), client.callTool('small')];
    const first = await server.next();
    const second = await server.next();
    server.answer(first, { content: [{ type: 'text', text: 'x'.repeat(3000) }] });
    server.answer(second, { content: [] });
    expect(await big).toMatchObject({ code: 'RESULT_TOO_LARGE', sent: 'maybe' });
    expect(await small).toEqual({ content: [] });
  });

  it('gives up what is pending when it is closed, twice is harmless, and then sends nothing', async () => {
    const { client, server } = await meet(era);
    const pending = failure(client.callTool('t'));
    await server.next();
    await Promise.all([client.close(), client.close()]);
    expect(await pending).toMatchObject({ code: 'CONNECTION_CLOSED', sent: 'maybe' });
    expect(await failure(client.listTools())).toMatchObject({ code: 'CONNECTION_CLOSED', sent: 'no' });
    expect(await failure(client.listen({ tools: true }))).toMatchObject({
      code: 'CONNECTION_CLOSED',
      sent: 'no',
    });
    expect(await failure(client.setLogLevel('info'))).toMatchObject({
      code: 'CONNECTION_CLOSED',
      sent: 'no',
    });
    await client.closed;
    await server.closed;
    expect(await server.rest()).toEqual([]);
  });

  it('answers everything of our own server', async () => {
    const server = createServer({ name: 'own', version: '1' });
    server.tool(
      'add',
      {
        input: jsonSchema<{ a: number }>({ type: 'object', properties: { a: { type: 'number' } } }),
        output: jsonSchema<{ b: number }>({
          type: 'object',
          properties: { b: { type: 'number' } },
          required: ['b'],
        }),
      },
      ({ a }) => ({ b: a + 1 }),
    );
    server.resource('memo://1', { name: 'memo' }, () => 'one');
    server.prompt('greet', {}, () => 'hello');
    await using client = await connect(memory(server), { mode: era, cache: false });
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['add']);
    expect((await client.callTool('add', { a: 1 })).structuredContent).toEqual({ b: 2 });
    expect((await client.listResources()).map(({ uri }) => uri)).toEqual(['memo://1']);
    expect((await client.readResource('memo://1')).contents[0]).toMatchObject({ text: 'one' });
    expect(await client.listResourceTemplates()).toEqual([]);
    expect((await client.listPrompts()).map(({ name }) => name)).toEqual(['greet']);
    expect((await client.getPrompt('greet')).messages).toHaveLength(1);
  });
});

describe('what only one era has', () => {
  it('pings a legacy server, and says that a modern one has no ping without asking it', async () => {
    const old = await meet('legacy');
    const pinging = old.client.ping();
    const sent = await old.server.next();
    expect(sent).toMatchObject({ id: 1, method: 'ping' });
    old.server.answer(sent, {});
    await pinging;

    const { client, server } = await meet('modern');
    expect(await failure(client.ping())).toMatchObject({ code: 'NOT_IN_THIS_ERA', sent: 'no' });
    expect(await server.rest()).toEqual([]);
  });

  it('answers the ping of a legacy server, also with id 0 and ""', async () => {
    const { server } = await meet('legacy');
    server.send({ id: 0, method: 'ping' }, { id: '', method: 'ping' });
    expect([await server.next(), await server.next()]).toEqual([
      { jsonrpc: '2.0', id: 0, result: {} },
      { jsonrpc: '2.0', id: '', result: {} },
    ]);
  });

  it('answers -32601 to an unknown request of a legacy server', async () => {
    const { server } = await meet('legacy');
    server.send({ id: 'x', method: 'example/ask' });
    expect(await server.next()).toMatchObject({ id: 'x', error: { code: -32601 } });
  });

  it('reports a request of a modern server and does not answer it (JRPC-013)', async () => {
    const dropped = collectDropped();
    const { server } = await meet('modern', { answers: { roots: [] } });
    server.send({ id: 1, method: 'roots/list' });
    expect(await server.rest()).toEqual([]);
    expect(dropped).toHaveLength(1);
  });

  it('rejects a result type that it does not know (RTYPE-003), and reads none as complete (RTYPE-004)', async () => {
    const { client, server } = await meet('modern');
    const calls = [client.callTool('a'), client.callTool('b'), client.callTool('c'), client.callTool('d')];
    const outcomes = Promise.all(calls.map((call) => call.then(() => 'fine', failureCode)));
    server.answer(await server.next(), { resultType: 'task', content: [] });
    server.answer(await server.next(), { resultType: 'complete', content: [] });
    server.answer(await server.next(), { content: [] });
    server.answer(await server.next(), { resultType: 7, content: [] });
    expect(await outcomes).toEqual(['INVALID_RESULT', 'fine', 'fine', 'INVALID_RESULT']);
  });

  it('rejects input_required for a method that has no rounds (MRTR-003)', async () => {
    const { client, server } = await meet('modern', { answers: { roots: [] } });
    const listing = failure(client.listTools());
    server.answer(await server.next(), { resultType: 'input_required', requestState: 's' });
    expect(await listing).toMatchObject({ code: 'INVALID_RESULT' });
    expect(await server.rest()).toEqual([]);
  });

  it('does not ask a server for its level twice: legacy sends it, modern puts it into calls', async () => {
    const old = await meet('legacy');
    const setting = old.client.setLogLevel('warning');
    const sent = await old.server.next();
    expect(sent).toEqual(frame('legacy', 1, 'logging/setLevel', { level: 'warning' }));
    old.server.answer(sent, {});
    await setting;

    const { client, server } = await meet('modern');
    await client.setLogLevel('warning');
    void client.callTool('t').catch(() => {});
    void client.callTool('u', {}, { logLevel: 'debug' }).catch(() => {});
    expect(await server.rest()).toEqual([
      frame('modern', 1, 'tools/call', { name: 't' }, { 'io.modelcontextprotocol/logLevel': 'warning' }),
      frame(
        'modern',
        2,
        'tools/call',
        { name: 'u', arguments: {} },
        { 'io.modelcontextprotocol/logLevel': 'debug' },
      ),
    ]);
  });

  it('hears what a legacy server logs in one breath with its welcome', async () => {
    const heard: unknown[] = [];
    const connector = new PlayedServer();
    const connecting = connect(connector, {
      mode: 'legacy',
      cache: false,
      onLog: (entry) => heard.push(entry),
    });
    const server = await connector.accept();
    const { id } = await server.next();
    server.send(
      {
        id,
        result: {
          protocolVersion: '2025-11-25',
          capabilities: { logging: {} },
          serverInfo: { name: 's', version: '1' },
        },
      },
      { method: 'notifications/message', params: { level: 'info', data: 'ready' } },
      { id: 'early', method: 'roots/list' },
    );
    await using _client = await connecting;
    await settle();
    expect(heard).toEqual([{ level: 'info', data: 'ready' }]);
    const answers = await server.rest();
    expect(answers.find((message) => message.id === 'early')).toMatchObject({ error: { code: -32601 } });
  });
});

function tool(name: string) {
  return { name, inputSchema: { type: 'object' } };
}

function acknowledged(_meta: object) {
  return {
    method: 'notifications/subscriptions/acknowledged',
    params: { _meta, notifications: { toolsListChanged: true } },
  };
}

function failureCode(error: { code?: unknown }): unknown {
  return error.code;
}
