import { describe, expect, it, onTestFinished } from 'vitest';
import { createBridge } from '../../src/bridge/index.js';
import { serve } from '../../src/index.js';
import { type HttpListenOptions, http } from '../../src/transport/http.js';
import {
  ask,
  initialize,
  legacy,
  legacyCall,
  legacyRequest,
  modern,
  modernCall,
  open,
  openSession,
  type Stream,
  until,
} from '../http-server/support.js';
import { type FarOptions, FarServer } from './support/far.js';
import { type Era, type Frame, LOG_LEVEL, type Message, SUBSCRIPTION_ID, settle } from './support/frames.js';
import { farProblems } from './support/judge-far.js';
import { nearProblems } from './support/judge-near.js';

/** A bridge whose clients come over HTTP. What each stream held is judged with the request that opened it. */
async function bridgeAt(era: Era, far: Omit<FarOptions, 'era'> = {}, listening: HttpListenOptions = {}) {
  const server = new FarServer({ era, ...far });
  const bridge = createBridge(server, { cache: false });
  const served = await serve(bridge, http({ port: 0, ...listening }));
  const [url] = served.addresses as [string];
  const judged: { readonly body: string; readonly stream: Stream }[] = [];
  onTestFinished(async () => {
    await served.close({ graceMs: 0 });
    await bridge.close();
    const found = judged.flatMap(({ body, stream }) => {
      const { messages } = stream.answer();
      const frames: Frame[] = [{ from: 'client', message: JSON.parse(body) as Message }];
      return nearProblems(
        [...frames, ...messages.map((message) => ({ from: 'server' as const, message }))],
        '2026-07-28',
      );
    });
    found.push(...server.connections.flatMap(({ frames, revision }) => farProblems(frames, revision)));
    expect(found).toEqual([]);
  });
  /** A modern request, read as it comes. */
  const post = async (request: ReturnType<typeof modern>) => {
    const stream = await open(url, request);
    judged.push({ body: request.body as string, stream });
    return stream;
  };
  return { url, far: server, bridge, post };
}

/** What came on a stream, or as the whole answer. */
async function answered(stream: Stream): Promise<Message> {
  await stream.end();
  return stream.answer().messages.at(-1)!;
}

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
    call.on.ask('q', 'roots/list');
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
    await until('end of the seat', () => bridge.seats === 1);
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
