import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../../../test/support/fake-clock.js';
import type { Message } from '../../../../../../test/support/messages.js';
import { createServer } from '../../../../src/index.js';
import type { HttpListenOptions } from '../../../../src/transport/http.js';
import {
  type Answer,
  ask,
  gate,
  initialize,
  legacy,
  legacyCall,
  legacyRequest,
  modernCall,
  open,
  openSession,
  type Place,
  plainServer,
  type Stream,
  serveHttp,
  until,
} from '../../../support/http-server.js';

interface Old {
  readonly stream: Stream;
  readonly endpoint: string;
  post(message: unknown): Promise<Answer>;
}

async function connect(place: Place, path = '/sse', headers: Record<string, string> = {}): Promise<Old> {
  const stream = await open(new URL(path, place.url).href, {
    method: 'GET',
    headers: { accept: 'text/event-stream', ...headers },
  });
  expect(stream.status).toBe(200);
  await stream.until('endpoint', () => stream.events.length > 0);
  const [first] = stream.events;
  expect(first?.event).toBe('endpoint');
  const endpoint = new URL(first!.data!, new URL(path, place.url)).href;
  return { stream, endpoint, post: (message) => ask(endpoint, legacy(message, headers)) };
}

/** The messages, without the event that names the endpoint. */
function said({ stream }: Old) {
  return stream.events
    .filter(({ event }) => event === 'message')
    .map(({ data }) => JSON.parse(data!) as Message);
}

async function answer(old: Old, id: unknown) {
  await old.stream.until(`answer to ${String(id)}`, () => said(old).some((message) => message.id === id));
  return said(old).find((message) => message.id === id)!;
}

