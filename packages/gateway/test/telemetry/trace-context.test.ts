import { readTraceParent } from '@isthmus/sdk/internal/transport/trace-headers.js';
import { describe, expect, it } from 'vitest';
import { bridgeTo } from '../../../sdk/test/support/bridge/between.js';
import { bridgeToHttp } from '../../../sdk/test/support/bridge/between-http.js';
import { answered, bridgeAt } from '../../../sdk/test/support/bridge/bridge-at-url.js';
import { CAPABILITIES, CLIENT_INFO, type Era, VERSION } from '../../../sdk/test/support/bridge/frames.js';
import {
  ask,
  legacy,
  legacyCall,
  modernCall,
  open,
  openSession,
} from '../../../sdk/test/support/http-server.js';

const TRACE = {
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  tracestate: 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE',
  baggage: 'userId=alice,serverNode=DF%2028',
};
const OTHER = '00-11111111111111111111111111111111-2222222222222222-00';
const DONE = { resultType: 'complete', content: [] };

const CELLS: readonly (readonly [Era, Era])[] = [
  ['legacy', 'legacy'],
  ['legacy', 'modern'],
  ['modern', 'legacy'],
  ['modern', 'modern'],
];

/** `_meta` without what each hop says of itself. */
function carried(meta: Record<string, unknown>): object {
  const { [VERSION]: _v, [CAPABILITIES]: _c, [CLIENT_INFO]: _i, ...rest } = meta;
  return rest;
}

describe('the trace context in _meta', () => {
  it.each(CELLS)('of a %s client reaches a %s server as it was sent', async (nearEra, farEra) => {
    const { near, far } = await bridgeTo(farEra);
    const client = nearEra === 'legacy' ? await near.legacy() : near.modern();
    client.call(1, 'a', {}, TRACE);
    const call = await far.next();
    expect(carried(call.params._meta)).toEqual(TRACE);
    call.on.answer(call, DONE);
    await client.next();
  });

  it.each(CELLS)(
    'of a %s client reaches a %s server even where it makes no sense',
    async (nearEra, farEra) => {
      const { near, far } = await bridgeTo(farEra);
      const client = nearEra === 'legacy' ? await near.legacy() : near.modern();
      const odd = { traceparent: 'not-a-trace', tracestate: '', baggage: 'ü\u0000' };
      client.request(1, 'prompts/get', { name: 'p' }, odd);
      const call = await far.next();
      expect(carried(call.params._meta)).toEqual(odd);
      call.on.answer(call, { resultType: 'complete', messages: [] });
      await client.next();
    },
  );

  it('comes back with a question of the server, in _meta of the question', async () => {
    const { near, far } = await bridgeTo('legacy');
    const client = await near.legacy({ capabilities: { sampling: {} } });
    client.call(1, 'a', {}, TRACE);
    const call = await far.next();
    call.on.ask('q', 'sampling/createMessage', { messages: [], maxTokens: 1, _meta: { traceparent: OTHER } });
    const question = await client.next();
    expect(question.params._meta).toMatchObject({ traceparent: OTHER });
    client.answer(question, { role: 'assistant', content: { type: 'text', text: 'x' }, model: 'm' });
    await far.next();
    call.on.answer(call, DONE);
    await client.next();
  });
});

