import { describe, expect, it } from 'vitest';
import type { HttpListenOptions } from '../../src/transport/http.js';
import { answered, bridgeAt } from '../support/bridge/bridge-at-url.js';
import { LOG_LEVEL, SUBSCRIPTION_ID, settle } from '../support/bridge/frames.js';
import { ask, modern, modernCall } from '../support/http-server.js';

const DONE = { resultType: 'complete', content: [{ type: 'text', text: 'done' }] };
const FORM = { message: 'm', requestedSchema: { type: 'object', properties: {} } };

describe('modern clients over HTTP, before a legacy server', () => {
  it('row 4: are asked in one POST and answer in another', async () => {
    const { far, post } = await bridgeAt('legacy');
    const capabilities = { elicitation: {} };
    const first = post(modernCall(1, 'a', {}, { capabilities }));
    const call = await far.next();
    call.on.ask('q', 'elicitation/create', FORM);
    const round = await answered(await first);
    expect(round.result.resultType).toBe('input_required');
    await settle();
    expect(await far.rest()).toEqual([]);
    const inputResponses = { 'elicitation-1': { action: 'accept', content: {} } };
    const { requestState } = round.result;
    const second = post(modernCall(2, 'a', {}, { capabilities, params: { inputResponses, requestState } }));
    expect(await far.next()).toMatchObject({ id: 'q', result: { action: 'accept', content: {} } });
    call.on.answer(call, DONE);
    expect((await answered(await second)).result.content).toEqual(DONE.content);
  });

  it('row 15: get progress on the stream of the request, and so do logs', async () => {
    const { far, post } = await bridgeAt('legacy', { capabilities: { tools: {}, logging: {} } });
    const reading = post(modernCall(1, 'a', {}, { meta: { progressToken: 't', [LOG_LEVEL]: 'info' } }));
    const level = await far.next();
    level.on.answer(level, {});
    const call = await far.next();
    call.on.progress(call, 1);
    call.on.notify('notifications/message', { level: 'error', data: 'x' });
    call.on.answer(call, DONE);
    const stream = await reading;
    await stream.end();
    expect(stream.messages.map(({ method, id }) => method ?? id)).toEqual([
      'notifications/progress',
      'notifications/message',
      1,
    ]);
  });

  it('row 16: hang up, and the call is cancelled over there (CANC-004)', async () => {
    const { far, post } = await bridgeAt('legacy');
    const reading = post(modernCall(1, 'a', {}, { meta: { progressToken: 't' } }));
    const call = await far.next();
    call.on.progress(call, 1);
    const stream = await reading;
    await stream.next();
    stream.hangUp();
    expect(await far.next()).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: call.id },
    });
  });

  it('row 10: listen on a stream of their own, which they end by hanging up', async () => {
    const { far, post } = await bridgeAt('legacy', { capabilities: { resources: { subscribe: true } } });
    const notifications = { resourceSubscriptions: ['a://1'] };
    const reading = post(modern('L', 'subscriptions/listen', { notifications }));
    const subscribe = await far.next();
    subscribe.on.answer(subscribe, {});
    const stream = await reading;
    expect((await stream.next()).method).toBe('notifications/subscriptions/acknowledged');
    subscribe.on.notify('notifications/resources/updated', { uri: 'a://1' });
    expect((await stream.next()).params).toEqual({ _meta: { [SUBSCRIPTION_ID]: 'L' }, uri: 'a://1' });
    stream.hangUp();
    const unsubscribe = await far.next();
    expect(unsubscribe.method).toBe('resources/unsubscribe');
    unsubscribe.on.answer(unsubscribe, {});
  });

  it.each([
    ['-32601', 404, 'ping', {}],
    ['-32601', 404, 'initialize', {}],
  ])('row 13: get %s with %i for %s (ERR-016)', async (code, status, method, params) => {
    const { far, post } = await bridgeAt('legacy');
    const stream = await post(modern(1, method, params));
    expect([stream.status, (await answered(stream)).error?.code]).toEqual([status, Number(code)]);
    expect(await far.rest()).toEqual([]);
  });

  it('row 7: lack a capability: -32021 with 400 (META-009)', async () => {
    const { far, post } = await bridgeAt('legacy');
    const reading = post(modernCall(1, 'a'));
    const call = await far.next();
    call.on.ask('q', 'sampling/createMessage', { messages: [], maxTokens: 1 });
    expect(await far.next()).toMatchObject({ id: 'q', error: { code: -32601 } });
    call.on.answer(call, { content: [], isError: true });
    const stream = await reading;
    expect([stream.status, (await answered(stream)).error?.code]).toEqual([400, -32021]);
    await far.rest();
  });

  it('row 28: get server/discover answered', async () => {
    const { post } = await bridgeAt('legacy');
    const stream = await post(modern(1, 'server/discover'));
    expect([stream.status, (await answered(stream)).result.supportedVersions]).toEqual([200, ['2026-07-28']]);
  });

  it('row 20: have arguments of the tools of a legacy server checked in headers only as those say (HTTP-052)', async () => {
    const { url, far, post } = await bridgeAt('legacy');
    const inputSchema = {
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
    };
    const reading = post(modern(1, 'tools/list'));
    const list = await far.next();
    list.on.answer(list, { tools: [{ name: 'a', inputSchema }] });
    const { tools } = (await answered(await reading)).result;
    const isKept = JSON.stringify(tools).includes('x-mcp-header');
    const headers = isKept ? { 'mcp-param-region': 'eu' } : {};
    const calling = post(modernCall(2, 'a', { region: 'eu' }, { headers }));
    const call = await far.next();
    expect(call.params.arguments).toEqual({ region: 'eu' });
    call.on.answer(call, DONE);
    expect((await calling).status).toBe(200);
    if (!isKept) return;
    const wrong = await ask(
      url,
      modernCall(3, 'a', { region: 'eu' }, { headers: { 'mcp-param-region': 'us' } }),
    );
    expect([wrong.status, wrong.json.error?.code]).toEqual([400, -32020]);
    expect(await far.rest()).toEqual([]);
  });

  it('row 27: are told apart by what they prove, and their tokens stay here', async () => {
    const authenticate: HttpListenOptions['authenticate'] = (request) =>
      request.header('authorization')?.replace('Bearer ', '');
    const { url, far, post } = await bridgeAt('legacy', {}, { authenticate });
    expect((await ask(url, modernCall(1, 'a'))).status).toBe(401);
    const places = [];
    for (const who of ['alice', 'bob']) {
      const reading = post(modernCall(1, 'a', {}, { headers: { authorization: `Bearer ${who}` } }));
      const call = await far.next();
      call.on.answer(call, DONE);
      await answered(await reading);
      places.push(call.on);
    }
    expect(places[0]).not.toBe(places[1]);
    expect(JSON.stringify(far.connections.map(({ frames }) => frames))).not.toMatch(/alice|bob|Bearer/);
  });

  it('row 4: a state of one principal is of no use to another (MRTR-012)', async () => {
    const authenticate: HttpListenOptions['authenticate'] = (request) => request.header('authorization');
    const { far, post } = await bridgeAt('legacy', {}, { authenticate });
    const capabilities = { roots: {} };
    const as = (who: string) => ({ capabilities, headers: { authorization: who } });
    const first = post(modernCall(1, 'a', {}, as('alice')));
    const call = await far.next();
    call.on.ask('q', 'roots/list');
    const { requestState } = (await answered(await first)).result;
    const params = { requestState, inputResponses: { 'roots-1': { roots: [] } } };
    const stolen = await post(modernCall(2, 'a', {}, { ...as('bob'), params }));
    expect((await answered(stolen)).error?.code).toBe(-32602);
    const own = post(modernCall(3, 'a', {}, { ...as('alice'), params }));
    expect(await far.next()).toMatchObject({ id: 'q' });
    call.on.answer(call, DONE);
    expect((await answered(await own)).result.content).toEqual(DONE.content);
  });
});
