import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../../../test/support/fake-clock.js';
import { createServer } from '../../../../src/index.js';
import {
  ask,
  gate,
  LOG_LEVEL,
  legacyCall,
  modern,
  modernCall,
  open,
  openSession,
  plainServer,
  SUBSCRIPTION_ID,
  send,
  serveHttp,
  until,
} from '../../../support/http-server.js';

const PROGRESS = { meta: { progressToken: 'p' } };
const listen = (id: string | number, notifications: object) =>
  modern(id, 'subscriptions/listen', { notifications });

describe('the answer to a modern request', () => {
  it('is one JSON object when nothing is said before it (HTTP-013)', async () => {
    const { url } = await serveHttp(plainServer());
    const { status, headers, json } = await ask(url, modernCall(1, 'steps'));
    expect([status, headers['content-type']]).toEqual([200, 'application/json']);
    expect(json).toMatchObject({ jsonrpc: '2.0', id: 1, result: { resultType: 'complete' } });
  });

  it('is a stream when something is said before it, which ends with the answer (HTTP-013, HTTP-017, HTTP-019)', async () => {
    const { url } = await serveHttp(plainServer());
    const { status, headers, events, messages } = await ask(url, modernCall(1, 'steps', {}, PROGRESS));
    expect(status).toBe(200);
    expect(headers['x-accel-buffering']).toBe('no');
    expect(headers['cache-control']).toMatch(/no-cache/);
    expect(messages.map(({ method, id, params }) => ({ method, id, params }))).toEqual([
      {
        method: 'notifications/progress',
        id: undefined,
        params: { progressToken: 'p', progress: 1, total: 2 },
      },
      {
        method: 'notifications/progress',
        id: undefined,
        params: { progressToken: 'p', progress: 2, total: 2 },
      },
      { method: undefined, id: 1, params: undefined },
    ]);
    // HTTP-022: nothing to resume from.
    expect(events.map(({ id, retry }) => [id, retry])).toEqual(Array(3).fill([undefined, undefined]));
    expect(events.map(({ event }) => event)).toEqual(Array(3).fill('message'));
  });

  it('reaches the client as it is said, not at the end', async () => {
    const server = createServer({ name: 'slow', version: '1' });
    const release = gate();
    server.tool('slow', {}, async (_args, ctx) => {
      ctx.progress(1);
      await release.promise;
      return 'done';
    });
    const { url } = await serveHttp(server);
    const stream = await open(url, modernCall(1, 'slow', {}, PROGRESS));
    expect(await stream.next()).toMatchObject({ method: 'notifications/progress', params: { progress: 1 } });
    release.open();
    expect(await stream.next()).toMatchObject({ id: 1, result: { content: [{ text: 'done' }] } });
    await stream.end();
    expect(stream.complete).toBe(true);
  });

  it('is an error inside the stream once the stream has begun', async () => {
    const server = createServer({ name: 'slow', version: '1' });
    server.tool('asks', {}, async (_args, ctx) => {
      ctx.progress(1);
      await ctx.elicit({ message: '?', requestedSchema: { type: 'object', properties: {} } });
      return 'never';
    });
    const { url } = await serveHttp(server);
    const { status, messages } = await ask(url, modernCall(1, 'asks', {}, PROGRESS));
    expect(status).toBe(200);
    expect(messages.at(-1)).toMatchObject({ id: 1, error: { code: -32021 } });
  });

  it('carries only what concerns its own request, also when two callers use the same id (HTTP-015)', async () => {
    const server = createServer({ name: 'pair', version: '1' });
    const both = gate();
    let running = 0;
    server.tool('pair', {}, async (_args, ctx) => {
      const name = String((ctx.params['arguments'] as { name: string }).name);
      running += 1;
      if (running === 2) both.open();
      await both.promise;
      for (let step = 1; step <= 5; step += 1) {
        ctx.progress(step, 5, name);
        ctx.log('info', name);
        await new Promise((resolve) => setImmediate(resolve));
      }
      return name;
    });
    const { url } = await serveHttp(server);
    const options = { meta: { progressToken: 1, [LOG_LEVEL]: 'info' } };
    const answers = await Promise.all(
      ['ada', 'bob'].map((name) => ask(url, modernCall(1, 'pair', { name }, options))),
    );
    for (const [index, name] of ['ada', 'bob'].entries()) {
      const { messages } = answers[index]!;
      expect(messages).toHaveLength(11);
      expect(messages.at(-1)?.result.content).toEqual([{ type: 'text', text: name }]);
      for (const { params } of messages.slice(0, -1))
        expect(params?.['message'] ?? params?.['data']).toBe(name);
    }
  });

  it('is never crossed between 200 callers with the same id (D-24)', async () => {
    const server = createServer({ name: 'many', version: '1' });
    const all = gate();
    let running = 0;
    server.tool('same', {}, async (_args, ctx) => {
      running += 1;
      if (running === 200) all.open();
      await all.promise;
      return JSON.stringify(ctx.params['arguments']);
    });
    const { url } = await serveHttp(server);
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, caller) => ask(url, modernCall('same', 'same', { caller }))),
    );
    expect(answers.map(({ json }) => json.result?.content[0].text)).toEqual(
      Array.from({ length: 200 }, (_, caller) => `{"caller":${caller}}`),
    );
    expect(new Set(answers.map(({ json }) => json.id))).toEqual(new Set(['same']));
  });
});

