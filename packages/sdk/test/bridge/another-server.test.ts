import { describe, expect, it } from 'vitest';
import { bridgeTo } from '../support/bridge/between.js';
import { CLIENT_INFO, SERVER_INFO, SUBSCRIPTION_ID, settle } from '../support/bridge/frames.js';

const DONE = { resultType: 'complete', content: [] };
const LISTS = { tools: { listChanged: true } };

describe('a server that comes back', () => {
  it('in the modern era is spoken to in that era, for both clients (VER-012)', async () => {
    const { near, far } = await bridgeTo('legacy');
    const legacy = await near.legacy({ capabilities: { roots: {} } });
    const modern = near.modern({ capabilities: { roots: {} } });
    for (const client of [legacy, modern]) {
      client.call('before', 'a');
      const call = await far.next();
      expect(call.params).not.toHaveProperty('_meta');
      call.on.answer(call, DONE);
      await client.next();
    }
    far.options = { era: 'modern' };
    for (const connection of far.stillOpen) connection.vanish();
    await settle();
    for (const client of [legacy, modern]) {
      client.call('after', 'a');
      const call = await far.next();
      expect(call.params._meta[CLIENT_INFO]).toEqual({ name: 'near', version: '1' });
      call.on.answer(call, { ...DONE, content: [{ type: 'text', text: 'new' }] });
      expect((await client.next()).result.content[0].text).toBe('new');
    }
    // What was remembered of its era is tried first, and refused.
    for (const { frames } of far.connections) {
      const at = frames.findIndex(({ message }) => message.method === 'initialize');
      if (at >= 0 && frames[at + 1]?.message.error) frames.splice(at, 2);
    }
  });

  it('in the legacy era is spoken to in that era, and asks as legacy servers do', async () => {
    const { near, far } = await bridgeTo('modern');
    const client = near.modern({ capabilities: { roots: {} } });
    client.call(1, 'a');
    const before = await far.next();
    before.on.answer(before, DONE);
    await client.next();
    far.options = { era: 'legacy' };
    before.on.vanish();
    await settle();
    client.call(2, 'a');
    const call = await far.next();
    expect(call.params).not.toHaveProperty('_meta');
    call.on.ask('q', 'roots/list');
    const { requestState } = (await client.next()).result;
    client.call(3, 'a', { requestState, inputResponses: { 'roots-1': { roots: [] } } });
    expect(await far.next()).toMatchObject({ id: 'q', result: { roots: [] } });
    call.on.answer(call, { content: [] });
    expect((await client.next()).id).toBe(3);
  });

  it('with other abilities is described as it is now (DISC-009)', async () => {
    const { near, far } = await bridgeTo('legacy');
    const client = near.modern();
    client.call(1, 'a');
    const before = await far.next();
    before.on.answer(before, DONE);
    await client.next();
    far.options = { era: 'legacy', capabilities: { tools: {} }, info: { name: 'far', version: '10' } };
    before.on.vanish();
    await settle();
    client.call(2, 'a');
    const after = await far.next();
    after.on.answer(after, DONE);
    expect((await client.next()).id).toBe(2);
    // The call that found it was accepted before; from then on it is the new one.
    client.request(3, 'server/discover');
    const { result } = await client.next();
    expect([result.capabilities, result._meta]).toEqual([
      { tools: {} },
      { [SERVER_INFO]: { name: 'far', version: '10' } },
    ]);
    client.call('again', 'a');
    const again = await far.next();
    again.on.answer(again, DONE);
    expect((await client.next()).result._meta).toEqual({ [SERVER_INFO]: { name: 'far', version: '10' } });
    client.request(4, 'prompts/list');
    expect(await client.next()).toMatchObject({ id: 4, error: { code: -32601 } });
  });

  it('and refuses a subscription that it had: the listen ends in good order (SUB-012)', async () => {
    const { near, far } = await bridgeTo('legacy', { capabilities: { resources: { subscribe: true } } });
    const client = near.modern();
    client.request('L', 'subscriptions/listen', { notifications: { resourceSubscriptions: ['a://1'] } });
    const first = await far.next();
    first.on.answer(first, {});
    await client.next();
    first.on.vanish();
    const again = await far.next();
    again.on.refuse(again, -32002, 'Resource not found', { uri: 'a://1' });
    expect(await client.next()).toMatchObject({
      id: 'L',
      result: { resultType: 'complete', _meta: { [SUBSCRIPTION_ID]: 'L' } },
    });
  });

  it('after a while is listened to again for a legacy client, who need not ask (SUB-015)', async () => {
    const { near, far, clock } = await bridgeTo('modern', { capabilities: LISTS });
    const client = await near.legacy();
    const first = await far.next();
    first.on.acknowledge(first);
    far.unreachable = 2;
    first.on.vanish();
    await settle();
    let again: Awaited<ReturnType<typeof far.next>> | undefined;
    for (let passed = 0; passed < 120 && !again; passed += 1) {
      clock.advance(1000);
      [again] = await far.rest();
    }
    expect(again!.method).toBe('subscriptions/listen');
    again!.on.acknowledge(again!);
    again!.on.notify('notifications/tools/list_changed', { _meta: { [SUBSCRIPTION_ID]: again!.id } });
    expect((await client.next()).method).toBe('notifications/tools/list_changed');
  });

  it('not at all: a listen of a modern client ends, and a new one says why it cannot be', async () => {
    const { near, far } = await bridgeTo('legacy', { capabilities: LISTS });
    const client = near.modern();
    client.request('L', 'subscriptions/listen', { notifications: { toolsListChanged: true } });
    await client.next();
    far.unreachable = 100;
    for (const connection of far.stillOpen) connection.vanish();
    expect(await client.next()).toMatchObject({ id: 'L', result: { resultType: 'complete' } });
    client.request('M', 'subscriptions/listen', { notifications: { toolsListChanged: true } });
    const { id, error } = await client.next();
    expect([id, error!.code]).toEqual(['M', -32603]);
    expect(error!.message).toContain('connection refused');
  });
});
