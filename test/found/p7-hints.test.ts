import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { proxyOf } from '@isthmus/sdk/internal/transport/http-client/dispatch.js';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { isthmus } from '../../packages/cli/test/support/isthmus.js';
import { ask, modern, plainServer, serveHttp } from '../../packages/sdk/test/support/http-server.js';

afterEach(() => void vi.unstubAllEnvs());

const PROXY_NAMES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'];

/** Only these, whatever the environment of the run has. */
function stubProxies(values: Record<string, string>): void {
  for (const name of PROXY_NAMES) {
    vi.stubEnv(name, values[name] ?? '');
    vi.stubEnv(name.toLowerCase(), '');
  }
}

describe('what a failure on the way to a URL says', () => {
  it('P7: a self-signed certificate is named, with how to trust it, and not taken for a server that is away', async () => {
    stubProxies({});
    const server = createHttpsServer({ cert: pem('self-signed.pem'), key: pem('self-signed-key.pem') });
    const { code, stderr } = await isthmus('probe', `https://127.0.0.1:${await listening(server)}/mcp`);
    expect(code).toBe(3);
    expect(stderr).toContain(
      'its certificate is not trusted: self-signed certificate (DEPTH_ZERO_SELF_SIGNED_CERT)',
    );
    expect(stderr).toContain('NODE_EXTRA_CA_CERTS=FILE.pem');
    expect(stderr).not.toContain('Is the server running?');
  });

  it.each(['HTTP_PROXY', 'ALL_PROXY'])(
    'P7: a dead proxy of %s is named, with its variable',
    async (variable) => {
      const dead = await closedPort();
      const { url } = await serveHttp(plainServer());
      stubProxies({ [variable]: `http://user:secret@127.0.0.1:${dead}` });
      const { code, stderr } = await isthmus('probe', url);
      expect(code).toBe(3);
      expect(stderr).toContain(
        `Cannot connect to ${new URL(url).origin} through the proxy http://127.0.0.1:${dead} (${variable}): the proxy refused the connection`,
      );
      expect(stderr).toContain(`Is the proxy running? Without ${variable}, or with the host in NO_PROXY`);
      expect(stderr).not.toContain('secret');
    },
  );

  it('P7: ALL_PROXY is used, and NO_PROXY goes past it', async () => {
    const { url } = await serveHttp(plainServer());
    const tunnels: string[] = [];
    const port = await listening(tunnellingProxy(tunnels));
    stubProxies({ ALL_PROXY: `http://127.0.0.1:${port}` });
    expect((await isthmus('probe', url)).code).toBe(0);
    expect(tunnels.length).toBeGreaterThan(0);
    expect(new Set(tunnels)).toEqual(new Set([new URL(url).host]));
    tunnels.length = 0;
    stubProxies({ ALL_PROXY: `http://127.0.0.1:${port}`, NO_PROXY: '127.0.0.1' });
    expect((await isthmus('probe', url)).code).toBe(0);
    expect(tunnels).toEqual([]);
  });

  it('P7: a 403 for the Host names --allow-host, on both sides', async () => {
    stubProxies({});
    const { url } = await serveHttp(plainServer());
    const request = modern(1, 'tools/list');
    const refusal = await ask(url, {
      ...request,
      headers: { ...request.headers, host: 'tools.example:8080' },
    });
    expect(refusal.status).toBe(403);
    expect(refusal.json.error?.message).toBe(
      'The host tools.example:8080 is not served here; --allow-host (allowedHosts) adds a name',
    );
    for (const text of [refusal.text, 'Invalid Host: tools.example']) {
      const port = await listening(createServer((_request, response) => response.writeHead(403).end(text)));
      const { stderr } = await isthmus('probe', `http://127.0.0.1:${port}/mcp`);
      expect(stderr).toContain('start it with --allow-host tools.example');
      expect(stderr).not.toContain('Authorization');
    }
  });
});

describe('the proxy for a URL', () => {
  const secure = new URL('https://api.example.com/mcp');
  const plain = new URL('http://10.0.0.1:8080/mcp');
  const all = 'http://all:1';

  it.each([
    [
      'of the scheme before that for all',
      { HTTPS_PROXY: 'http://own:1', ALL_PROXY: all },
      secure,
      'HTTPS_PROXY',
    ],
    ['for all', { ALL_PROXY: all }, plain, 'ALL_PROXY'],
    ['in lower case first', { all_proxy: all, ALL_PROXY: 'http://x' }, plain, 'all_proxy'],
    ['of HTTP for HTTPS, where there is no other', { HTTP_PROXY: all }, secure, 'HTTP_PROXY'],
    [
      'none where the host is in NO_PROXY',
      { ALL_PROXY: all, NO_PROXY: 'x, .example.com' },
      secure,
      undefined,
    ],
    ['none where host and port are', { ALL_PROXY: all, NO_PROXY: '10.0.0.1:8080' }, plain, undefined],
    ['still there where another port is', { ALL_PROXY: all, NO_PROXY: '10.0.0.1:80' }, plain, 'ALL_PROXY'],
    ['none where NO_PROXY is *', { ALL_PROXY: all, NO_PROXY: '*' }, secure, undefined],
    [
      'none where an IPv6 address is in NO_PROXY',
      { ALL_PROXY: all, no_proxy: '[::1]' },
      new URL('http://[::1]:3/'),
      undefined,
    ],
    ['none in an empty environment', { ALL_PROXY: '' }, secure, undefined],
  ] as [string, Record<string, string>, URL, string | undefined][])(
    'P7: is the one %s',
    (_what, env, url, variable) => {
      expect(proxyOf(url, env)?.variable).toBe(variable);
    },
  );
});

function pem(name: string): string {
  return readFileSync(new URL(`certificates/${name}`, import.meta.url), 'utf8');
}

async function listening(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

/** A port that was free a moment ago. */
async function closedPort(): Promise<number> {
  const server = createTcpServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function tunnellingProxy(tunnels: string[]): Server {
  const proxy = createServer((_request, response) => response.writeHead(500).end());
  return proxy.on('connect', (request, client) => {
    tunnels.push(request.url!);
    const { hostname, port } = new URL(`http://${request.url}`);
    const upstream = connect(Number(port), hostname, () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    upstream.on('error', () => client.destroy());
    client.on('error', () => upstream.destroy());
    client.on('close', () => upstream.destroy());
  });
}
