import { describe, expect, it } from 'vitest';
import { bridgeToHttp } from '../support/bridge/between-http.js';
import type { Exchange } from '../support/bridge/far-http.js';
import { LOG_LEVEL, SUBSCRIPTION_ID, until } from '../support/bridge/frames.js';

const DONE = { content: [{ type: 'text', text: 'done' }] };
const ABLE = { roots: {}, elicitation: {} };
const form = (message: string) => ({ message, requestedSchema: { type: 'object', properties: {} } });

/** The result of a POST, on its stream. */
function finish(exchange: Exchange, result: object = DONE): void {
  exchange.event({ id: exchange.message.id, result });
  exchange.end();
}

describe('a legacy server at a URL, for modern clients', () => {
  it('row 6: asks on the stream of a call, so that two clients are asked at once and apart', async () => {
    const { near, far } = await bridgeToHttp('legacy');
    const clients = [near.modern({ capabilities: ABLE }), near.modern({ capabilities: ABLE })];
    const calls: Exchange[] = [];
    for (const [index, client] of clients.entries()) {
      client.call(1, `t${index}`);
      calls.push(await far.next());
    }
    expect(calls[0]!.headers['mcp-session-id']).toBe(calls[1]!.headers['mcp-session-id']);
    for (const [index, call] of [...calls.entries()].reverse()) {
      call.event({ id: `q${index}`, method: 'elicitation/create', params: form(`for ${index}`) });
    }
    for (const [index, client] of clients.entries()) {
      const { inputRequests, requestState } = (await client.next()).result;
      expect(inputRequests['elicitation-1'].params).toEqual(form(`for ${index}`));
      client.call(2, `t${index}`, {
        requestState,
        inputResponses: { 'elicitation-1': { action: 'decline' } },
      });
      const answer = await far.next();
      expect(answer.message).toEqual({ jsonrpc: '2.0', id: `q${index}`, result: { action: 'decline' } });
      finish(calls[index]!);
      expect((await client.next()).id).toBe(2);
    }
  });

  it('row 5: asks on the standing stream while no call runs: it is answered here', async () => {
    const { near, far } = await bridgeToHttp('legacy');
    const client = near.modern({ capabilities: ABLE });
    client.request(1, 'tools/list');
    (await far.next()).answer({ tools: [] });
    await client.next();
    await until('standing stream', () => far.gets.length === 1);
    far.gets[0]!.event({ id: 'q', method: 'elicitation/create', params: form('Anybody?') });
    const answer = await far.next();
    expect(answer.message.id).toBe('q');
    expect(answer.message.error?.code ?? answer.message.result.action).toBeOneOf([-32601, 'cancel']);
    expect(await client.rest()).toEqual([]);
  });

  it('row 10: tells on its standing stream, and the listen hears of it', async () => {
    const capabilities = { tools: { listChanged: true }, resources: { subscribe: true } };
    const { near, far } = await bridgeToHttp('legacy', { capabilities });
    const client = near.modern();
    client.request('L', 'subscriptions/listen', {
      notifications: { toolsListChanged: true, resourceSubscriptions: ['a://1'] },
    });
    const subscribe = await far.next();
    expect(subscribe.message).toMatchObject({ method: 'resources/subscribe', params: { uri: 'a://1' } });
    subscribe.answer({});
    expect((await client.next()).method).toBe('notifications/subscriptions/acknowledged');
    await until('standing stream', () => far.gets.length === 1);
    far.gets[0]!.event({ method: 'notifications/resources/updated', params: { uri: 'a://1' } });
    expect((await client.next()).params).toEqual({ _meta: { [SUBSCRIPTION_ID]: 'L' }, uri: 'a://1' });
    far.gets[0]!.event({ method: 'notifications/tools/list_changed' });
    expect((await client.next()).method).toBe('notifications/tools/list_changed');
  });

  it('row 12: logs on the stream of a call for that call alone, and on the standing stream for nobody', async () => {
    const { near, far } = await bridgeToHttp('legacy', { capabilities: { tools: {}, logging: {} } });
    const loud = near.modern();
    const quiet = near.modern();
    loud.call(1, 'a', {}, { [LOG_LEVEL]: 'info' });
    (await far.next()).answer({});
    const one = await far.next();
    quiet.call(1, 'b');
    const two = await far.next();
    const log = { method: 'notifications/message', params: { level: 'error', data: 1 } };
    await until('standing stream', () => far.gets.length === 1);
    far.gets[0]!.event(log);
    // The answer to a ping says that what came before it on the same stream has been read.
    far.gets[0]!.event({ id: 'p', method: 'ping' });
    expect((await far.next()).message).toEqual({ jsonrpc: '2.0', id: 'p', result: {} });
    two.event(log);
    finish(two);
    expect((await quiet.next()).id).toBe(1);
    one.event(log);
    finish(one);
    expect((await loud.next()).method).toBe('notifications/message');
    expect((await loud.next()).id).toBe(1);
  });

  it('row 14: has a session that nobody sees, and one for each principal', async () => {
    const { near, far } = await bridgeToHttp('legacy');
    const sessions = [];
    for (const principal of ['alice', 'bob', 'alice']) {
      const client = near.modern({ principal });
      client.call(1, 'a');
      const call = await far.next();
      call.answer(DONE);
      const answer = await client.next();
      expect(JSON.stringify(answer)).not.toMatch(/session|"s\d"/);
      sessions.push(call.headers['mcp-session-id']);
    }
    expect(sessions[0]).not.toBe(sessions[1]);
    expect(sessions[2]).toBe(sessions[0]);
  });

  it('row 14: forgets a session: another is opened, with its level and subscriptions, and the call is made', async () => {
    const capabilities = { tools: {}, logging: {}, resources: { subscribe: true } };
    const { near, far } = await bridgeToHttp('legacy', { capabilities });
    const client = near.modern();
    client.request('L', 'subscriptions/listen', { notifications: { resourceSubscriptions: ['a://1'] } });
    (await far.next()).answer({});
    await client.next();
    client.call(1, 'a', {}, { [LOG_LEVEL]: 'debug' });
    (await far.next()).answer({});
    (await far.next()).answer(DONE);
    await client.next();
    far.forget('s1');
    client.call(2, 'a', {}, { [LOG_LEVEL]: 'debug' });
    const methods: unknown[] = [];
    for (let call: Exchange | undefined; call?.message.method !== 'tools/call'; ) {
      call = await far.next();
      expect(call.headers['mcp-session-id']).toBe('s2');
      methods.push([call.message.method, call.message.params.level ?? call.message.params.uri]);
      call.answer(call.message.method === 'tools/call' ? DONE : {});
    }
    expect((await client.next()).id).toBe(2);
    expect(methods).toContainEqual(['resources/subscribe', 'a://1']);
    expect(methods).toContainEqual(['logging/setLevel', 'debug']);
    expect(far.methods.filter((method) => method === 'initialize')).toHaveLength(2);
    await until('standing stream', () => far.gets.length === 2);
    far.gets[1]!.event({ method: 'notifications/resources/updated', params: { uri: 'a://1' } });
    expect((await client.next()).params.uri).toBe('a://1');
  });

  it('row 16: hears of a call that was taken back by a message, not by a broken stream (LHTTP-010)', async () => {
    const { near, far } = await bridgeToHttp('legacy');
    const client = near.modern();
    client.call(1, 'a');
    const call = await far.next();
    call.openStream();
    client.cancel(1);
    const cancelled = await far.next();
    expect(cancelled.message).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: call.message.id },
    });
  });

  it('row 23: breaks a stream that can be resumed: it is, and the client sees nothing of it (LHTTP-022)', async () => {
    const { near, far } = await bridgeToHttp('legacy');
    const client = near.modern();
    client.call(1, 'a', {}, { progressToken: 't' });
    const call = await far.next();
    const { progressToken } = call.message.params._meta;
    call.write('retry: 10\n\n');
    call.event({ method: 'notifications/progress', params: { progressToken, progress: 1 } }, 'e1');
    expect((await client.next()).params.progress).toBe(1);
    call.break();
    await until('resumption', () => far.gets.some(({ headers }) => headers['last-event-id'] === 'e1'));
    const resumed = far.gets.find(({ headers }) => headers['last-event-id'] === 'e1')!;
    resumed.event({ id: call.message.id, result: DONE }, 'e2');
    expect(await client.next()).toMatchObject({ id: 1, result: DONE });
    expect(far.methods.filter((method) => method === 'tools/call')).toHaveLength(1);
  });

  it('row 23: breaks a stream that cannot be resumed: the call fails, and is not made again', async () => {
    const { near, far } = await bridgeToHttp('legacy');
    const client = near.modern();
    client.call(1, 'a');
    const call = await far.next();
    call.openStream();
    call.write(': working\n\n');
    call.break();
    expect((await client.next()).error).toMatchObject({ code: -32603, data: { sent: 'maybe' } });
    client.request(2, 'tools/list');
    expect((await far.next()).message.method).toBe('tools/list');
    expect(far.methods.filter((method) => method === 'tools/call')).toHaveLength(1);
  });
});
