import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Message } from '../../../../../test/support/messages.js';
import { createServer, type Server, serve } from '../../../src/index.js';
import { type HttpEndpointOptions, type HttpHandler, httpHandler } from '../../../src/transport/http.js';
import {
  type Ask,
  ask,
  gate,
  initialize,
  legacy,
  legacyCall,
  modern,
  modernCall,
  open,
  openSession,
  parseEvents,
  plainServer,
  until,
  within,
} from '../../support/http-server.js';

/** What we use of Express, which brings no types. */
type Express = RequestListener & {
  use(middleware: unknown): void;
  all(path: string, listener: (req: IncomingMessage & { body?: unknown }, res: ServerResponse) => void): void;
};
const express = createRequire(import.meta.url)('express') as (() => Express) & { json(): unknown };

async function handler(server: Server = plainServer(), options: HttpEndpointOptions = {}) {
  const endpoint = httpHandler(options);
  const served = await serve(server, endpoint);
  onTestFinished(() => served.close({ graceMs: 0 }));
  return { endpoint, served };
}

/** Somebody else's web server, until the test ends. */
async function webServer(listener: RequestListener): Promise<string> {
  const server = createHttpServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Ways in which the same endpoint is mounted; each gives the address of it. */
const MOUNTS: [string, (endpoint: HttpHandler) => Promise<string>][] = [
  ['node:http', async (endpoint) => `${await webServer((req, res) => endpoint.node(req, res))}/mcp`],
  [
    'Express with its body parser',
    async (endpoint) => {
      const app = express();
      app.use(express.json());
      app.all('/api/mcp', (req, res) => endpoint.node(req, res, req.body));
      return `${await webServer(app)}/api/mcp`;
    },
  ],
  [
    'Express without a body parser',
    async (endpoint) => {
      const app = express();
      app.all('/mcp', (req, res) => endpoint.node(req, res));
      return `${await webServer(app)}/mcp`;
    },
  ],
  [
    'Hono',
    async (endpoint) => {
      const app = new Hono();
      app.all('/mcp', (context) => endpoint.fetch(context.req.raw));
      return `${await webServer(getRequestListener(app.fetch))}/mcp`;
    },
  ],
];

describe.each(MOUNTS)('an endpoint mounted in %s', (_name, mount) => {
  it('answers modern requests, as JSON and as a stream', async () => {
    const { endpoint } = await handler();
    const url = await mount(endpoint);
    const plain = await ask(url, modernCall(1, 'echo', { text: 'grüße' }));
    expect([plain.status, plain.headers['content-type']]).toEqual([200, 'application/json']);
    expect(plain.json.result?.content).toEqual([{ type: 'text', text: 'grüße' }]);
    const stream = await ask(url, modernCall(2, 'steps', {}, { meta: { progressToken: 1 } }));
    expect(stream.headers['x-accel-buffering']).toBe('no');
    expect(stream.messages.map(({ method, id }) => method ?? id)).toEqual([
      'notifications/progress',
      'notifications/progress',
      2,
    ]);
  });

  it('answers with as much as there is to say', async () => {
    const { endpoint } = await handler();
    // More than is written at once, and less than Express takes.
    const text = 'x'.repeat(70_000) + 'ü'.repeat(10_000);
    const large = await ask(await mount(endpoint), modernCall(1, 'echo', { text }));
    expect(large.headers['content-length'] ?? String(Buffer.byteLength(large.text))).toBe(
      String(Buffer.byteLength(large.text)),
    );
    expect(large.json.result?.content).toEqual([{ type: 'text', text }]);
  });

  it('keeps the statuses of the ladder', async () => {
    const { endpoint } = await handler();
    const url = await mount(endpoint);
    const status = async (given: Ask) => (await ask(url, given)).status;
    expect(await status(modern(1, 'no/such'))).toBe(404);
    expect(await status(modern(1, 'tools/list', {}, { headers: { 'mcp-method': 'other' } }))).toBe(400);
    expect(await status(modern(1, 'tools/list', {}, { headers: { origin: 'https://evil.example' } }))).toBe(
      403,
    );
    expect(await status(modern(1, 'tools/list', {}, { headers: { accept: 'text/html' } }))).toBe(406);
    expect(await status({ method: 'PUT' })).toBe(405);
  });

  it('holds legacy sessions with their streams', async () => {
    const server = plainServer();
    server.resource('test://a', { name: 'a' }, () => 'a');
    const { endpoint } = await handler(server);
    const session = await openSession(await mount(endpoint));
    const standing = await session.get();
    await session.post({ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: 'test://a' } });
    server.resourceUpdated('test://a');
    expect(await standing.next()).toMatchObject({ method: 'notifications/resources/updated' });
    const { json } = await session.post(legacyCall(2, 'echo', { text: 'hi' }));
    expect(json.result?.content).toEqual([{ type: 'text', text: 'hi' }]);
    expect((await session.delete()).status).toBe(204);
    await standing.end();
  });

  it('cancels a modern call when the client hangs up (HTTP-024)', async () => {
    const server = createServer({ name: 'watched', version: '1' });
    const ended = gate<unknown>();
    server.tool('work', {}, async (_args, ctx) => {
      ctx.progress(1);
      ctx.signal.addEventListener('abort', () => ended.open(ctx.signal.reason));
      await ended.promise;
      return 'too late';
    });
    const { endpoint, served } = await handler(server);
    const stream = await open(
      await mount(endpoint),
      modernCall(1, 'work', {}, { meta: { progressToken: 1 } }),
    );
    await stream.next();
    stream.hangUp();
    expect(await within(15_000, 'cancellation', ended.promise)).toMatchObject({ code: 'CANCELLED' });
    await until('end', () => served.connections === 0);
  });

  it('refuses a body over its limit', async () => {
    const { endpoint } = await handler(plainServer(), { maxBodyBytes: 1000 });
    const { status } = await ask(await mount(endpoint), modernCall(1, 'echo', { text: 'x'.repeat(2000) }));
    expect(status).toBe(413);
  });

  it('ends its listens when it stops, and answers 503 afterwards', async () => {
    const { endpoint, served } = await handler();
    const url = await mount(endpoint);
    const listen = await open(
      url,
      modern(1, 'subscriptions/listen', { notifications: { toolsListChanged: true } }),
    );
    await listen.next();
    await within(15_000, 'close', served.close());
    expect(await listen.next()).toMatchObject({ id: 1, result: { resultType: 'complete' } });
    await listen.end();
    const refused = await ask(url, modern(2, 'server/discover'));
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
  });
});