describe('a client that hangs up', () => {
  function watched() {
    const server = createServer({ name: 'watched', version: '1' });
    const started = gate();
    const ended = gate<unknown>();
    server.tool('work', {}, async (_args, ctx) => {
      if (ctx.params['_meta'] && (ctx.params['_meta'] as Record<string, unknown>)['progressToken'])
        ctx.progress(1);
      started.open();
      const aborted = () => ended.open(ctx.signal.reason);
      if (ctx.signal.aborted) aborted();
      ctx.signal.addEventListener('abort', aborted);
      await ended.promise;
      ctx.progress(2);
      ctx.log('info', 'still here');
      return 'too late';
    });
    server.resource('test://a', { name: 'a' }, () => 'a');
    return { server, started, ended };
  }

  it('cancels its request before anything was said (HTTP-024, CANC-004)', async () => {
    const { server, started, ended } = watched();
    const { url, served } = await serveHttp(server);
    const request = send(url, modernCall(1, 'work'));
    await started.promise;
    request.destroy();
    expect(await ended.promise).toMatchObject({ code: 'CANCELLED' });
    await until('end of the connection', () => served.connections === 0);
  });

  it('cancels its request in the middle of the stream, and nothing more is said of it (HTTP-024, HTTP-025)', async () => {
    const { server, started, ended } = watched();
    const { url, served } = await serveHttp(server);
    const bystander = await open(url, listen('by', { resourcesListChanged: true }));
    await bystander.next();
    const stream = await open(
      url,
      modernCall(1, 'work', {}, { meta: { progressToken: 'p', [LOG_LEVEL]: 'info' } }),
    );
    await started.promise;
    await stream.next();
    stream.hangUp();
    expect(await ended.promise).toMatchObject({ code: 'CANCELLED' });
    await until('end of the connection', () => served.connections === 1);
    expect((await ask(url, modern(2, 'server/discover'))).status).toBe(200);
    expect(bystander.messages).toHaveLength(1);
  });

  it('ends its listen, and the place is free again', async () => {
    const { server } = watched();
    const { url, served } = await serveHttp(server, { maxStreams: 1 });
    const first = await open(url, listen(1, { resourcesListChanged: true }));
    await first.next();
    expect((await ask(url, listen(2, { resourcesListChanged: true }))).status).toBe(503);
    first.hangUp();
    await until('end of the connection', () => served.connections === 0);
    const second = await open(url, listen(3, { resourcesListChanged: true }));
    expect((await second.next()).method).toBe('notifications/subscriptions/acknowledged');
  });
});

