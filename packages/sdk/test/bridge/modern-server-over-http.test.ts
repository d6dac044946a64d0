import { describe, expect, it, vi } from 'vitest';
import { bridgeToHttp } from '../support/bridge/between-http.js';
import type { Exchange } from '../support/bridge/far-http.js';
import { CAPABILITIES, SUBSCRIPTION_ID, until } from '../support/bridge/frames.js';

const DONE = { content: [{ type: 'text', text: 'done' }] };

/** The result of a POST, on its stream. */
function finish(exchange: Exchange, result: object = DONE): void {
  exchange.event({ id: exchange.message.id, result });
  exchange.end();
}

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
