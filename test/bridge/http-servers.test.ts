import { describe, expect, it, vi } from 'vitest';
import { bridgeToHttp } from './support/between-http.js';
import type { Exchange } from './support/far-http.js';
import { CAPABILITIES, LOG_LEVEL, SUBSCRIPTION_ID, until } from './support/frames.js';

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

  it('row 5: asks on the standing stream while nobody calls: it is answered here', async () => {
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

describe('a modern server at a URL, for legacy clients', () => {
  it('row 4: asks in an answer, and is called again in another POST', async () => {
    const { near, far } = await bridgeToHttp('modern');
    const client = await near.legacy({ capabilities: { roots: {} } });
    client.call(1, 'a');
    const first = await far.next();
    expect(first.headers.accept).toContain('text/event-stream');
    first.answer({
      resultType: 'input_required',
      inputRequests: { r: { method: 'roots/list' } },
      requestState: 's',
    });
    client.answer(await client.next(), { roots: [] });
    const second = await far.next();
    expect(second.message.params).toMatchObject({ inputResponses: { r: { roots: [] } }, requestState: 's' });
    finish(second, { resultType: 'complete', ...DONE });
    expect((await client.next()).result).toEqual(DONE);
  });

  it('row 16: sees its stream closed when a call is taken back, and no message (CANC-004, CANC-005)', async () => {
    const { near, far } = await bridgeToHttp('modern');
    const client = await near.legacy();
    client.call(1, 'a');
    const call = await far.next();
    call.openStream();
    call.write(': working\n\n');
    client.cancel(1);
    await until('end of the stream', () => call.isOver);
    client.request(2, 'tools/list');
    (await far.next()).answer({ resultType: 'complete', tools: [] });
    expect((await client.next()).id).toBe(2);
    expect(far.methods).not.toContain('notifications/cancelled');
  });

  it('row 16: goes on with a call whose client has only ended its input', async () => {
    const { near, far } = await bridgeToHttp('modern');
    const client = await near.legacy();
    client.call(1, 'a');
    const call = await far.next();
    client.end();
    call.answer({ resultType: 'complete', ...DONE });
    expect((await client.next()).result).toEqual(DONE);
  });

  it('row 10: has one listen for a session, on a stream of its own; the old stream is closed after the new one is there', async () => {
    const { near, far } = await bridgeToHttp('modern', {
      capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
    });
    const client = await near.legacy();
    const first = await far.next();
    expect(first.message.method).toBe('subscriptions/listen');
    const tell = (listen: Exchange, method: string, params: object = {}) =>
      listen.event({ method, params: { _meta: { [SUBSCRIPTION_ID]: listen.message.id }, ...params } });
    const acknowledge = (listen: Exchange) =>
      tell(listen, 'notifications/subscriptions/acknowledged', {
        notifications: listen.message.params.notifications,
      });
    acknowledge(first);
    tell(first, 'notifications/tools/list_changed');
    expect((await client.next()).method).toBe('notifications/tools/list_changed');
    client.request(1, 'resources/subscribe', { uri: 'a://1' });
    const second = await far.next();
    expect(first.isOver).toBe(false);
    acknowledge(second);
    expect(await client.next()).toMatchObject({ id: 1, result: {} });
    await until('end of the first', () => first.isOver);
    tell(second, 'notifications/resources/updated', { uri: 'a://1' });
    expect((await client.next()).params).toEqual({ uri: 'a://1' });
    client.end();
    await until('end of the second', () => second.isOver);
    expect(far.methods).not.toContain('notifications/cancelled');
  });

  it('row 20: has arguments in headers, as its list of tools wants it, and tools that break the rules are not shown', async () => {
    const warnings = vi.fn();
    const { near, far } = await bridgeToHttp('modern', { connecting: { onWarning: warnings } });
    const client = await near.legacy();
    const schema = (properties: object) => ({ type: 'object', properties });
    const good = {
      name: 'good',
      inputSchema: schema({ region: { type: 'string', 'x-mcp-header': 'Region' } }),
    };
    const bad = { name: 'bad', inputSchema: schema({ n: { type: 'number', 'x-mcp-header': 'N' } }) };
    client.request(1, 'tools/list');
    (await far.next()).answer({ resultType: 'complete', tools: [good, bad] });
    expect((await client.next()).result.tools.map(({ name }: { name: string }) => name)).toEqual(['good']);
    expect(warnings).toHaveBeenCalledTimes(1);
    client.call(2, 'good', { arguments: { region: 'züri' } });
    const call = await far.next();
    expect(call.headers['mcp-param-region']).toBe(`=?base64?${Buffer.from('züri').toString('base64')}?=`);
    call.answer({ resultType: 'complete', ...DONE });
    await client.next();
  });

  it('row 19: refuses with 400 and -32021: the client hears of an error inside, not of a capability', async () => {
    const { near, far } = await bridgeToHttp('modern');
    const client = await near.legacy({ capabilities: { roots: {} } });
    client.call(1, 'a');
    const call = await far.next();
    expect(call.message.params._meta[CAPABILITIES]).toEqual({ roots: {} });
    call.refuse(-32021, 'Needs sampling', { requiredCapabilities: { sampling: {} } }, 400);
    expect((await client.next()).error).toMatchObject({ code: -32603, data: { original: { code: -32021 } } });
  });

  it('row 23: breaks a stream: the call fails, and is not made again (HTTP-023)', async () => {
    const { near, far } = await bridgeToHttp('modern');
    const client = await near.legacy();
    client.call(1, 'a');
    const call = await far.next();
    call.write('id: e1\n: working\n\n');
    call.break();
    expect((await client.next()).error).toMatchObject({ code: -32603, data: { sent: 'maybe' } });
    client.request(2, 'tools/list');
    (await far.next()).answer({ resultType: 'complete', tools: [] });
    await client.next();
    expect(far.methods.filter((method) => method === 'tools/call')).toHaveLength(1);
    expect(far.methods).not.toContain('GET');
  });
});

describe('row 27: who asks', () => {
  it.each(['modern', 'legacy'] as const)(
    'is told to a %s server in words of the bridge alone',
    async (era) => {
      const { near, far } = await bridgeToHttp(era, {
        connecting: { headers: { authorization: 'Bearer far' } },
      });
      const client = near.modern({ principal: 'alice' });
      client.call(1, 'a');
      (await far.next()).answer({ resultType: 'complete', ...DONE });
      await client.next();
      for (const { headers } of far.seen) expect(headers.authorization).toBe('Bearer far');
      expect(JSON.stringify(far.seen.map(({ headers, message }) => [headers, message]))).not.toContain(
        'alice',
      );
    },
  );

  it.each([401, 403])(
    'is refused with %i at the start: an honest error, no verdict on the era, and another try',
    async (status) => {
      let refuses = true;
      const { near, far } = await bridgeToHttp('legacy', {
        prepare: (server) => {
          server.before = (exchange) => {
            if (refuses) exchange.status(status, { 'www-authenticate': 'Bearer realm="far"' });
            return refuses;
          };
        },
      });
      const client = near.modern();
      client.request(1, 'server/discover');
      const { error } = await client.next();
      expect(error).toMatchObject({ code: -32603, data: { status } });
      expect(far.methods).toEqual(['server/discover']);
      refuses = false;
      client.request(2, 'server/discover');
      expect((await client.next()).result.supportedVersions).toEqual(['2026-07-28']);
    },
  );

  it.each([
    ['modern', 401],
    ['legacy', 403],
  ] as const)('is refused in the middle by a %s server with %i: the call says so', async (era, status) => {
    const { near, far } = await bridgeToHttp(era, {
      connecting: { headers: { authorization: 'Bearer of the bridge' } },
    });
    for (const client of [await near.legacy(), near.modern()]) {
      client.call(1, 'a');
      (await far.next()).status(status, { 'www-authenticate': 'Bearer error="insufficient_scope"' });
      const { id, error } = await client.next();
      expect([id, error!.code]).toEqual([1, -32603]);
      expect(error!.data).toMatchObject({ reason: 'UNAUTHORIZED', status });
      expect(error!.message).toContain('insufficient_scope');
      expect(JSON.stringify(error)).not.toContain('of the bridge');
    }
  });
});
