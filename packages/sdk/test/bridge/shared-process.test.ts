import { describe, expect, it } from 'vitest';
import { bridgeToHost } from '../support/bridge/between-host.js';
import type { FarConnection, FarServer, Heard } from '../support/bridge/far.js';
import { CAPABILITIES, CLIENT_INFO, LOG_LEVEL, SUBSCRIPTION_ID } from '../support/bridge/frames.js';
import type { NearClient } from '../support/bridge/near.js';

const DONE = { resultType: 'complete', content: [] };
const FORM = { message: 'm', requestedSchema: { type: 'object', properties: {} } };

/** All that the server has sent is read when this is answered. */
async function readUp(far: FarServer, server: FarConnection): Promise<void> {
  server.ask('read up', 'ping');
  expect(await far.next()).toMatchObject({ id: 'read up', result: {} });
}

/** A call that is answered at once. */
async function called(client: NearClient, far: FarServer, name = 'a'): Promise<Heard> {
  client.call(name, name);
  const call = await far.next();
  expect(call.params.name).toBe(name);
  call.on.answer(call, DONE);
  expect((await client.next()).id).toBe(name);
  return call;
}

describe('a legacy server with one process for everybody', () => {
  it('row 1: has one session, in the name of the bridge, with all that any client might answer', async () => {
    const { near, far } = await bridgeToHost('legacy');
    const clients = [
      await near.legacy({ info: { name: 'one', version: '1' } }),
      await near.legacy(),
      near.modern(),
    ];
    for (const client of clients) await called(client, far);
    expect(far.connections.length).toBe(1);
    const [server] = far.connections;
    expect(server!.frames.filter(({ message }) => message.method === 'initialize').length).toBe(1);
    expect(server!.opening!.params).toEqual({
      protocolVersion: '2025-11-25',
      clientInfo: { name: 'isthmus', version: expect.any(String) },
      capabilities: {
        elicitation: { form: {}, url: {} },
        sampling: { tools: {}, context: {} },
        roots: {},
        extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
      },
    });
  });

  it('row 7: asks what a client did not declare: a legacy one is not asked, and the server hears that it cannot be', async () => {
    const { near, far } = await bridgeToHost('legacy');
    const client = await near.legacy();
    client.call(1, 'a');
    const call = await far.next();
    call.on.ask('q', 'elicitation/create', FORM);
    expect(await far.next()).toMatchObject({ id: 'q', error: { code: -32601 } });
    call.on.answer(call, { ...DONE, isError: true });
    expect((await client.next()).result.isError).toBe(true);
  });

  it('row 6: asks about a call, and the client that made it is asked', async () => {
    const { near, far } = await bridgeToHost('legacy');
    const capabilities = { elicitation: {} };
    const clients = [
      await near.legacy({ capabilities }),
      await near.legacy({ capabilities }),
      near.modern({ capabilities }),
    ];
    for (const [index, client] of clients.entries()) {
      client.call(index, `t${index}`);
      const call = await far.next();
      call.on.ask(`q${index}`, 'elicitation/create', { ...FORM, message: `for ${index}` });
      const asked = await client.next();
      if (asked.method) {
        expect(asked.params.message).toBe(`for ${index}`);
        client.answer(asked, { action: 'accept', content: { index } });
      } else {
        const { inputRequests, requestState } = asked.result;
        expect(inputRequests['elicitation-1'].params.message).toBe(`for ${index}`);
        const inputResponses = { 'elicitation-1': { action: 'accept', content: { index } } };
        client.call('retry', `t${index}`, { requestState, inputResponses });
      }
      expect(await far.next()).toMatchObject({ id: `q${index}`, result: { content: { index } } });
      call.on.answer(call, DONE);
      expect((await client.next()).result.content).toEqual([]);
    }
  });

  it('row 5: asks about no call: nobody is asked by guess', async () => {
    const { near, far } = await bridgeToHost('legacy');
    const capabilities = { elicitation: {} };
    const clients = [await near.legacy({ capabilities }), await near.legacy({ capabilities })];
    for (const client of clients) await called(client, far);
    const [server] = far.connections;
    server!.ask('q', 'elicitation/create', FORM);
    expect(await far.next()).toMatchObject({ id: 'q', error: { code: expect.any(Number) } });
    for (const client of clients) expect(await client.rest()).toEqual([]);
  });

  it('row 10: is subscribed to once for all, and unsubscribed from with the last', async () => {
    const { near, far } = await bridgeToHost('legacy', { capabilities: { resources: { subscribe: true } } });
    const [one, two, modern] = [await near.legacy(), await near.legacy(), near.modern()];
    one.request(1, 'resources/subscribe', { uri: 'a://1' });
    const subscribe = await far.next();
    expect(subscribe.method).toBe('resources/subscribe');
    subscribe.on.answer(subscribe, {});
    expect((await one.next()).id).toBe(1);
    two.request(1, 'resources/subscribe', { uri: 'a://1' });
    expect((await two.next()).id).toBe(1);
    modern.request('L', 'subscriptions/listen', { notifications: { resourceSubscriptions: ['a://1'] } });
    expect((await modern.next()).method).toBe('notifications/subscriptions/acknowledged');
    const server = subscribe.on;
    server.notify('notifications/resources/updated', { uri: 'a://1' });
    expect((await one.next()).params).toEqual({ uri: 'a://1' });
    expect((await two.next()).params).toEqual({ uri: 'a://1' });
    expect((await modern.next()).params).toEqual({ _meta: { [SUBSCRIPTION_ID]: 'L' }, uri: 'a://1' });
    one.request(2, 'resources/unsubscribe', { uri: 'a://1' });
    expect((await one.next()).id).toBe(2);
    modern.cancel('L');
    server.notify('notifications/resources/updated', { uri: 'a://1' });
    expect((await two.next()).params).toEqual({ uri: 'a://1' });
    await readUp(far, server);
    expect([await one.rest(), await modern.rest()]).toEqual([[], []]);
    two.end();
    const unsubscribe = await far.next();
    expect([unsubscribe.method, unsubscribe.params]).toEqual(['resources/unsubscribe', { uri: 'a://1' }]);
    unsubscribe.on.answer(unsubscribe, {});
  });

  it('row 11: tells of its lists, and each hears of it once', async () => {
    const { near, far } = await bridgeToHost('legacy', { capabilities: { tools: { listChanged: true } } });
    const clients = [await near.legacy(), await near.legacy()];
    for (const client of clients) await called(client, far);
    const [server] = far.connections;
    server!.notify('notifications/tools/list_changed');
    await readUp(far, server!);
    for (const client of clients) {
      expect(await client.rest()).toEqual([{ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }]);
    }
  });

  it('row 12: logs at the most talkative level that anybody wants, and each gets what it wants', async () => {
    const { near, far } = await bridgeToHost('legacy', { capabilities: { tools: {}, logging: {} } });
    const [quiet, loud] = [await near.legacy(), await near.legacy()];
    for (const [client, level] of [
      [quiet, 'error'],
      [loud, 'debug'],
    ] as const) {
      client.request('level', 'logging/setLevel', { level });
      const set = await far.next();
      expect([set.method, set.params]).toEqual(['logging/setLevel', { level }]);
      set.on.answer(set, {});
      expect((await client.next()).result).toEqual({});
    }
    for (const client of [quiet, loud]) {
      client.call(1, 'a');
      const call = await far.next();
      for (const level of ['debug', 'error']) call.on.notify('notifications/message', { level, data: level });
      call.on.answer(call, DONE);
      const levels = [];
      for (let message = await client.next(); message.id !== 1; message = await client.next())
        levels.push(message.params.level);
      expect(levels).toEqual(client === quiet ? ['error'] : ['debug', 'error']);
    }
    const modern = near.modern();
    modern.call(1, 'a', {}, { [LOG_LEVEL]: 'warning' });
    const call = await far.next();
    expect(call.method).toBe('tools/call');
    for (const level of ['info', 'alert']) call.on.notify('notifications/message', { level, data: level });
    call.on.answer(call, DONE);
    expect((await modern.next()).params.level).toBe('alert');
    expect((await modern.next()).id).toBe(1);
    expect([await quiet.rest(), await loud.rest()]).toEqual([[], []]);
  });

  it("row 22: hears nothing of roots that change, since they are one client's", async () => {
    const { near, far } = await bridgeToHost('legacy');
    const client = await near.legacy({ capabilities: { roots: { listChanged: true } } });
    await called(client, far);
    client.notify('notifications/roots/list_changed');
    await called(client, far, 'b');
  });

  it('row 16: goes on for the others when one leaves, and its calls are taken back', async () => {
    const { near, far } = await bridgeToHost('legacy');
    const [one, two] = [await near.legacy(), await near.legacy()];
    one.call(1, 'one');
    const first = await far.next();
    two.call(1, 'two');
    const second = await far.next();
    expect(second.on).toBe(first.on);
    one.vanish();
    expect(await far.next()).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: first.id },
    });
    second.on.answer(second, DONE);
    expect((await two.next()).id).toBe(1);
    expect(second.on.isOpen).toBe(true);
  });
});

