import { describe, expect, it } from 'vitest';
import { bridgeTo } from '../support/bridge/between.js';
import { LOG_LEVEL } from '../support/bridge/frames.js';

const LOGS = { tools: {}, logging: {} };
const DONE = { resultType: 'complete', content: [] };
const log = (level: string, data: unknown = `${level}!`) => ({ level, logger: 'db', data });

describe('row 12: a legacy client before a modern server', () => {
  it('sets a level here, and later requests carry it (LOG-003, LOG-010)', async () => {
    const { near, far } = await bridgeTo('modern', { capabilities: LOGS });
    const client = await near.legacy();
    client.request(1, 'logging/setLevel', { level: 'warning' });
    expect(await client.next()).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    client.call(2, 'a');
    const call = await far.next();
    expect(call.params._meta[LOG_LEVEL]).toBe('warning');
    call.on.notify('notifications/message', log('error', { code: 7 }));
    expect(await client.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/message',
      params: { level: 'error', logger: 'db', data: { code: 7 } },
    });
    client.request(3, 'logging/setLevel', { level: 'debug' });
    await client.next();
    client.request(4, 'tools/list');
    const list = await far.next();
    expect(list.params._meta[LOG_LEVEL]).toBe('debug');
    list.on.answer(list, { resultType: 'complete', tools: [] });
    call.on.answer(call, DONE);
    expect([(await client.next()).id, (await client.next()).id]).toEqual([4, 2]);
  });

  it('is spared what is below its level', async () => {
    const { near, far } = await bridgeTo('modern', { capabilities: LOGS });
    const client = await near.legacy();
    client.request(1, 'logging/setLevel', { level: 'error' });
    await client.next();
    client.call(2, 'a');
    const call = await far.next();
    for (const level of ['debug', 'info', 'warning', 'error', 'alert']) {
      call.on.notify('notifications/message', log(level));
    }
    const told = await client.rest();
    expect(told.map(({ params }) => params.level)).toEqual(['error', 'alert']);
    call.on.answer(call, DONE);
    await client.next();
  });

  it('has set no level: none or the usual one is asked for, never the most talkative (LOG-011)', async () => {
    const { near, far } = await bridgeTo('modern', { capabilities: LOGS });
    const client = await near.legacy();
    client.call(1, 'a');
    const call = await far.next();
    expect(call.params._meta[LOG_LEVEL]).toBeOneOf([undefined, 'info']);
    call.on.answer(call, DONE);
    await client.next();
  });

  it.each([{ level: 'loud' }, { level: 3 }, {}])(
    'is refused %j, and nothing changes (LOG-012)',
    async (params) => {
      const { near, far } = await bridgeTo('modern', { capabilities: LOGS });
      const client = await near.legacy();
      client.request(1, 'logging/setLevel', { level: 'error' });
      await client.next();
      client.request(2, 'logging/setLevel', params);
      expect(await client.next()).toMatchObject({ id: 2, error: { code: -32602 } });
      client.call(3, 'a');
      const call = await far.next();
      expect(call.params._meta[LOG_LEVEL]).toBe('error');
      call.on.answer(call, DONE);
      await client.next();
    },
  );

  it('cannot set a level where the server does not log, and none is sent (LOG-001)', async () => {
    const { near, far } = await bridgeTo('modern', { capabilities: { tools: {} } });
    const client = await near.legacy();
    client.request(1, 'logging/setLevel', { level: 'debug' });
    expect(await client.next()).toMatchObject({ id: 1, error: { code: -32601 } });
    client.call(2, 'a');
    const call = await far.next();
    expect(call.params._meta).not.toHaveProperty([LOG_LEVEL]);
    call.on.answer(call, DONE);
    await client.next();
  });

  it('has a level of its own, whatever others want', async () => {
    const { near, far } = await bridgeTo('modern', { capabilities: LOGS });
    const clients = [await near.legacy(), await near.legacy()];
    for (const [index, level] of ['debug', 'critical'].entries()) {
      clients[index]!.request(1, 'logging/setLevel', { level });
      await clients[index]!.next();
    }
    for (const [index, level] of ['debug', 'critical'].entries()) {
      clients[index]!.call(2, 'a');
      const call = await far.next();
      expect(call.params._meta[LOG_LEVEL]).toBe(level);
      call.on.notify('notifications/message', log('info'));
      call.on.answer(call, DONE);
      expect((await clients[index]!.rest()).length).toBe(level === 'debug' ? 2 : 1);
    }
  });
});