describe('the header traceparent of a POST', () => {
  it('is put into _meta of a modern request that names no trace', async () => {
    const { far, post } = await bridgeAt('modern');
    const answer = post(modernCall(1, 'a', {}, { headers: TRACE }));
    const call = await far.next();
    expect(carried(call.params._meta)).toEqual(TRACE);
    call.on.answer(call, DONE);
    expect((await answered(await answer)).id).toBe(1);
  });

  it('is put into _meta of a request of a legacy session, and creates _meta where there is none', async () => {
    const { far, url } = await bridgeAt('legacy');
    const session = await openSession(url);
    const answer = session.post({ jsonrpc: '2.0', id: 2, method: 'tools/list' }, TRACE);
    const call = await far.next();
    expect(call.params).toEqual({ _meta: TRACE });
    call.on.answer(call, { tools: [] });
    expect((await answer).messages[0]!.id).toBe(2);
  });

  it('is put into each request of a batch (2025-03-26)', async () => {
    const { far, url } = await bridgeAt('legacy');
    const session = await openSession(url, { revision: '2025-03-26' });
    const batch = [legacyCall(1, 'a'), legacyCall(2, 'b', {}, { traceparent: OTHER })];
    const answer = session.post(batch, { traceparent: TRACE.traceparent });
    const calls = [await far.next(), await far.next()];
    expect(calls.map(({ params }) => params._meta)).toEqual([
      { traceparent: TRACE.traceparent },
      { traceparent: OTHER },
    ]);
    for (const call of calls) call.on.answer(call, { content: [] });
    expect((await answer).messages).toHaveLength(2);
  });

  it('is put into a message of the transport of 2024-11-05', async () => {
    const { far, url } = await bridgeAt('legacy', {}, { sse: true });
    const stream = await open(new URL('/sse', url).href, {
      method: 'GET',
      headers: { accept: 'text/event-stream' },
    });
    await stream.until('endpoint', () => stream.events.length > 0);
    const endpoint = new URL(stream.events[0]!.data!, url).href;
    const clientInfo = { name: 'c', version: '1' };
    const params = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo };
    await ask(endpoint, legacy({ jsonrpc: '2.0', id: 1, method: 'initialize', params }));
    await ask(endpoint, legacy({ jsonrpc: '2.0', method: 'notifications/initialized' }));
    await ask(endpoint, legacy(legacyCall(2, 'a'), TRACE));
    const call = await far.next();
    expect(call.params._meta).toEqual(TRACE);
    call.on.answer(call, { content: [] });
    await stream.until('answer', () => stream.events.length > 2);
    stream.hangUp();
  });

  it('gives way to the trace that a request names itself', async () => {
    const { far, post } = await bridgeAt('modern');
    const answer = post(modernCall(1, 'a', {}, { meta: { traceparent: OTHER }, headers: TRACE }));
    const call = await far.next();
    expect(carried(call.params._meta)).toEqual({ traceparent: OTHER });
    call.on.answer(call, DONE);
    await answered(await answer);
  });

  it.each([
    ['no trace at all', 'hello'],
    ['a version that is none', `ff${OTHER.slice(2)}`],
    ['a trace of zeros', '00-00000000000000000000000000000000-2222222222222222-00'],
    ['a span of zeros', '00-11111111111111111111111111111111-0000000000000000-00'],
    ['capital letters', OTHER.replaceAll('1', 'A')],
    ['more than version 00 has', `${OTHER}-more`],
  ])('is ignored when it is %s', async (_, traceparent) => {
    const { far, post } = await bridgeAt('modern');
    const answer = post(modernCall(1, 'a', {}, { headers: { traceparent, tracestate: 'a=1' } }));
    const call = await far.next();
    expect(carried(call.params._meta)).toEqual({});
    call.on.answer(call, DONE);
    await answered(await answer);
  });

  it('is understood when a later version says more', () => {
    expect(readTraceParent('01-11111111111111111111111111111111-2222222222222222-03-more')).toEqual({
      traceId: '11111111111111111111111111111111',
      spanId: '2222222222222222',
      flags: 3,
    });
  });
});

describe('requests to a server over HTTP', () => {
  it.each(CELLS)('of a %s client to a %s server repeat the trace in headers', async (nearEra, farEra) => {
    const { near, far } = await bridgeToHttp(farEra);
    const client = nearEra === 'legacy' ? await near.legacy() : near.modern();
    client.call(1, 'a', {}, TRACE);
    const { headers, message, ...call } = await nextCall(far);
    expect(carried(message.params._meta)).toEqual(TRACE);
    expect(headers).toMatchObject(TRACE);
    call.finish();
    await client.next();
  });

  it('have no such headers where there is no trace, or none that makes sense', async () => {
    const { near, far } = await bridgeToHttp('modern');
    const client = near.modern();
    for (const [id, meta] of [{}, { ...TRACE, traceparent: 'x\r\ny: z' }].entries()) {
      client.call(id, 'a', {}, meta);
      const { headers, finish } = await nextCall(far);
      expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['traceparent']));
      expect(headers).not.toHaveProperty('tracestate');
      expect(headers).not.toHaveProperty('baggage');
      finish();
      await client.next();
    }
  });

  it('leave out what a header cannot hold', async () => {
    const { near, far } = await bridgeToHttp('modern');
    const client = near.modern();
    client.call(1, 'a', {}, { ...TRACE, tracestate: 'a=1\r\nx-evil: 1', baggage: `k=${'v'.repeat(9000)}` });
    const { headers, finish } = await nextCall(far);
    expect(headers['traceparent']).toBe(TRACE.traceparent);
    expect(headers).not.toHaveProperty('tracestate');
    expect(headers).not.toHaveProperty('x-evil');
    expect(headers).not.toHaveProperty('baggage');
    finish();
    await client.next();
  });
});

async function nextCall(far: Awaited<ReturnType<typeof bridgeToHttp>>['far']) {
  const exchange = await far.next();
  const { headers, message } = exchange;
  return { headers, message, finish: () => exchange.answer(DONE) };
}
