import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, request } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { relativePath } from '@isthmus/sdk/internal/transport/http-server/sessions/sse-2024.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { plainServer, serveHttp } from '../../packages/sdk/test/support/http-server.js';
import { connectV1 } from '../support/official-v1.js';

const hasNginx = spawnSync('nginx', ['-v']).error === undefined;

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
      const nginx = await startNginx(new URL(url).port);
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

async function startNginx(upstream: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-nginx-'));
  const port = await freePort();
  writeFileSync(join(folder, 'nginx.conf'), configuration(folder, port, upstream));
  const nginx = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  nginx.stderr.on('data', (text) => {
    errors += String(text);
  });
  onTestFinished(async () => {
    await ended(nginx);
    rmSync(folder, { recursive: true, force: true });
  });
  const address = `http://127.0.0.1:${port}`;
  await expect
    .poll(() =>
      fetch(`${address}/up`).then(
        ({ status }) => status,
        () => errors,
      ),
    )
    .toBe(204);
  return address;
}

/** What docs/gateway.md shows for a prefix, and what nginx needs to run without a system. */
function configuration(folder: string, port: number, upstream: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  return `daemon off;
master_process off;
pid ${folder}/nginx.pid;
events {}
http {
  access_log off;
  ${temporary.join('\n  ')}
  server {
    listen 127.0.0.1:${port};
    location = /up { return 204; }
    location /tools/ {
      proxy_pass http://127.0.0.1:${upstream}/;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      client_max_body_size 4m;
    }
  }
}
`;
}

async function freePort(): Promise<number> {
  const probe = createTcpServer();
  await once(probe.listen(0, '127.0.0.1'), 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