describe('a sign of life', () => {
  function silent() {
    const server = createServer({ name: 'silent', version: '1' });
    const started = gate();
    const release = gate();
    server.tool('silent', {}, async () => {
      started.open();
      await release.promise;
      return 'at last';
    });
    server.resource('test://a', { name: 'a' }, () => 'a');
    return { server, started, release, clock: new FakeClock() };
  }

  it('is sent on a call that is silent for long, which makes it a stream (HTTP-020)', async () => {
    const { server, started, release, clock } = silent();
    const { url } = await serveHttp(server, { clock, keepAliveMs: 1000 });
    const opening = open(url, modernCall(1, 'silent'));
    await started.promise;
    clock.advance(999);
    clock.advance(501);
    const stream = await opening;
    await stream.until('comment', () => stream.events.length > 0);
    expect(stream.events).toEqual([{ comment: 'keep-alive' }]);
    clock.advance(1500);
    await stream.until('second comment', () => stream.events.length > 1);
    release.open();
    expect(await stream.next()).toMatchObject({ id: 1, result: { content: [{ text: 'at last' }] } });
    await stream.end();
  });

  it('is not sent on a call that ends before', async () => {
    const { server, started, release, clock } = silent();
    const { url } = await serveHttp(server, { clock, keepAliveMs: 1000 });
    const answer = ask(url, modernCall(1, 'silent'));
    await started.promise;
    clock.advance(900);
    release.open();
    expect((await answer).headers['content-type']).toBe('application/json');
  });

  it('is sent on a silent listen, and not on one that has news', async () => {
    const { server, clock } = silent();
    const { url } = await serveHttp(server, { clock, keepAliveMs: 1000 });
    const stream = await open(url, listen(1, { resourceSubscriptions: ['test://a'] }));
    await stream.next();
    clock.advance(800);
    server.resourceUpdated('test://a');
    await stream.next();
    clock.advance(800);
    server.resourceUpdated('test://a');
    await stream.next();
    expect(stream.events.filter(({ comment }) => comment !== undefined)).toEqual([]);
    clock.advance(1500);
    await stream.until('comment', () => stream.events.some(({ comment }) => comment === 'keep-alive'));
  });

  it('is sent on the streams of a session', async () => {
    const { server, started, release, clock } = silent();
    const { url } = await serveHttp(server, { clock, keepAliveMs: 1000 });
    const session = await openSession(url, { revision: '2025-06-18' });
    const standing = await session.get();
    const calling = session.open(legacyCall(1, 'silent'));
    await started.promise;
    clock.advance(1500);
    const call = await calling;
    clock.advance(1500);
    for (const stream of [standing, call]) {
      await stream.until('comment', () => stream.events.some(({ comment }) => comment === 'keep-alive'));
    }
    release.open();
    expect(await call.next()).toMatchObject({ id: 1, result: { content: [{ text: 'at last' }] } });
  });
});

