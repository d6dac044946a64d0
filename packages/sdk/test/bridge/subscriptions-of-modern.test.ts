import { describe, expect, it } from 'vitest';
import { bridgeTo } from '../support/bridge/between.js';
import { SERVER_INFO, SUBSCRIPTION_ID } from '../support/bridge/frames.js';
import type { NearClient } from '../support/bridge/near.js';

const ALL = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
};
const LISTS = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };

function listen(client: NearClient, id: string | number, notifications: object): void {
  client.request(id, 'subscriptions/listen', { notifications });
}

function acknowledged(id: string | number, notifications: object): object {
  return {
    jsonrpc: '2.0',
    method: 'notifications/subscriptions/acknowledged',
    params: { _meta: { [SUBSCRIPTION_ID]: id }, notifications },
  };
}

function updated(id: string | number, uri: string): object {
  return {
    jsonrpc: '2.0',
    method: 'notifications/resources/updated',
    params: { _meta: { [SUBSCRIPTION_ID]: id }, uri },
  };
}

describe('a modern client before a legacy server', () => {
  it('row 10: has its resources subscribed to one by one, and is told when all is agreed (SUB-003)', async () => {
    const { near, far } = await bridgeTo('legacy', { capabilities: ALL });
    const client = near.modern();
    listen(client, 'L', { resourceSubscriptions: ['a://1', 'a://2'], toolsListChanged: true });
    const asked = [await far.next(), await far.next()];
    expect(asked.map(({ method, params }) => [method, params])).toEqual([
      ['resources/subscribe', { uri: 'a://1' }],
      ['resources/subscribe', { uri: 'a://2' }],
    ]);
    asked[0]!.on.answer(asked[0]!, {});
    expect(await client.rest()).toEqual([]);
    asked[1]!.on.answer(asked[1]!, {});
    expect(await client.next()).toEqual(
      acknowledged('L', { resourceSubscriptions: ['a://1', 'a://2'], toolsListChanged: true }),
    );
    asked[0]!.on.notify('notifications/resources/updated', { uri: 'a://2' });
    expect(await client.next()).toEqual(updated('L', 'a://2'));
    asked[0]!.on.notify('notifications/tools/list_changed');
    expect(await client.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/tools/list_changed',
      params: { _meta: { [SUBSCRIPTION_ID]: 'L' } },
    });
  });

  it.each<[string, object, object, object]>([
    [
      'no subscriptions',
      { ...ALL, resources: {} },
      { ...LISTS, resourceSubscriptions: ['a://1'] },
      { toolsListChanged: true, promptsListChanged: true },
    ],
    ['no prompts', { tools: { listChanged: true } }, LISTS, { toolsListChanged: true }],
    ['lists that never change', { tools: {}, prompts: {}, resources: {} }, LISTS, {}],
  ])(
    'row 10: is not promised what a server with %s lacks (SUB-006)',
    async (_what, capabilities, asked, honoured) => {
      const { near, far } = await bridgeTo('legacy', { capabilities });
      const client = near.modern();
      listen(client, 1, asked);
      expect(await client.next()).toEqual(acknowledged(1, honoured));
      expect(await far.rest()).toEqual([]);
    },
  );

  it('row 10: is not promised a resource whose subscription the server does not know after all', async () => {
    const { near, far } = await bridgeTo('legacy', { capabilities: ALL });
    const client = near.modern();
    listen(client, 1, { resourceSubscriptions: ['a://1', 'a://2'] });
    const [one, two] = [await far.next(), await far.next()];
    one.on.refuse(one, -32601, 'Method not found');
    two.on.answer(two, {});
    expect(await client.next()).toEqual(acknowledged(1, { resourceSubscriptions: ['a://2'] }));
  });

  it('row 10: is not promised a resource that does not exist', async () => {
    const { near, far } = await bridgeTo('legacy', { capabilities: ALL });
    const client = near.modern();
    listen(client, 1, { resourceSubscriptions: ['a://1'], toolsListChanged: true });
    const subscribe = await far.next();
    subscribe.on.refuse(subscribe, -32002, 'Resource not found', { uri: 'a://1' });
    const answer = await client.next();
    // Either it is left out, or the listen fails in words of the modern era; never a promise.
    if (answer.method) expect(answer).toEqual(acknowledged(1, { toolsListChanged: true }));
    else expect(answer).toMatchObject({ id: 1, error: { code: -32602, data: { uri: 'a://1' } } });
  });

  it('row 11: hears of the lists that it asked for, and of no others (SUB-002)', async () => {
    const { near, far } = await bridgeTo('legacy', { capabilities: ALL });
    const client = near.modern();
    listen(client, 7, { promptsListChanged: true });
    expect(await client.next()).toEqual(acknowledged(7, { promptsListChanged: true }));
    const [server] = far.stillOpen;
    for (const kind of ['tools', 'resources', 'prompts'])
      server!.notify(`notifications/${kind}/list_changed`);
    expect(await client.rest()).toEqual([
      {
        jsonrpc: '2.0',
        method: 'notifications/prompts/list_changed',
        params: { _meta: { [SUBSCRIPTION_ID]: 7 } },
      },
    ]);
  });

  it('row 11: hears of nothing without a listen', async () => {
    const { near, far } = await bridgeTo('legacy', { capabilities: ALL });
    const client = near.modern();
    client.call(1, 'a');
    const call = await far.next();
    for (const kind of ['tools', 'prompts', 'resources'])
      call.on.notify(`notifications/${kind}/list_changed`);
    call.on.notify('notifications/resources/updated', { uri: 'a://1' });
    expect(await client.rest()).toEqual([]);
    call.on.answer(call, { content: [] });
    await client.next();
  });

  it('row 10: shares a subscription with others, each under its own id; the last one ends it (META-013)', async () => {
    const { near, far } = await bridgeTo('legacy', { capabilities: ALL });
    const one = near.modern();
    const two = near.modern();
    const honoured = { resourceSubscriptions: ['a://1'] };
    listen(one, 1, honoured);
    const subscribe = await far.next();
    subscribe.on.answer(subscribe, {});
    expect(await one.next()).toEqual(acknowledged(1, honoured));
    listen(one, '1', honoured);
    listen(two, 1, honoured);
    expect(await one.next()).toEqual(acknowledged('1', honoured));
    expect(await two.next()).toEqual(acknowledged(1, honoured));
    expect(await far.rest()).toEqual([]);
    subscribe.on.notify('notifications/resources/updated', { uri: 'a://1' });
    expect([await one.next(), await one.next()]).toEqual([updated(1, 'a://1'), updated('1', 'a://1')]);
    expect(await two.next()).toEqual(updated(1, 'a://1'));
    one.cancel(1);
    two.vanish();
    expect(await far.rest()).toEqual([]);
    subscribe.on.notify('notifications/resources/updated', { uri: 'a://1' });
    expect(await one.rest()).toEqual([updated('1', 'a://1')]);
    one.cancel('1');
    const unsubscribe = await far.next();
    expect([unsubscribe.method, unsubscribe.params]).toEqual(['resources/unsubscribe', { uri: 'a://1' }]);
    unsubscribe.on.answer(unsubscribe, {});
    subscribe.on.notify('notifications/resources/updated', { uri: 'a://1' });
    expect(await one.rest()).toEqual([]);
  });

  it('row 10: hears of a part of what it subscribed to (SUB-016)', async () => {
    const { near, far } = await bridgeTo('legacy', { capabilities: ALL });
    const client = near.modern();
    listen(client, 1, { resourceSubscriptions: ['a://dir'] });
    const subscribe = await far.next();
    subscribe.on.answer(subscribe, {});
    await client.next();
    subscribe.on.notify('notifications/resources/updated', { uri: 'a://dir/file' });
    expect(await client.next()).toEqual(updated(1, 'a://dir/file'));
    subscribe.on.notify('notifications/resources/updated', { uri: 'a://directory' });
    expect(await client.rest()).toEqual([]);
  });

  it('row 10: hears nothing before it is promised; what came earlier comes after the promise (SUB-004)', async () => {
    const { near, far } = await bridgeTo('legacy', { capabilities: ALL });
    const client = near.modern();
    listen(client, 1, { resourceSubscriptions: ['a://1'], toolsListChanged: true });
    const subscribe = await far.next();
    subscribe.on.notify('notifications/tools/list_changed');
    expect(await client.rest()).toEqual([]);
    subscribe.on.answer(subscribe, {});
    expect((await client.next()).method).toBe('notifications/subscriptions/acknowledged');
    expect((await client.next()).method).toBe('notifications/tools/list_changed');
  });

  it('row 10: takes a listen back before it is agreed', async () => {
    const { near, far } = await bridgeTo('legacy', { capabilities: ALL });
    const client = near.modern();
    listen(client, 1, { resourceSubscriptions: ['a://1'] });
    const subscribe = await far.next();
    client.cancel(1);
    expect((await far.rest()).map(({ method }) => method)).not.toContain('resources/subscribe');
    subscribe.on.answer(subscribe, {});
    const after = await far.rest();
    for (const frame of after) if (frame.id !== undefined) frame.on.answer(frame, {});
    expect(await client.rest()).toEqual([]);
    // Nobody is subscribed any more: it was called off, or taken back.
    const methods = far.connections.at(-1)!.frames.map(({ message }) => message.method);
    expect(methods.some((method) => /unsubscribe|cancelled/.test(method ?? ''))).toBe(true);
  });

  it('row 14: listens on where the session is replaced, with all that it had (LIFE-007)', async () => {
    const { near, far } = await bridgeTo('legacy', { capabilities: ALL });
    const client = near.modern();
    listen(client, 1, { resourceSubscriptions: ['a://1'], toolsListChanged: true });
    const subscribe = await far.next();
    subscribe.on.answer(subscribe, {});
    await client.next();
    subscribe.on.vanish();
    const again = await far.next();
    expect([again.on === subscribe.on, again.method, again.params]).toEqual([
      false,
      'resources/subscribe',
      { uri: 'a://1' },
    ]);
    again.on.answer(again, {});
    await far.rest();
    again.on.notify('notifications/resources/updated', { uri: 'a://1' });
    expect(await client.next()).toEqual(updated(1, 'a://1'));
    expect(await client.rest()).toEqual([]);
  });

  it('row 10: is told in good order when the bridge ends (SUB-012, SUB-013)', async () => {
    const { near, served } = await bridgeTo('legacy', { capabilities: ALL });
    const client = near.modern();
    listen(client, 'L', { toolsListChanged: true });
    await client.next();
    const closing = served.close({ graceMs: 1000 });
    expect(await client.next()).toEqual({
      jsonrpc: '2.0',
      id: 'L',
      result: {
        resultType: 'complete',
        _meta: { [SERVER_INFO]: { name: 'far', version: '9' }, [SUBSCRIPTION_ID]: 'L' },
      },
    });
    await closing;
  });
});