describe('row 12: a modern client before a legacy server', () => {
  it('asks for logs with a request: the session is made as talkative before it, and no more often than needed', async () => {
    const { near, far } = await bridgeTo('legacy', { capabilities: LOGS });
    const client = near.modern();
    client.call(1, 'a', {}, { [LOG_LEVEL]: 'warning' });
    const level = await far.next();
    expect([level.method, level.params]).toEqual(['logging/setLevel', { level: 'warning' }]);
    expect(await far.rest()).toEqual([]);
    level.on.answer(level, {});
    const call = await far.next();
    expect(call.method).toBe('tools/call');
    call.on.notify('notifications/message', log('error', [1]));
    expect(await client.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/message',
      params: { level: 'error', logger: 'db', data: [1] },
    });
    call.on.answer(call, { content: [] });
    expect((await client.next()).id).toBe(1);
    client.call(2, 'a', {}, { [LOG_LEVEL]: 'error' });
    const second = await far.next();
    expect(second.method).toBe('tools/call');
    second.on.notify('notifications/message', log('warning'));
    second.on.answer(second, { content: [] });
    expect((await client.next()).id).toBe(2);
    client.call(3, 'a', {}, { [LOG_LEVEL]: 'debug' });
    const lower = await far.next();
    expect([lower.method, lower.params]).toEqual(['logging/setLevel', { level: 'debug' }]);
    lower.on.answer(lower, {});
    const third = await far.next();
    third.on.answer(third, { content: [] });
    expect((await client.next()).id).toBe(3);
  });

  it('does not ask for logs and gets none, however talkative the session is (LOG-002)', async () => {
    const { near, far } = await bridgeTo('legacy', { capabilities: LOGS });
    const client = near.modern();
    client.call(1, 'a', {}, { [LOG_LEVEL]: 'debug' });
    const level = await far.next();
    level.on.answer(level, {});
    const first = await far.next();
    first.on.answer(first, { content: [] });
    await client.next();
    client.call(2, 'a');
    const call = await far.next();
    call.on.notify('notifications/message', log('emergency'));
    expect(await client.rest()).toEqual([]);
    call.on.answer(call, { content: [] });
    call.on.notify('notifications/message', log('emergency'));
    expect((await client.rest()).map(({ id }) => id)).toEqual([2]);
  });

  it('has two calls at once for two clients: logs that could be of either are dropped (LOG-004)', async () => {
    const { near, far } = await bridgeTo('legacy', { capabilities: LOGS });
    const one = near.modern();
    const two = near.modern();
    one.call(1, 'a', {}, { [LOG_LEVEL]: 'info' });
    const level = await far.next();
    level.on.answer(level, {});
    const first = await far.next();
    two.call(1, 'b', {}, { [LOG_LEVEL]: 'info' });
    const second = await far.next();
    expect(second.on).toBe(first.on);
    first.on.notify('notifications/message', log('error'));
    expect([await one.rest(), await two.rest()]).toEqual([[], []]);
    first.on.answer(first, { content: [] });
    expect((await one.next()).id).toBe(1);
    second.on.notify('notifications/message', log('error'));
    expect((await two.next()).params.level).toBe('error');
    second.on.answer(second, { content: [] });
    await two.next();
    expect(await one.rest()).toEqual([]);
  });

  it('asks for logs of a server that has none: the call is made, and nothing is set (LOG-001)', async () => {
    const { near, far } = await bridgeTo('legacy', { capabilities: { tools: {} } });
    const client = near.modern();
    client.call(1, 'a', {}, { [LOG_LEVEL]: 'debug' });
    const call = await far.next();
    expect(call.method).toBe('tools/call');
    call.on.notify('notifications/message', log('error'));
    call.on.answer(call, { content: [] });
    expect((await client.rest()).map(({ id }) => id)).toEqual([1]);
  });

  it('asks for logs of a server that refuses to be told: the call is made all the same', async () => {
    const { near, far } = await bridgeTo('legacy', { capabilities: LOGS });
    const client = near.modern();
    client.call(1, 'a', {}, { [LOG_LEVEL]: 'debug' });
    const level = await far.next();
    level.on.refuse(level, -32601, 'Method not found');
    const call = await far.next();
    expect(call.method).toBe('tools/call');
    call.on.answer(call, { content: [] });
    expect((await client.next()).id).toBe(1);
  });

  it('names a level that does not exist, and is refused (LOG-005)', async () => {
    const { near, far } = await bridgeTo('legacy', { capabilities: LOGS });
    const client = near.modern();
    client.call(1, 'a', {}, { [LOG_LEVEL]: 'loud' });
    expect(await client.next()).toMatchObject({ id: 1, error: { code: -32602 } });
    expect(await far.rest()).toEqual([]);
  });

  it('row 14: has its level set again where the session is replaced', async () => {
    const { near, far } = await bridgeTo('legacy', { capabilities: LOGS });
    const client = near.modern();
    for (const _ of [1, 2]) {
      client.call(1, 'a', {}, { [LOG_LEVEL]: 'debug' });
      const level = await far.next();
      expect([level.method, level.params]).toEqual(['logging/setLevel', { level: 'debug' }]);
      level.on.answer(level, {});
      const call = await far.next();
      call.on.answer(call, { content: [] });
      await client.next();
      call.on.vanish();
      await client.rest();
    }
  });
});

describe('row 12: logging within one era', () => {
  it('a legacy client sets the level of a legacy server, and hears logs of no call', async () => {
    const { near, far } = await bridgeTo('legacy', { capabilities: LOGS });
    const client = await near.legacy();
    client.request(1, 'logging/setLevel', { level: 'warning' });
    const level = await far.next();
    expect([level.method, level.params]).toEqual(['logging/setLevel', { level: 'warning' }]);
    expect(await client.rest()).toEqual([]);
    level.on.answer(level, {});
    expect(await client.next()).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    level.on.notify('notifications/message', log('error'));
    expect((await client.next()).params).toEqual(log('error'));
  });

  it('a modern client asks a modern server', async () => {
    const { near, far } = await bridgeTo('modern', { capabilities: LOGS });
    const client = near.modern();
    client.call(1, 'a', {}, { [LOG_LEVEL]: 'notice' });
    const call = await far.next();
    expect(call.params._meta[LOG_LEVEL]).toBe('notice');
    call.on.notify('notifications/message', log('error'));
    expect((await client.next()).params).toEqual(log('error'));
    call.on.answer(call, DONE);
    await client.next();
    client.call(2, 'a');
    const silent = await far.next();
    expect(silent.params._meta).not.toHaveProperty([LOG_LEVEL]);
    silent.on.notify('notifications/message', log('error'));
    silent.on.answer(silent, DONE);
    expect((await client.rest()).map(({ id }) => id)).toEqual([2]);
  });
});