describe('subscriptions/listen', () => {
  function library() {
    const server = createServer({ name: 'library', version: '1' });
    server.resource('test://a', { name: 'a' }, () => 'a');
    server.resource('test://b', { name: 'b' }, () => 'b');
    server.tool('touch', {}, (_args, ctx) => {
      ctx.log('info', 'touching');
      ctx.progress(1);
      server.resourceUpdated('test://a');
      server.resourceUpdated('test://b');
      return 'touched';
    });
    return server;
  }

  it('is acknowledged first, then brings what was asked for and nothing else, with its id (SUB-008, HTTP-018)', async () => {
    const { url } = await serveHttp(library());
    const stream = await open(
      url,
      listen(5, { resourceSubscriptions: ['test://a'], promptsListChanged: true, toolsListChanged: true }),
    );
    expect(stream.status).toBe(200);
    expect(stream.headers['x-accel-buffering']).toBe('no');
    expect(await stream.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: {
        _meta: { [SUBSCRIPTION_ID]: 5 },
        notifications: { toolsListChanged: true, resourceSubscriptions: ['test://a'] },
      },
    });
    const call = await ask(
      url,
      modernCall(5, 'touch', {}, { meta: { progressToken: 5, [LOG_LEVEL]: 'debug' } }),
    );
    expect(call.messages.map(({ method }) => method)).toEqual([
      'notifications/message',
      'notifications/progress',
      undefined,
    ]);
    expect(await stream.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/resources/updated',
      params: { _meta: { [SUBSCRIPTION_ID]: 5 }, uri: 'test://a' },
    });
    expect(stream.messages).toHaveLength(2);
    expect(stream.events.map(({ id }) => id)).toEqual([undefined, undefined]);
    expect(stream.headers).not.toHaveProperty('mcp-session-id');
  });

  it('tells two listeners with the same id the same news, each once', async () => {
    const server = library();
    const { url } = await serveHttp(server);
    const filter = { resourceSubscriptions: ['test://b'] };
    const listeners = await Promise.all([open(url, listen(1, filter)), open(url, listen(1, filter))]);
    for (const each of listeners) await each.next();
    server.resourceUpdated('test://b');
    for (const each of listeners) {
      expect((await each.next()).params).toEqual({ _meta: { [SUBSCRIPTION_ID]: 1 }, uri: 'test://b' });
      expect(each.messages).toHaveLength(2);
    }
  });

  it('has a limit that ordinary calls do not share', async () => {
    const { url } = await serveHttp(library(), { maxStreams: 3 });
    const filter = { toolsListChanged: true };
    for (const id of [1, 2, 3]) await (await open(url, listen(id, filter))).next();
    const refused = await ask(url, listen(4, filter));
    expect(refused.status).toBe(503);
    expect(refused.headers['retry-after']).toBe('1');
    expect(refused.json).toMatchObject({ id: 4, error: { code: -32603 } });
    expect((await ask(url, modernCall(5, 'touch'))).status).toBe(200);
  });

  it('that is refused does not take a place', async () => {
    const { url } = await serveHttp(library(), { maxStreams: 1 });
    for (let id = 0; id < 5; id += 1) expect((await ask(url, listen(id, []))).json.error?.code).toBe(-32602);
    const stream = await open(url, listen(9, {}));
    expect((await stream.next()).method).toBe('notifications/subscriptions/acknowledged');
  });

  it('can be had by 1,000 at once, and all hear the same', async () => {
    const server = library();
    const { url, served } = await serveHttp(server);
    const streams = await Promise.all(
      Array.from({ length: 1000 }, (_, id) => open(url, listen(id, { resourceSubscriptions: ['test://a'] }))),
    );
    for (const stream of streams) await stream.next();
    server.resourceUpdated('test://a');
    for (const [id, stream] of streams.entries()) {
      expect((await stream.next()).params).toEqual({ _meta: { [SUBSCRIPTION_ID]: id }, uri: 'test://a' });
    }
    expect(served.connections).toBe(1000);
    expect((await ask(url, modernCall('x', 'touch'))).status).toBe(200);
    await served.close();
    for (const stream of streams) {
      await stream.end();
      expect(stream.complete).toBe(true);
      expect(stream.messages.at(-1)).toMatchObject({ result: { resultType: 'complete' } });
    }
  });
});

it('calls beyond the limit are refused with a time to retry, and do not run (503)', async () => {
  const server = createServer({ name: 'busy', version: '1' });
  const release = gate();
  let running = 0;
  server.tool('hold', {}, async () => {
    running += 1;
    await release.promise;
    return 'done';
  });
  const { url } = await serveHttp(server, { maxRequests: 2 });
  const held = [1, 2].map((id) => ask(url, modernCall(id, 'hold')));
  await until('two at work', () => running === 2);
  const refused = await ask(url, modernCall(3, 'hold'));
  expect([refused.status, refused.headers['retry-after'], refused.json.id]).toEqual([503, '1', 3]);
  release.open();
  for (const answer of await Promise.all(held)) expect(answer.status).toBe(200);
  expect(running).toBe(2);
  expect((await ask(url, modernCall(4, 'hold'))).status).toBe(200);
});
