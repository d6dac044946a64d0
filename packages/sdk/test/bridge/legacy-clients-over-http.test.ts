import { describe, expect, it } from 'vitest';
import { answered, bridgeAt } from '../support/bridge/bridge-at-url.js';
import { type Message, SUBSCRIPTION_ID } from '../support/bridge/frames.js';
import {
  ask,
  initialize,
  legacy,
  legacyCall,
  legacyRequest,
  open,
  openSession,
  until,
} from '../support/http-server.js';

const DONE = { resultType: 'complete', content: [{ type: 'text', text: 'done' }] };

describe('legacy clients over HTTP, before a modern server', () => {
  it('row 4: are asked on the stream of the call, and answer with a POST', async () => {
    const { url, far } = await bridgeAt('modern');
    const session = await openSession(url, { capabilities: { roots: {} } });
    const reading = session.open(legacyCall(1, 'a'));
    const call = await far.next();
    const inputRequests = { r: { method: 'roots/list' } };
    call.on.answer(call, { resultType: 'input_required', inputRequests, requestState: 's' });
    const stream = await reading;
    const question = await stream.next();
    expect(question.method).toBe('roots/list');
    const accepted = await session.post({ jsonrpc: '2.0', id: question.id, result: { roots: [] } });
    expect([accepted.status, accepted.text]).toEqual([202, '']);
    const retry = await far.next();
    expect(retry.params).toMatchObject({ inputResponses: { r: { roots: [] } }, requestState: 's' });
    retry.on.answer(retry, DONE);
    const { id, result } = await answered(stream);
    expect([id, result]).toEqual([1, { content: DONE.content }]);
  });

  it('row 10: hear of changes on their standing stream', async () => {
    const { url, far } = await bridgeAt('modern', {
      capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
    });
    const session = await openSession(url);
    const first = await far.next();
    first.on.acknowledge(first);
    const standing = await session.get();
    const subscribing = session.post(legacyRequest(1, 'resources/subscribe', { uri: 'a://1' }));
    const second = await far.next();
    second.on.acknowledge(second);
    expect((await subscribing).json).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    const _meta = { [SUBSCRIPTION_ID]: second.id };
    second.on.notify('notifications/resources/updated', { _meta, uri: 'a://1' });
    expect(await standing.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/resources/updated',
      params: { uri: 'a://1' },
    });
    second.on.notify('notifications/tools/list_changed', { _meta });
    expect((await standing.next()).method).toBe('notifications/tools/list_changed');
    await far.rest();
  });

  it('row 14: have a session of their own, and DELETE ends its calls and its listen over there', async () => {
    const { url, far, bridge } = await bridgeAt('modern', { capabilities: { tools: { listChanged: true } } });
    const session = await openSession(url);
    const other = await openSession(url);
    expect(session.id).not.toBe(other.id);
    const listens = [await far.next(), await far.next()];
    for (const listen of listens) listen.on.acknowledge(listen);
    const reading = session.open(legacyCall(1, 'a'));
    const call = await far.next();
    reading.catch(() => {});
    expect((await session.delete()).status).toBeLessThan(300);
    await until('end of the seat', () => bridge.upstreamSessions === 1);
    await until('end of the connection', () => !call.on.isOpen);
    expect((await session.post(legacyRequest(2, 'ping'))).status).toBe(404);
    expect((await other.post(legacyRequest(2, 'ping'))).json.result).toEqual({});
    await far.rest();
  });

  it('row 14: without a session can call, and are said to be able to do nothing', async () => {
    const { url, far } = await bridgeAt('modern', {}, { legacy: 'stateless' });
    const calling = ask(url, legacy(legacyCall(1, 'a'), { 'mcp-protocol-version': '2025-06-18' }));
    const call = await far.next();
    expect(call.params._meta['io.modelcontextprotocol/clientCapabilities']).toEqual({});
    call.on.answer(call, DONE);
    expect((await calling).messages.at(-1)!.result).toEqual({ content: DONE.content });
  });

  it('row 16: hang up, which takes nothing back: the answer is there when they come back (LHTTP-009, row 23)', async () => {
    const { url, far } = await bridgeAt('modern');
    const session = await openSession(url);
    const reading = session.open(legacyCall(1, 'a', {}, { progressToken: 't' }));
    const call = await far.next();
    call.on.progress(call, 1);
    const stream = await reading;
    await stream.next();
    stream.hangUp();
    call.on.answer(call, DONE);
    const last = stream.events.findLast(({ id }) => id !== undefined)!.id!;
    const resumed = await session.get({ 'last-event-id': last });
    expect(await resumed.next()).toEqual({ jsonrpc: '2.0', id: 1, result: { content: DONE.content } });
    expect(await far.rest()).toEqual([]);
  });

  it('row 16: take a call back with a message', async () => {
    const { url, far } = await bridgeAt('modern');
    const session = await openSession(url);
    const reading = session.open(legacyCall(1, 'a'));
    reading.catch(() => {});
    const call = await far.next();
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    expect((await session.post(cancelled)).status).toBe(202);
    expect(await far.next()).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: call.id },
    });
  });

  it('row 18: send a batch, and each element is answered', async () => {
    const { url, far } = await bridgeAt('modern');
    const session = await openSession(url, { revision: '2025-03-26' });
    const posting = session.post([legacyCall(1, 'a'), legacyRequest(2, 'ping'), legacyCall(3, 'b')]);
    const calls = [await far.next(), await far.next()];
    for (const call of calls) call.on.answer(call, DONE);
    const { messages } = await posting;
    expect(messages.map(({ id }) => id).sort()).toEqual([1, 2, 3]);
    const refused = await ask(url, legacy([initialize(1, '2025-03-26')]));
    expect(refused.status).toBe(400);
  });

  it('row 26: of 2024-11-05 get an endpoint and replies on their stream alone', async () => {
    const { url, far } = await bridgeAt('modern', {}, { sse: true });
    const stream = await open(new URL('/sse', url).href, {
      method: 'GET',
      headers: { accept: 'text/event-stream' },
    });
    await stream.until('endpoint', () => stream.events.length > 0);
    const endpoint = new URL(stream.events[0]!.data!, url).href;
    const said = () =>
      stream.events
        .filter(({ event }) => event === 'message')
        .map(({ data }) => JSON.parse(data!) as Message);
    const post = async (message: object) => expect((await ask(endpoint, legacy(message))).status).toBe(202);
    await post(initialize('i', '2024-11-05'));
    await stream.until('welcome', () => said().length === 1);
    expect(said()[0]!.result.protocolVersion).toBe('2024-11-05');
    await post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    await post(legacyCall(1, 'a'));
    const call = await far.next();
    call.on.answer(call, { ...DONE, structuredContent: { x: 1 } });
    await stream.until('answer', () => said().length === 2);
    expect(said()[1]).toEqual({ jsonrpc: '2.0', id: 1, result: { content: DONE.content } });
  });

  it('row 28: come with GET first, and get a stream or 405, never a modern error', async () => {
    const { url } = await bridgeAt('modern');
    const answer = await ask(url, { method: 'GET', headers: { accept: 'text/event-stream' } });
    expect(answer.status).toBeOneOf([400, 405]);
    expect(answer.text).not.toMatch(/-3202\d/);
  });
});
