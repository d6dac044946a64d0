import { type Bridge, http, memory, serve } from '@isthmus/sdk';
import { createBridge } from '@isthmus/sdk/bridge';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bridgeTo } from '../../packages/sdk/test/support/bridge/between.js';
import { bridgeToHost } from '../../packages/sdk/test/support/bridge/between-host.js';
import { NearLink } from '../../packages/sdk/test/support/bridge/near.js';

const DONE = { content: [] };

/** A modern client before a legacy server whose process is shared: it lacks what the server asks for. */
describe('P7: a call that fails because its client cannot be asked', () => {
  it.each([
    ['tools/call', { name: 'a' }],
    ['prompts/get', { name: 'a' }],
    ['resources/read', { uri: 'a://1' }],
  ])('is refused with -32021, also %s', async (method, params) => {
    const capabilities = { tools: {}, prompts: {}, resources: {} };
    const { near, far } = await bridgeToHost('legacy', { capabilities });
    const client = near.modern();
    client.request(1, method, params);
    const call = await far.next();
    call.on.ask('q', 'sampling/createMessage', { messages: [], maxTokens: 1 });
    expect(await far.next()).toMatchObject({ id: 'q', error: { code: -32601 } });
    if (method === 'tools/call') call.on.answer(call, { ...DONE, isError: true });
    else call.on.refuse(call, -32603, 'I could not ask');
    expect(await client.next()).toMatchObject({
      id: 1,
      error: { code: -32021, data: { requiredCapabilities: { sampling: {} } } },
    });
  });
});

/** A bridge before a bridge before a legacy server: between the bridges the modern era is spoken. */
async function chain(way: 'memory' | 'http' = 'memory') {
  const { bridge: inner, far } = await bridgeTo('legacy', {
    capabilities: { tools: {}, prompts: {}, resources: {} },
  });
  far.lists = true;
  const outer = createBridge(await connectorTo(inner, way), { cache: false });
  const near = new NearLink();
  const served = await serve(outer, near);
  onTestFinished(async () => {
    await served.close({ graceMs: 0 });
    await outer.close();
  });
  return { near, far };
}

async function connectorTo(inner: Bridge, way: 'memory' | 'http') {
  if (way === 'memory') return memory(inner);
  const served = await serve(inner, http({ port: 0 }));
  onTestFinished(() => served.close({ graceMs: 0 }));
  return http(served.addresses[0]!);
}

const FAILED = { content: [{ type: 'text', text: 'I could not ask' }], isError: true };

describe('P7: a call over two bridges that fails because its client cannot be asked', () => {
  it.each(['memory', 'http'] as const)(
    'P7: has the result of the server for a legacy client, as without the bridges, over %s',
    async (way) => {
      const { near, far } = await chain(way);
      const client = await near.legacy();
      client.call(1, 'a');
      const call = await far.next();
      call.on.ask('q', 'sampling/createMessage', { messages: [], maxTokens: 1 });
      expect(await far.next()).toMatchObject({ id: 'q', error: { code: -32601 } });
      call.on.answer(call, FAILED);
      expect(await client.next()).toMatchObject({ id: 1, result: FAILED });
    },
  );

  it('P7: has the error of the server for a legacy client, as without the bridges', async () => {
    const { near, far } = await chain();
    const client = await near.legacy();
    client.request(1, 'prompts/get', { name: 'a' });
    const call = await far.next();
    call.on.ask('q', 'sampling/createMessage', { messages: [], maxTokens: 1 });
    expect(await far.next()).toMatchObject({ id: 'q', error: { code: -32601 } });
    call.on.refuse(call, -32050, 'I could not ask', { hint: 'sample' });
    expect((await client.next()).error).toEqual({
      code: -32050,
      message: 'I could not ask',
      data: { hint: 'sample' },
    });
  });

  it('P7: is refused with -32021 for a modern client, which is also told what the server answered', async () => {
    const { near, far } = await chain();
    const client = near.modern();
    client.call(1, 'a');
    const call = await far.next();
    call.on.ask('q', 'sampling/createMessage', { messages: [], maxTokens: 1 });
    expect(await far.next()).toMatchObject({ id: 'q', error: { code: -32601 } });
    call.on.answer(call, FAILED);
    expect((await client.next()).error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { sampling: {} }, serverAnswer: { result: FAILED } },
    });
  });
});
