import { describe, expect, it } from 'vitest';
import { bridgeTo } from '../support/bridge/between.js';
import { CAPABILITIES, CLIENT_INFO, SUBSCRIPTION_ID, VERSION } from '../support/bridge/frames.js';

const ALL = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
};
const LISTS = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
const ONLY_RESOURCES = { resources: { subscribe: true } };

describe('a legacy client before a modern server', () => {
  it('row 11: has a listen opened for it when it is ready, for the lists that may change', async () => {
    const { near, far } = await bridgeTo('modern', {
      capabilities: { tools: { listChanged: true }, prompts: {} },
    });
    const client = near.raw();
    const clientInfo = { name: 'near', version: '1' };
    client.revision = '2025-11-25';
    client.request(0, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    await client.next();
    expect(await far.rest()).toEqual([]);
    client.notify('notifications/initialized');
    const listen = await far.next();
    expect([listen.method, listen.params]).toEqual([
      'subscriptions/listen',
      {
        notifications: { toolsListChanged: true },
        _meta: { [VERSION]: '2026-07-28', [CLIENT_INFO]: clientInfo, [CAPABILITIES]: {} },
      },
    ]);
    listen.on.acknowledge(listen);
    listen.on.notify('notifications/tools/list_changed', { _meta: { [SUBSCRIPTION_ID]: listen.id } });
    expect(await client.next()).toEqual({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  });

  it('row 11: hears of nothing before a server that does not tell', async () => {
    const { near, far } = await bridgeTo('modern');
    await near.legacy();
    expect(await far.rest()).toEqual([]);
  });

  it('row 11: hears of each change of the lists as it comes (SUB-019)', async () => {
    const { near, far } = await bridgeTo('modern', { capabilities: ALL });
    const client = await near.legacy();
    const listen = await far.next();
    expect(listen.params.notifications).toEqual(LISTS);
    listen.on.acknowledge(listen);
    for (const kind of ['prompts', 'resources', 'tools', 'prompts']) {
      listen.on.notify(`notifications/${kind}/list_changed`, { _meta: { [SUBSCRIPTION_ID]: listen.id } });
      expect(await client.next()).toEqual({ jsonrpc: '2.0', method: `notifications/${kind}/list_changed` });
    }
  });

  it('row 10: subscribes, and is told so when the server has agreed', async () => {
    const { near, far } = await bridgeTo('modern', { capabilities: ONLY_RESOURCES });
    const client = await near.legacy();
    expect(await far.rest()).toEqual([]);
    client.request(1, 'resources/subscribe', { uri: 'a://1' });
    const listen = await far.next();
    expect([listen.method, listen.params.notifications]).toEqual([
      'subscriptions/listen',
      { resourceSubscriptions: ['a://1'] },
    ]);
    expect(await client.rest()).toEqual([]);
    listen.on.acknowledge(listen);
    expect(await client.next()).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    listen.on.notify('notifications/resources/updated', {
      _meta: { [SUBSCRIPTION_ID]: listen.id },
      uri: 'a://1',
    });
    expect(await client.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/resources/updated',
      params: { uri: 'a://1' },
    });
  });

  it('row 10: changes what it listens to without a gap: the new listen is confirmed before the old one ends', async () => {
    const { near, far } = await bridgeTo('modern', { capabilities: ALL });
    const client = await near.legacy();
    const first = await far.next();
    first.on.acknowledge(first);
    client.request(1, 'resources/subscribe', { uri: 'a://1' });
    const second = await far.next();
    expect(second.params.notifications).toEqual({ ...LISTS, resourceSubscriptions: ['a://1'] });
    // Between the two the old one still tells.
    first.on.notify('notifications/tools/list_changed', { _meta: { [SUBSCRIPTION_ID]: first.id } });
    expect((await client.next()).method).toBe('notifications/tools/list_changed');
    expect(await far.rest()).toEqual([]);
    second.on.acknowledge(second);
    expect(await client.next()).toMatchObject({ id: 1, result: {} });
    expect(await far.next()).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: first.id },
    });
    second.on.notify('notifications/tools/list_changed', { _meta: { [SUBSCRIPTION_ID]: second.id } });
    expect((await client.next()).method).toBe('notifications/tools/list_changed');
    // The late words of the old one mean nothing.
    first.on.notify('notifications/tools/list_changed', { _meta: { [SUBSCRIPTION_ID]: first.id } });
    expect(await client.rest()).toEqual([]);
  });

  it('row 10: several at once and one after the other end in one listen with all of them', async () => {
    const { near, far } = await bridgeTo('modern', { capabilities: ONLY_RESOURCES });
    const client = await near.legacy();
    for (const id of [1, 2, 3]) client.request(id, 'resources/subscribe', { uri: `a://${id}` });
    const open = new Map<unknown, string[]>();
    let answered = 0;
    while (answered < 3) {
      for (const frame of await far.rest()) {
        if (frame.method === 'notifications/cancelled') open.delete(frame.params.requestId);
        else {
          open.set(frame.id, frame.params.notifications.resourceSubscriptions);
          frame.on.acknowledge(frame);
        }
      }
      answered += (await client.rest()).length;
    }
    for (const frame of await far.rest()) open.delete(frame.params.requestId);
    expect([...open.values()]).toEqual([['a://1', 'a://2', 'a://3']]);
  });

  it('row 10: is refused what the server does not confirm, and keeps what it had', async () => {
    const { near, far } = await bridgeTo('modern', { capabilities: ONLY_RESOURCES });
    const client = await near.legacy();
    client.request(1, 'resources/subscribe', { uri: 'a://1' });
    const first = await far.next();
    first.on.acknowledge(first);
    await client.next();
    client.request(2, 'resources/subscribe', { uri: 'a://2' });
    const second = await far.next();
    second.on.acknowledge(second, { resourceSubscriptions: ['a://1'] });
    const { id, error } = await client.next();
    expect([id, error!.code, error!.data]).toEqual([2, -32602, { uri: 'a://2' }]);
    // Whichever of the two is left, it tells of the first resource, and nothing asks for the second.
    const frames = await far.rest();
    const ended = frames
      .filter(({ method }) => method === 'notifications/cancelled')
      .map(({ params }) => params.requestId);
    const left = [first, second].filter(({ id: listen }) => !ended.includes(listen as number));
    expect(left).toHaveLength(1);
    left[0]!.on.notify('notifications/resources/updated', {
      _meta: { [SUBSCRIPTION_ID]: left[0]!.id },
      uri: 'a://1',
    });
    expect(await client.next()).toMatchObject({ params: { uri: 'a://1' } });
    expect(await client.rest()).toEqual([]);
  });

  it('row 10: is refused when the listen is', async () => {
    const { near, far } = await bridgeTo('modern', { capabilities: ONLY_RESOURCES });
    const client = await near.legacy();
    client.request(1, 'resources/subscribe', { uri: 'a://1' });
    const listen = await far.next();
    listen.on.refuse(listen, -32602, 'No such resource', { uri: 'a://1' });
    expect(await client.next()).toMatchObject({ id: 1, error: { message: 'No such resource' } });
  });

  it('row 10: unsubscribes, and the last one ends the listen', async () => {
    const { near, far } = await bridgeTo('modern', { capabilities: ONLY_RESOURCES });
    const client = await near.legacy();
    for (const uri of ['a://1', 'a://2']) {
      client.request(uri, 'resources/subscribe', { uri });
      const listen = await far.next();
      listen.on.acknowledge(listen);
      await client.next();
    }
    const both = far.connections
      .at(-1)!
      .frames.filter(({ message }) => message.method === 'subscriptions/listen')
      .at(-1)!;
    await far.rest();
    client.request(3, 'resources/unsubscribe', { uri: 'a://1' });
    const one = await far.next();
    expect(one.params.notifications).toEqual({ resourceSubscriptions: ['a://2'] });
    one.on.acknowledge(one);
    expect(await client.next()).toEqual({ jsonrpc: '2.0', id: 3, result: {} });
    expect((await far.next()).params.requestId).toBe(both.message.id);
    one.on.notify('notifications/resources/updated', { _meta: { [SUBSCRIPTION_ID]: one.id }, uri: 'a://2' });
    expect(await client.next()).toMatchObject({ params: { uri: 'a://2' } });
    client.request(4, 'resources/unsubscribe', { uri: 'a://2' });
    expect(await client.next()).toEqual({ jsonrpc: '2.0', id: 4, result: {} });
    expect((await far.next()).params.requestId).toBe(one.id);
    expect(await far.rest()).toEqual([]);
  });

  it('row 10: asks for the same twice, and for what it does not have: {}, and nothing changes', async () => {
    const { near, far } = await bridgeTo('modern', { capabilities: ONLY_RESOURCES });
    const client = await near.legacy();
    client.request(1, 'resources/subscribe', { uri: 'a://1' });
    const listen = await far.next();
    listen.on.acknowledge(listen);
    await client.next();
    client.request(2, 'resources/subscribe', { uri: 'a://1' });
    expect(await client.next()).toMatchObject({ id: 2, result: {} });
    client.request(3, 'resources/unsubscribe', { uri: 'a://9' });
    expect(await client.next()).toMatchObject({ id: 3, result: {} });
    expect(await far.rest()).toEqual([]);
  });

  it('row 10: cannot subscribe where the server has nothing of the kind (ERR-015)', async () => {
    const { near, far } = await bridgeTo('modern', { capabilities: { resources: {} } });
    const client = await near.legacy();
    for (const method of ['resources/subscribe', 'resources/unsubscribe']) {
      client.request(method, method, { uri: 'a://1' });
      expect(await client.next()).toMatchObject({ id: method, error: { code: -32601 } });
    }
    expect(await far.rest()).toEqual([]);
  });

  it('row 10: hears of a part of what it subscribed to (SUB-016)', async () => {
    const { near, far } = await bridgeTo('modern', { capabilities: ONLY_RESOURCES });
    const client = await near.legacy();
    client.request(1, 'resources/subscribe', { uri: 'a://dir' });
    const listen = await far.next();
    listen.on.acknowledge(listen);
    await client.next();
    const uri = 'a://dir/file';
    listen.on.notify('notifications/resources/updated', { _meta: { [SUBSCRIPTION_ID]: listen.id }, uri });
    expect(await client.next()).toMatchObject({ params: { uri } });
  });

  it.each(['a closing result', 'notifications/cancelled'])(
    'row 16: sees nothing of %s by which the server ends a listen; another is opened (SUB-014)',
    async (how) => {
      const { near, far, clock } = await bridgeTo('modern', { capabilities: ALL });
      const client = await near.legacy();
      const first = await far.next();
      first.on.acknowledge(first);
      if (how === 'a closing result') {
        first.on.answer(first, { resultType: 'complete', _meta: { [SUBSCRIPTION_ID]: first.id } });
      } else first.on.notify('notifications/cancelled', { requestId: first.id, reason: 'tidying up' });
      await far.rest().then((frames) => {
        expect(frames.length).toBeLessThan(2);
        if (frames[0]) expect(frames[0].method).toBe('subscriptions/listen');
      });
      clock.advance(60_000);
      const all = far.connections
        .at(-1)!
        .frames.filter(({ message }) => message.method === 'subscriptions/listen');
      const again = all.at(-1)!.message;
      expect(again.id).not.toBe(first.id);
      expect(again.params.notifications).toEqual(LISTS);
      first.on.acknowledge(again);
      expect(await client.rest()).toEqual([]);
      first.on.notify('notifications/tools/list_changed', { _meta: { [SUBSCRIPTION_ID]: again.id } });
      expect((await client.next()).method).toBe('notifications/tools/list_changed');
      await far.rest();
    },
  );

  it('row 10: listens on where the connection is replaced (LIFE-007, SUB-015)', async () => {
    const { near, far } = await bridgeTo('modern', { capabilities: ONLY_RESOURCES });
    const client = await near.legacy();
    client.request(1, 'resources/subscribe', { uri: 'a://1' });
    const listen = await far.next();
    listen.on.acknowledge(listen);
    await client.next();
    listen.on.vanish();
    const again = await far.next();
    expect(again.on).not.toBe(listen.on);
    expect(again.params.notifications).toEqual({ resourceSubscriptions: ['a://1'] });
    again.on.acknowledge(again);
    again.on.notify('notifications/resources/updated', {
      _meta: { [SUBSCRIPTION_ID]: again.id },
      uri: 'a://1',
    });
    expect(await client.next()).toMatchObject({ params: { uri: 'a://1' } });
  });

  it('row 14: leaves, and its listen ends', async () => {
    const { near, far } = await bridgeTo('modern', { capabilities: ALL });
    const client = await near.legacy();
    const listen = await far.next();
    listen.on.acknowledge(listen);
    client.end();
    await client.closed;
    const [last] = await far.rest();
    expect(last === undefined || last.params.requestId === listen.id).toBe(true);
    expect(listen.on.isOpen).toBe(false);
  });

  it('row 10: hears only of what it asked for, when several have sessions', async () => {
    const { near, far } = await bridgeTo('modern', { capabilities: ONLY_RESOURCES });
    const clients = [await near.legacy(), await near.legacy()];
    const listens = [];
    for (const [index, client] of clients.entries()) {
      client.request(1, 'resources/subscribe', { uri: `a://${index}` });
      const listen = await far.next();
      listen.on.acknowledge(listen);
      listens.push(listen);
      await client.next();
    }
    const [one, two] = listens as [(typeof listens)[0], (typeof listens)[0]];
    expect(one.on).not.toBe(two.on);
    one.on.notify('notifications/resources/updated', { _meta: { [SUBSCRIPTION_ID]: one.id }, uri: 'a://0' });
    expect(await clients[0]!.next()).toMatchObject({ params: { uri: 'a://0' } });
    expect(await clients[1]!.rest()).toEqual([]);
  });
});
