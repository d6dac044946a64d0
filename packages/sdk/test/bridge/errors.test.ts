import { describe, expect, it } from 'vitest';
import { bridgeTo } from '../support/bridge/between.js';
import type { NearClient } from '../support/bridge/near.js';

describe('row 19: errors of a modern server, for a legacy client', () => {
  async function refused(method: string, params: object, code: number, data?: unknown) {
    const { near, far } = await bridgeTo('modern');
    const client = await near.legacy();
    client.request(1, method, params);
    const request = await far.next();
    request.on.refuse(request, code, 'as it was', data);
    return (await client.next()).error!;
  }

  it.each([-32020, -32021, -32022])(
    '%i is a matter of the bridge: -32603, with what was said',
    async (code) => {
      const data = { supported: ['2027-01-01'], requested: '2026-07-28' };
      expect(await refused('tools/call', { name: 'a' }, code, data)).toEqual({
        code: -32603,
        message: 'as it was',
        data: { original: { code, message: 'as it was', data } },
      });
    },
  );

  it('a missing resource has a code that means so: -32602, or -32002 as of old (ERR-022)', async () => {
    const error = await refused('resources/read', { uri: 'a://b' }, -32602, { uri: 'a://b' });
    expect(error.code).toBeOneOf([-32602, -32002]);
    expect([error.message, error.data]).toEqual(['as it was', { uri: 'a://b' }]);
  });

  it.each([
    [-32600, undefined],
    [-32601, undefined],
    [-32602, { why: 'no such tool' }],
    [-32603, [1, 2]],
    [1234, { mine: true }],
    [-31000, 'text'],
  ])('%i passes, with its data', async (code, data) => {
    const error = await refused('tools/call', { name: 'a' }, code, data);
    expect(error).toEqual({ code, message: 'as it was', ...(data !== undefined && { data }) });
  });
});

describe('row 19: errors of a legacy server, for a modern client', () => {
  async function refused(method: string, params: object, code: number, data?: unknown) {
    const { near, far } = await bridgeTo('legacy');
    const client = near.modern();
    client.request(1, method, params);
    const request = await far.next();
    request.on.refuse(request, code, 'as it was', data);
    return (await client.next()).error!;
  }

  it.each([
    ['with the uri', { uri: 'a://b' }, { uri: 'a://b' }],
    ['without the uri', undefined, { uri: 'a://b' }],
    ['with other data', { hint: 'b' }, { hint: 'b', uri: 'a://b' }],
  ])('-32002 %s is -32602 with the uri (ERR-006, RES-004)', async (_how, data, seen) => {
    expect(await refused('resources/read', { uri: 'a://b' }, -32002, data)).toEqual({
      code: -32602,
      message: 'as it was',
      data: seen,
    });
  });

  it.each([-32000, -32001, -32019, -32020, -32022, -32050, -32099, -32768])(
    '%i has no meaning there, or another: -32603, with what was said (ERR-003, ERR-004, ERR-005)',
    async (code) => {
      expect(await refused('tools/call', { name: 'a' }, code, { x: 1 })).toEqual({
        code: -32603,
        message: 'as it was',
        data: { original: { code, message: 'as it was', data: { x: 1 } } },
      });
    },
  );

  it('-32021 of a legacy server is nothing that the client lacks', async () => {
    const error = await refused('tools/call', { name: 'a' }, -32021, { x: 1 });
    expect(error).toEqual({
      code: -32603,
      message: 'as it was',
      data: { original: { code: -32021, message: 'as it was', data: { x: 1 } } },
    });
  });

  it.each([-32700, -32600, -32601, -32602, -32603, -1, 42])('%i passes', async (code) => {
    expect(await refused('tools/call', { name: 'a' }, code, ['why'])).toEqual({
      code,
      message: 'as it was',
      data: ['why'],
    });
  });
});