describe('a modern server with one process for everybody', () => {
  it('row 1: is told with each request who asks', async () => {
    const { near, far } = await bridgeToHost('modern');
    const clients = [
      await near.legacy({ info: { name: 'one', version: '1' }, capabilities: { roots: {} } }),
      await near.legacy({ info: { name: 'two', version: '2' } }),
      near.modern({ info: { name: 'three', version: '3' }, capabilities: { sampling: {} } }),
    ];
    const told = [];
    for (const client of clients) {
      const { params } = await called(client, far);
      told.push([params._meta[CLIENT_INFO].name, params._meta[CAPABILITIES]]);
    }
    expect(told).toEqual([
      ['one', { roots: {} }],
      ['two', {}],
      ['three', { sampling: {} }],
    ]);
    expect(far.connections.length).toBe(1);
  });

  it('row 10: has a listen for each who listens', async () => {
    const { near, far } = await bridgeToHost('modern', { capabilities: { resources: { subscribe: true } } });
    const clients = [await near.legacy(), await near.legacy()];
    const listens: Heard[] = [];
    for (const [index, client] of clients.entries()) {
      client.request(1, 'resources/subscribe', { uri: `a://${index}` });
      const listen = await far.next();
      expect(listen.params.notifications).toEqual({ resourceSubscriptions: [`a://${index}`] });
      listen.on.acknowledge(listen);
      listens.push(listen);
      expect((await client.next()).id).toBe(1);
    }
    const [one, two] = listens as [Heard, Heard];
    expect(one.on).toBe(two.on);
    two.on.notify('notifications/resources/updated', { _meta: { [SUBSCRIPTION_ID]: two.id }, uri: 'a://1' });
    expect((await clients[1]!.next()).params).toEqual({ uri: 'a://1' });
    expect(await clients[0]!.rest()).toEqual([]);
  });

  it('row 12: logs for two at once, on one stream: what could be of either is of neither', async () => {
    const { near, far } = await bridgeToHost('modern', { capabilities: { tools: {}, logging: {} } });
    const clients = [near.modern(), near.modern()];
    const calls: Heard[] = [];
    for (const client of clients) {
      client.call(1, 'a', {}, { [LOG_LEVEL]: 'debug' });
      calls.push(await far.next());
    }
    calls[0]!.on.notify('notifications/message', { level: 'error', data: 1 });
    calls[0]!.on.answer(calls[0]!, DONE);
    expect((await clients[0]!.next()).id).toBe(1);
    calls[1]!.on.notify('notifications/message', { level: 'error', data: 2 });
    calls[1]!.on.answer(calls[1]!, DONE);
    expect((await clients[1]!.next()).params).toEqual({ level: 'error', data: 2 });
    expect((await clients[1]!.next()).id).toBe(1);
  });
});

describe('a server with a process for each principal', () => {
  it.each(['modern', 'legacy'] as const)('row 14: serves them apart (%s)', async (era) => {
    const { near, far } = await bridgeToHost(era, { definition: { processes: 'per-principal' } });
    const places = new Set<FarConnection>();
    for (const principal of ['alice', 'bob', undefined]) {
      const who = principal === undefined ? {} : { principal };
      const one = await called(near.modern(who), far);
      const two = await called(await near.legacy(who), far);
      expect(two.on).toBe(one.on);
      places.add(one.on);
    }
    expect(places.size).toBe(3);
  });
});
