import { describe, expect, it } from 'vitest';
import { bridgeTo } from '../support/bridge/between.js';
import {
  CAPABILITIES,
  CLIENT_INFO,
  SERVER_INFO,
  SUBSCRIPTION_ID,
  VERSION,
} from '../support/bridge/frames.js';

const INFO = { name: 'client', version: '4', title: 'Client' };
const FORM = { message: 'm', requestedSchema: { type: 'object', properties: {} } };

describe('a modern client before a modern server', () => {
  it('is heard as it speaks: its requests have its identity and its capabilities', async () => {
    const { near, far } = await bridgeTo('modern');
    const capabilities = { elicitation: { url: {} }, extensions: { 'com.example/x': { a: 1 } } };
    const client = near.modern({ info: INFO, capabilities });
    client.call('x', 'a', { arguments: { n: 1 } }, { traceparent: '00-1-2-01' });
    const call = await far.next();
    expect(call).toEqual({
      jsonrpc: '2.0',
      id: expect.any(Number),
      method: 'tools/call',
      params: {
        name: 'a',
        arguments: { n: 1 },
        _meta: {
          [VERSION]: '2026-07-28',
          [CLIENT_INFO]: INFO,
          [CAPABILITIES]: capabilities,
          traceparent: '00-1-2-01',
        },
      },
    });
    call.on.answer(call, { resultType: 'complete', content: [], _meta: { 'a.b/c': 1 } });
    expect(await client.next()).toEqual({
      jsonrpc: '2.0',
      id: 'x',
      result: {
        resultType: 'complete',
        content: [],
        _meta: { 'a.b/c': 1, [SERVER_INFO]: { name: 'far', version: '9' } },
      },
    });
  });

  it('is told of extensions', async () => {
    const { near } = await bridgeTo('modern', {
      capabilities: { tools: {}, extensions: { 'com.example/x': {}, 'io.modelcontextprotocol/tasks': {} } },
    });
    const client = near.modern();
    client.request(1, 'server/discover');
    expect((await client.next()).result.capabilities).toEqual({
      tools: {},
      extensions: { 'com.example/x': {}, 'io.modelcontextprotocol/tasks': {} },
    });
  });

  it('has its listen under its own id, and its own name', async () => {
    const { near, far } = await bridgeTo('modern', { capabilities: { tools: { listChanged: true } } });
    const client = near.modern({ info: INFO });
    client.request('L', 'subscriptions/listen', { notifications: { toolsListChanged: true } });
    const listen = await far.next();
    expect(listen.params.notifications).toEqual({ toolsListChanged: true });
    listen.on.acknowledge(listen);
    expect((await client.next()).params._meta).toEqual({ [SUBSCRIPTION_ID]: 'L' });
    listen.on.notify('notifications/tools/list_changed', { _meta: { [SUBSCRIPTION_ID]: listen.id } });
    expect((await client.next()).params._meta).toEqual({ [SUBSCRIPTION_ID]: 'L' });
    client.cancel('L');
    expect(await far.next()).toMatchObject({ params: { requestId: listen.id } });
    expect(listen.params._meta[CLIENT_INFO]).toEqual(INFO);
  });

  it('answers rounds itself, and waits nowhere in between', async () => {
    const { near, far } = await bridgeTo('modern');
    const client = near.modern({ capabilities: { elicitation: {} } });
    client.call(1, 'a');
    const first = await far.next();
    const inputRequests = { key: { method: 'elicitation/create', params: { mode: 'form', ...FORM } } };
    first.on.answer(first, { resultType: 'input_required', inputRequests, requestState: 's' });
    const round = (await client.next()).result;
    expect(round.inputRequests).toEqual(inputRequests);
    client.call(2, 'a', {
      inputResponses: { key: { action: 'accept', content: {} } },
      requestState: round.requestState,
    });
    const second = await far.next();
    expect(second.params).toMatchObject({
      inputResponses: { key: { action: 'accept', content: {} } },
      requestState: 's',
    });
    second.on.answer(second, { resultType: 'complete', content: [] });
    expect((await client.next()).id).toBe(2);
  });

  it('is not asked what it did not declare: the server is at fault, the client hears what is missing (MRTR-007)', async () => {
    const { near, far } = await bridgeTo('modern');
    const client = near.modern();
    client.call(1, 'a');
    const call = await far.next();
    call.on.answer(call, { resultType: 'input_required', inputRequests: { r: { method: 'roots/list' } } });
    expect((await client.next()).error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { roots: {} } },
    });
  });

  it('uses a method that only the two of them know', async () => {
    const { near, far } = await bridgeTo('modern');
    const client = near.modern();
    client.request(1, 'com.example/do', { x: 1 });
    const request = far.stillOpen.length ? await Promise.race([far.next(), client.next()]) : await far.next();
    // The judge of the far side knows core methods only.
    if (request.method) {
      const heard = request as Awaited<ReturnType<typeof far.next>>;
      expect(heard.params.x).toBe(1);
      heard.on.answer(heard, { resultType: 'complete', y: 2 });
      expect((await client.next()).result).toMatchObject({ resultType: 'complete', y: 2 });
      heard.on.frames.splice(
        heard.on.frames.findIndex(({ message }) => message.method === 'com.example/do'),
        2,
      );
    } else expect(request.error!.code).toBe(-32601);
    client.frames.splice(0);
  });
});