async function greeted(place: Place, path?: string, headers?: Record<string, string>): Promise<Old> {
  const old = await connect(place, path, headers);
  expect((await old.post(initialize('init', '2024-11-05'))).status).toBe(202);
  expect(await answer(old, 'init')).toMatchObject({ result: { protocolVersion: '2024-11-05' } });
  expect((await old.post({ jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202);
  return old;
}

const serveOld = (options: HttpListenOptions = {}, server = plainServer()) =>
  serveHttp(server, { sse: true, ...options });

describe('HTTP+SSE of 2024-11-05', () => {
  it('is there only when it is asked for, next to the endpoint (HTTP-074)', async () => {
    const without = await serveHttp(plainServer());
    const get = { method: 'GET', headers: { accept: 'text/event-stream' } };
    expect((await ask(new URL('/sse', without.url).href, get)).status).toBe(404);
    expect((await ask(new URL('/message', without.url).href, legacy({}))).status).toBe(404);
    const place = await serveOld();
    await greeted(place);
    expect((await ask(place.url, modernCall(1, 'echo', { text: 'x' }))).status).toBe(200);
    await openSession(place.url);
  });

  it('names the place to post to first; answers come on the stream, not with the POST (SSE-001, SSE-002, SSE-004)', async () => {
    const old = await greeted(await serveOld());
    const { status, text } = await old.post(legacyCall(1, 'echo', { text: 'hi' }));
    expect([status, text]).toEqual([202, '']);
    expect(await answer(old, 1)).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { content: [{ type: 'text', text: 'hi' }] },
    });
    expect(old.stream.headers['content-type']).toBe('text/event-stream');
  });

  it('may be somewhere else', async () => {
    const place = await serveOld({ sse: { path: '/old/events', messagePath: '/old/say' } });
    const old = await greeted(place, '/old/events');
    expect(new URL(old.endpoint).pathname).toBe('/old/say');
    const { status } = await ask(new URL('/sse', place.url).href, { method: 'GET' });
    expect(status).toBe(404);
  });

  it('carries progress, questions and their answers', async () => {
    const server = createServer({ name: 'curious', version: '1' });
    server.tool('ask', {}, async (_args, ctx) => {
      ctx.progress(1);
      const { content } = await ctx.sample({
        messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }],
        maxTokens: 5,
      });
      return JSON.stringify(content);
    });
    const place = await serveOld({}, server);
    const old = await connect(place);
    await old.post(initialize('init', '2024-11-05', { sampling: {} }));
    await answer(old, 'init');
    await old.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    await old.post(legacyCall(1, 'ask', {}, { progressToken: 't' }));
    const isQuestion = (message: Message) => message.method === 'sampling/createMessage';
    await old.stream.until('question', () => said(old).some(isQuestion));
    const question = said(old).find(isQuestion)!;
    await old.post({
      jsonrpc: '2.0',
      id: question.id,
      result: { role: 'assistant', model: 'm', content: { type: 'text', text: 'Hello' } },
    });
    expect((await answer(old, 1)).result?.content[0]?.text).toBe('{"type":"text","text":"Hello"}');
    expect(said(old).map((message) => message.method ?? message.id)).toEqual([
      'init',
      'notifications/progress',
      'sampling/createMessage',
      1,
    ]);
  });

  it('never crosses two clients with the same ids', async () => {
    const place = await serveOld();
    const clients = await Promise.all(Array.from({ length: 20 }, () => greeted(place)));
    await Promise.all(clients.map((old, n) => old.post(legacyCall(1, 'echo', { text: `n${n}` }))));
    for (const [n, old] of clients.entries()) {
      expect((await answer(old, 1)).result?.content[0]?.text).toBe(`n${n}`);
      expect(said(old)).toHaveLength(2);
    }
  });

  it('answers bad messages on the stream or refuses them, and goes on', async () => {
    const old = await greeted(await serveOld({ maxBodyBytes: 1000 }));
    const bad = await ask(old.endpoint, { body: '{"json', headers: { 'content-type': 'application/json' } });
    expect([202, 400]).toContain(bad.status);
    const wrongType = await ask(old.endpoint, { body: '{}', headers: { 'content-type': 'text/plain' } });
    expect(wrongType.status).toBe(415);
    expect((await old.post(legacyCall(5, 'echo', { text: 'x'.repeat(2000) }))).status).toBe(413);
    await old.post(legacyRequest(6, 'ping'));
    expect((await answer(old, 6)).result).toEqual({});
  });

  it('has one method for each place (405)', async () => {
    const place = await serveOld();
    const old = await greeted(place);
    const sse = await ask(new URL('/sse', place.url).href, legacy(initialize(1)));
    expect([sse.status, sse.headers.allow]).toEqual([405, 'GET']);
    const message = await ask(old.endpoint, { method: 'GET' });
    expect([message.status, message.headers.allow]).toEqual([405, 'POST']);
  });

  it('knows no strangers: an unknown or missing session is 404', async () => {
    const place = await serveOld();
    const message = new URL('/message', place.url).href;
    expect((await ask(message, legacy(legacyRequest(1, 'ping')))).status).toBe(404);
    expect((await ask(`${message}?sessionId=nobody`, legacy(legacyRequest(1, 'ping')))).status).toBe(404);
  });

  it('belongs to the principal that opened it (SESS-012)', async () => {
    const place = await serveOld({ authenticate: (request) => request.header('authorization') });
    const old = await greeted(place, '/sse', { authorization: 'ada' });
    const stolen = (headers: Record<string, string>) =>
      ask(old.endpoint, legacy(legacyCall(1, 'echo', { text: 'x' }), headers));
    expect((await stolen({ authorization: 'bob' })).status).toBe(404);
    expect((await stolen({})).status).toBe(401);
    expect((await old.post(legacyRequest(2, 'ping'))).status).toBe(202);
    await answer(old, 2);
    expect(said(old)).toHaveLength(2);
  });

  it('ends with its stream: running calls are cancelled, and its path is gone', async () => {
    const server = plainServer();
    const started = gate();
    const ended = gate();
    server.tool('work', {}, async (_args, ctx) => {
      ctx.signal.addEventListener('abort', () => ended.open());
      started.open();
      await ended.promise;
      return 'too late';
    });
    const place = await serveOld({}, server);
    const old = await greeted(place);
    await old.post(legacyCall(1, 'work'));
    await started.promise;
    old.stream.hangUp();
    await ended.promise;
    await until('end', () => place.served.connections === 0);
    expect((await old.post(legacyRequest(2, 'ping'))).status).toBe(404);
  });

  it('shows signs of life, has a limit, and ends when the server stops', async () => {
    const clock = new FakeClock();
    const place = await serveOld({ clock, keepAliveMs: 1000, maxSessions: 1 });
    const old = await greeted(place);
    clock.advance(2000);
    await old.stream.until('comment', () => old.stream.events.some(({ comment }) => comment !== undefined));
    const refused = await ask(new URL('/sse', place.url).href, { method: 'GET' });
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
    await place.served.close();
    await old.stream.end();
    expect(old.stream.complete).toBe(true);
  });

  it('is not offered by a server of the modern era only', async () => {
    const place = await serveHttp(plainServer(), { sse: true }, { eras: ['modern'] });
    const { status } = await ask(new URL('/sse', place.url).href, { method: 'DELETE' });
    expect([404, 405]).toContain(status);
    const stream = await open(new URL('/sse', place.url).href, {
      method: 'GET',
      headers: { accept: 'text/event-stream' },
    });
    expect([404, 405]).toContain(stream.status);
  });
});
