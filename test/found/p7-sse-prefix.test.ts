import { once } from 'node:events';
import { createServer as createHttpServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { relativePath } from '@isthmus/sdk/internal/transport/http-server/sessions/sse-2024.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { plainServer, serveHttp } from '../../packages/sdk/test/support/http-server.js';
import { hasNginx, startNginx } from '../support/nginx.js';
import { connectV1 } from '../support/official-v1.js';

describe('HTTP with SSE (2024-11-05) behind a path prefix', () => {
  it('P7: works through a small proxy that strips the prefix', async () => {
    const { url } = await serveHttp(plainServer(), { sse: true });
    const proxy = await startProxy(new URL(url).port);
    expect(await echoThrough(`${proxy}/tools/sse`)).toEqual([{ type: 'text', text: 'hi' }]);
  });

  it('P7: works where the paths are deeper, through the same proxy', async () => {
    const sse = { path: '/old/events', messagePath: '/say/it' };
    const { url } = await serveHttp(plainServer(), { sse });
    const proxy = await startProxy(new URL(url).port);
    expect(await echoThrough(`${proxy}/tools/old/events`)).toEqual([{ type: 'text', text: 'hi' }]);
  });

  it.skipIf(!hasNginx)(
    'P7: works through a real nginx that strips the prefix (skipped without nginx)',
    async () => {
      const { url } = await serveHttp(plainServer(), { sse: true });
      const nginx = await startPrefix(new URL(url).port);
      expect(await echoThrough(`${nginx}/tools/sse`)).toEqual([{ type: 'text', text: 'hi' }]);
    },
  );

  it.each([
    ['/sse', '/message', 'message'],
    ['/mcp/a/sse', '/mcp/a/message', 'message'],
    ['/old/events', '/say/it', '../say/it'],
    ['/a/b/sse', '/a', '../../a'],
    ['/a/sse', '/a/', './'],
    ['/sse', '/', './'],
    ['/sse', '/sse', 'sse'],
    ['/mcp/a/sse/', '/mcp/a/message', '../message'],
    ['/mcp/c++/sse', '/mcp/c%2B%2B/message', '../c%2B%2B/message'],
    ['/sse', '/a:b', './a:b'],
  ])('P7: from %s, the place %s is called %s', (from, to, reference) => {
    expect(relativePath(from, to)).toBe(reference);
    expect(new URL(`${reference}?sessionId=x`, `http://h/prefix${from}`).href).toBe(
      `http://h/prefix${to}?sessionId=x`,
    );
  });
});

/** What the official v1 client gets from the echo tool at this address. */
async function echoThrough(address: string): Promise<unknown> {
  const { client } = await connectV1({ url: address, transport: 'sse' });
  onTestFinished(() => client.close());
  return (await client.callTool({ name: 'echo', arguments: { text: 'hi' } })).content;
}

/** Serves what is at the port under /tools. */
async function startProxy(port: string): Promise<string> {
  const proxy = createHttpServer((incoming, outgoing) => {
    if (!incoming.url?.startsWith('/tools/')) return outgoing.writeHead(404).end();
    const { method, headers } = incoming;
    const path = incoming.url.slice('/tools'.length);
    const onward = request(
      { port, path, method, headers: { ...headers, host: `127.0.0.1:${port}` } },
      (answer) => {
        outgoing.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(outgoing);
      },
    );
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

/** What docs/gateway.md shows for a prefix. */
async function startPrefix(upstream: string): Promise<string> {
  const nginx = await startNginx({
    server: `location /tools/ {
      proxy_pass http://127.0.0.1:${upstream}/;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      client_max_body_size 4m;
    }`,
  });
  onTestFinished(() => nginx.stop());
  return nginx.origin;
}