describe('row 19: errors within one era', () => {
  it.each([-32002, -32000, -32042, -32603, 7])(
    '%i of a legacy server reaches a legacy client as it is',
    async (code) => {
      const { near, far } = await bridgeTo('legacy');
      const client = await near.legacy();
      client.request(1, 'resources/read', { uri: 'a://b' });
      const request = await far.next();
      request.on.refuse(request, code, 'as it was', { x: 1 });
      expect((await client.next()).error).toEqual({ code, message: 'as it was', data: { x: 1 } });
    },
  );

  it.each([
    [-32602, { uri: 'a://b' }],
    [-32021, { requiredCapabilities: { sampling: {} } }],
    [-32603, undefined],
    [7, { x: 1 }],
  ])('%i of a modern server reaches a modern client as it is', async (code, data) => {
    const { near, far } = await bridgeTo('modern');
    const client = near.modern();
    client.call(1, 'a');
    const request = await far.next();
    request.on.refuse(request, code, 'as it was', data);
    expect((await client.next()).error).toEqual({ code, message: 'as it was', ...(data && { data }) });
  });

  it.each([-32020, -32022])(
    '%i of a modern server is about the hop behind: -32603 for a modern client',
    async (code) => {
      const { near, far } = await bridgeTo('modern');
      const client = near.modern();
      client.call(1, 'a');
      const request = await far.next();
      request.on.refuse(request, code, 'as it was', { supported: ['2027-01-01'], requested: '2026-07-28' });
      expect((await client.next()).error).toMatchObject({ code: -32603, data: { original: { code } } });
    },
  );
});

describe('row 19: errors about subscriptions', () => {
  it.each([-32000, -32042, -32050])(
    '%i of a legacy server is nothing for a modern client (ERR-003, ERR-004)',
    async (code) => {
      const { near, far } = await bridgeTo('legacy', { capabilities: { resources: { subscribe: true } } });
      const client = near.modern();
      client.request(1, 'subscriptions/listen', { notifications: { resourceSubscriptions: ['a://1'] } });
      const subscribe = await far.next();
      subscribe.on.refuse(subscribe, code, 'as it was');
      expect((await client.next()).error).toMatchObject({ code: -32603, data: { original: { code } } });
    },
  );

  it.each([-32020, -32021, -32022])('%i of a modern server is nothing for a legacy client', async (code) => {
    const { near, far } = await bridgeTo('modern', { capabilities: { resources: { subscribe: true } } });
    const client = await near.legacy();
    client.request(1, 'resources/subscribe', { uri: 'a://1' });
    const listen = await far.next();
    listen.on.refuse(listen, code, 'as it was');
    expect((await client.next()).error).toMatchObject({ code: -32603, data: { original: { code } } });
  });

  it('-32002 of a legacy server reaches a legacy client as it is', async () => {
    const { near, far } = await bridgeTo('legacy', { capabilities: { resources: { subscribe: true } } });
    const client = await near.legacy();
    client.request(1, 'resources/subscribe', { uri: 'a://1' });
    const subscribe = await far.next();
    subscribe.on.refuse(subscribe, -32002, 'Resource not found', { uri: 'a://1' });
    expect((await client.next()).error).toEqual({
      code: -32002,
      message: 'Resource not found',
      data: { uri: 'a://1' },
    });
  });
});

describe('methods that are not there', () => {
  it.each(['modern', 'legacy'] as const)(
    'are refused here before a %s server without the capability (ERR-015)',
    async (era) => {
      const { near, far } = await bridgeTo(era, { capabilities: { tools: {} } });
      const clients: NearClient[] = [await near.legacy(), near.modern()];
      for (const client of clients) {
        for (const method of ['prompts/list', 'resources/read', 'completion/complete']) {
          client.request(method, method, { uri: 'a://b' });
          expect(await client.next()).toMatchObject({ id: method, error: { code: -32601 } });
        }
      }
      expect(await far.rest()).toEqual([]);
    },
  );

  it('of the other era are refused here (PING-004, row 13)', async () => {
    const { near, far } = await bridgeTo('legacy', {
      capabilities: { tools: {}, logging: {}, resources: { subscribe: true } },
    });
    const modern = near.modern();
    modern.request(0, 'tools/list');
    const list = await far.next();
    list.on.answer(list, { tools: [] });
    await modern.next();
    for (const method of ['ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe']) {
      modern.request(method, method, { uri: 'a://b', level: 'info' });
      expect(await modern.next()).toMatchObject({ id: method, error: { code: -32601 } });
    }
    modern.request('i', 'initialize', { protocolVersion: '2025-11-25' });
    expect(await modern.next()).toMatchObject({
      id: 'i',
      error: { code: expect.toBeOneOf([-32601, -32022]) },
    });
    const legacy = await near.legacy();
    for (const method of ['server/discover', 'subscriptions/listen']) {
      legacy.request(method, method, { notifications: {} });
      expect(await legacy.next()).toMatchObject({ id: method, error: { code: -32601 } });
    }
    expect(await far.rest()).toEqual([]);
  });
});