describe('a legacy client before a legacy server', () => {
  it('is known there by its own name and with all that it can do', async () => {
    const { near, far } = await bridgeTo('legacy');
    const capabilities = {
      elicitation: { form: {}, url: {} },
      sampling: { tools: {} },
      roots: { listChanged: true },
    };
    const client = await near.legacy({ info: INFO, capabilities });
    client.call('x', 'a', { arguments: { n: 1 } });
    const call = await far.next();
    expect(call.on.opening!.params).toEqual({
      protocolVersion: '2025-11-25',
      capabilities,
      clientInfo: INFO,
    });
    expect(call).toEqual({
      jsonrpc: '2.0',
      id: expect.any(Number),
      method: 'tools/call',
      params: { name: 'a', arguments: { n: 1 } },
    });
    call.on.answer(call, { content: [], _meta: { 'a.b/c': 1 } });
    expect(await client.next()).toEqual({
      jsonrpc: '2.0',
      id: 'x',
      result: { content: [], _meta: { 'a.b/c': 1 } },
    });
  });

  it('is asked with a request of its own session, and its answer is the answer', async () => {
    const { near, far } = await bridgeTo('legacy');
    const client = await near.legacy({ capabilities: { elicitation: {} } });
    client.call(1, 'a');
    const call = await far.next();
    call.on.ask(5, 'elicitation/create', FORM);
    const asked = await client.next();
    expect([asked.method, asked.params]).toEqual([
      'elicitation/create',
      { ...FORM, _meta: expect.anything() },
    ]);
    client.answer(asked, { action: 'accept', content: { x: 1 } });
    expect(await far.next()).toEqual({
      jsonrpc: '2.0',
      id: 5,
      result: { action: 'accept', content: { x: 1 } },
    });
    call.on.answer(call, { content: [] });
    expect((await client.next()).id).toBe(1);
  });

  it('refuses with an error, and the server hears the same error', async () => {
    const { near, far } = await bridgeTo('legacy');
    const client = await near.legacy({ capabilities: { sampling: {} } });
    client.call(1, 'a');
    const call = await far.next();
    call.on.ask(5, 'sampling/createMessage', { messages: [], maxTokens: 1 });
    client.refuse(await client.next(), -1, 'User rejected sampling request');
    expect(await far.next()).toEqual({
      jsonrpc: '2.0',
      id: 5,
      error: { code: -1, message: 'User rejected sampling request' },
    });
    call.on.answer(call, { content: [], isError: true });
    await client.next();
  });

  it('is asked outside of calls, too (row 5)', async () => {
    const { near, far } = await bridgeTo('legacy');
    const client = await near.legacy({ capabilities: { elicitation: {}, sampling: {} } });
    client.request(1, 'tools/list');
    const list = await far.next();
    list.on.answer(list, { tools: [] });
    await client.next();
    list.on.ask('q', 'elicitation/create', FORM);
    const asked = await client.next();
    client.answer(asked, { action: 'decline' });
    expect(await far.next()).toEqual({ jsonrpc: '2.0', id: 'q', result: { action: 'decline' } });
  });

  it('subscribes there, and hears of what it subscribed to (rows 10 and 11)', async () => {
    const { near, far } = await bridgeTo('legacy', {
      capabilities: { resources: { subscribe: true, listChanged: true }, tools: { listChanged: true } },
    });
    const client = await near.legacy();
    client.request(1, 'resources/subscribe', { uri: 'a://1' });
    const subscribe = await far.next();
    expect([subscribe.method, subscribe.params]).toEqual(['resources/subscribe', { uri: 'a://1' }]);
    subscribe.on.answer(subscribe, {});
    expect(await client.next()).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    subscribe.on.notify('notifications/resources/updated', { uri: 'a://1' });
    expect((await client.next()).params).toEqual({ uri: 'a://1' });
    subscribe.on.notify('notifications/tools/list_changed');
    expect((await client.next()).method).toBe('notifications/tools/list_changed');
    client.request(2, 'resources/unsubscribe', { uri: 'a://1' });
    const unsubscribe = await far.next();
    expect([unsubscribe.method, unsubscribe.params]).toEqual(['resources/unsubscribe', { uri: 'a://1' }]);
    unsubscribe.on.answer(unsubscribe, {});
    expect(await client.next()).toEqual({ jsonrpc: '2.0', id: 2, result: {} });
  });

  it('of an older revision than the server is spoken to in its own', async () => {
    const { near, far } = await bridgeTo('legacy', { info: { ...INFO, description: 'long' } });
    const client = near.raw();
    const { result } = await client.handshake('2024-11-05');
    expect([result.protocolVersion, result.serverInfo]).toEqual([
      '2024-11-05',
      { name: 'client', version: '4' },
    ]);
    client.call(1, 'a', {}, { progressToken: 't' });
    const call = await far.next();
    call.on.progress(call, 1, { message: 'm' });
    expect((await client.next()).params).toEqual({ progressToken: 't', progress: 1 });
    call.on.answer(call, { content: [], structuredContent: { x: 1 } });
    expect((await client.next()).result).toEqual({ content: [{ type: 'text', text: '{"x":1}' }] });
  });
});