describe('fetch', () => {
  const request = (given: Ask, init: RequestInit = {}) =>
    new Request('http://localhost/anything', {
      method: given.method ?? 'POST',
      headers: Object.entries(given.headers ?? {}).filter(([, value]) => value !== undefined) as [
        string,
        string,
      ][],
      ...(given.body !== undefined && { body: given.body as string }),
      ...init,
    });

  it('answers a Request with a Response, wherever it is mounted', async () => {
    const { endpoint } = await handler();
    const response = await endpoint.fetch(request(modernCall(1, 'echo', { text: 'hi' })));
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await response.json()).toMatchObject({ id: 1, result: { content: [{ text: 'hi' }] } });
  });

  it('gives a stream as it is written, in whole events', async () => {
    const server = createServer({ name: 'slow', version: '1' });
    const release = gate();
    server.tool('slow', {}, async (_args, ctx) => {
      ctx.progress(1);
      await release.promise;
      return 'done';
    });
    const { endpoint } = await handler(server);
    const response = await endpoint.fetch(request(modernCall(1, 'slow', {}, { meta: { progressToken: 1 } })));
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = String((await reader.read()).value);
    expect(parseEvents(text)).toHaveLength(1);
    release.open();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      text += value;
    }
    expect(parseEvents(text).map(({ data }) => (JSON.parse(data!) as Message).id)).toEqual([undefined, 1]);
  });

  it.each(['the signal of the request', 'the body of the response'])(
    'cancels the call when %s is given up',
    async (what) => {
      const server = createServer({ name: 'watched', version: '1' });
      const ended = gate<unknown>();
      server.tool('work', {}, async (_args, ctx) => {
        ctx.progress(1);
        ctx.signal.addEventListener('abort', () => ended.open(ctx.signal.reason));
        await ended.promise;
        return 'too late';
      });
      const { endpoint, served } = await handler(server);
      const abort = new AbortController();
      const given = modernCall(1, 'work', {}, { meta: { progressToken: 1 } });
      const response = await endpoint.fetch(request(given, { signal: abort.signal }));
      if (what === 'the signal of the request') abort.abort();
      else await response.body!.cancel();
      expect(await within(15_000, 'cancellation', ended.promise)).toMatchObject({ code: 'CANCELLED' });
      await until('end', () => served.connections === 0);
    },
  );

  it('cancels a call that has said nothing when the request is given up', async () => {
    const server = createServer({ name: 'watched', version: '1' });
    const started = gate();
    const ended = gate<unknown>();
    server.tool('work', {}, async (_args, ctx) => {
      ctx.signal.addEventListener('abort', () => ended.open(ctx.signal.reason));
      started.open();
      await ended.promise;
      return 'too late';
    });
    const { endpoint } = await handler(server);
    const abort = new AbortController();
    void endpoint.fetch(request(modernCall(1, 'work'), { signal: abort.signal })).catch(() => {});
    await started.promise;
    abort.abort();
    expect(await within(15_000, 'cancellation', ended.promise)).toMatchObject({ code: 'CANCELLED' });
  });

  it('refuses a page of another origin, and a host that is not among the allowed', async () => {
    const { endpoint } = await handler(plainServer(), { allowedHosts: ['mcp.example'] });
    const status = async (url: string, headers: Record<string, string> = {}) => {
      const given = modern(1, 'server/discover', {}, { headers });
      const init = {
        method: 'POST',
        headers: given.headers as Record<string, string>,
        body: given.body as string,
      };
      return (await endpoint.fetch(new Request(url, init))).status;
    };
    expect(await status('http://mcp.example/mcp')).toBe(200);
    expect(await status('http://evil.example/mcp')).toBe(403);
    expect(await status('http://mcp.example/mcp', { origin: 'https://evil.example' })).toBe(403);
    expect(await status('http://mcp.example/mcp', { origin: 'http://mcp.example' })).toBe(200);
  });

  it('answers without a body where there is none', async () => {
    const { endpoint } = await handler(plainServer(), { cors: { origins: ['https://app.example'] } });
    const preflight = await endpoint.fetch(
      request({
        method: 'OPTIONS',
        headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
      }),
    );
    expect([preflight.status, await preflight.text()]).toEqual([204, '']);
    const welcome = await endpoint.fetch(request(legacy(initialize(1))));
    const id = welcome.headers.get('mcp-session-id')!;
    const told = await endpoint.fetch(
      request(legacy({ jsonrpc: '2.0', method: 'notifications/initialized' }, { 'mcp-session-id': id })),
    );
    expect([told.status, await told.text()]).toEqual([202, '']);
  });

  it('keeps memory bounded when the response is not read', async () => {
    const server = createServer({ name: 'talkative', version: '1' });
    let steps = 0;
    server.tool('talk', {}, async (_args, ctx) => {
      for (; steps < 400; steps += 1) {
        ctx.progress(steps, 400, 'x'.repeat(64 * 1024));
        await new Promise((resolve) => setImmediate(resolve));
      }
      return 'done';
    });
    const { endpoint } = await handler(server);
    const before = process.memoryUsage().arrayBuffers;
    const response = await endpoint.fetch(request(modernCall(1, 'talk', {}, { meta: { progressToken: 1 } })));
    await until('all said', () => steps === 400);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 1024 * 1024);
    const text = await response.text();
    expect(text.length).toBeLessThan(4 * 1024 * 1024);
    expect((JSON.parse(parseEvents(text).at(-1)!.data!) as Message).id).toBe(1);
  });
});

it('an endpoint that is not served yet says so', async () => {
  const { status } = await httpHandler().fetch(
    new Request('http://localhost/mcp', {
      method: 'POST',
      headers: modern(1, 'server/discover').headers as Record<string, string>,
      body: modern(1, 'server/discover').body as string,
    }),
  );
  expect(status).toBe(503);
});

it('an endpoint is served once', async () => {
  const { endpoint } = await handler();
  await expect(serve(plainServer(), endpoint)).rejects.toMatchObject({ code: 'ADDRESS_UNAVAILABLE' });
});
