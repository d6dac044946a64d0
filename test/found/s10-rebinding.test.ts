import { admit } from '@isthmus/sdk/internal/transport/http-server/admission/guard.js';
import type { HttpExchange } from '@isthmus/sdk/internal/transport/http-server/exchange/exchange.js';
import {
  type HttpEndpointOptions,
  resolveEndpoint,
} from '@isthmus/sdk/internal/transport/http-server/options.js';
import { describe, expect, it } from 'vitest';
import { serveFile } from '../../packages/gateway/test/support/serve-file.js';
import { ask, modern } from '../../packages/sdk/test/support/http-server.js';

/** What a request with these headers is told that came in at an address of the network. */
function statusOf(headers: Record<string, string>, options: HttpEndpointOptions, isLocal = false): number {
  const exchange = { isLocal, header: (name: string) => headers[name] } as unknown as HttpExchange;
  const admission = admit(exchange, resolveEndpoint(options));
  return admission.kind === 'refused' ? admission.status : 200;
}

const OPEN: HttpEndpointOptions = { ownNames: ['gateway.lan'] };

describe('S10: without authentication at an address of the network', () => {
  it.each([
    'evil.example',
    'evil.example:8080',
    '10.0.0.7.evil.example',
    '10.0.0.7@evil.example',
    '167772167',
    '',
  ])('S10: a page that has rebound its name is refused as the host %j', (host) => {
    expect(statusOf({ host, origin: `http://${host}` }, OPEN)).toBe(403);
    expect(statusOf({ host }, OPEN)).toBe(403);
  });

  it.each([
    '10.0.0.7',
    '10.0.0.7:8080',
    '[fe80::1]:8080',
    'localhost:8080',
    'app.localhost',
    'GATEWAY.lan:8080',
  ])('S10: the host %j is let in, and its own pages with it', (host) => {
    expect(statusOf({ host }, OPEN)).toBe(200);
    expect(statusOf({ host, origin: `http://${host}` }, OPEN)).toBe(200);
    expect(statusOf({ host, origin: 'http://evil.example' }, OPEN)).toBe(403);
  });

  it('S10: a request without a host is refused', () => {
    expect(statusOf({}, OPEN)).toBe(403);
  });

  it('S10: the names of --allow-host are let in, and nothing else', () => {
    const options = { ...OPEN, allowedHosts: ['mcp.example.com'] };
    expect(statusOf({ host: 'mcp.example.com' }, options)).toBe(200);
    expect(statusOf({ host: 'gateway.lan' }, options)).toBe(403);
  });

  it('S10: who has to show a key may use any name', () => {
    const options = { ...OPEN, authenticate: () => 'key:a' };
    expect(statusOf({ host: 'mcp.example.com' }, options)).toBe(200);
  });

  it('S10: a handler that another web server mounts leaves the names to that one', () => {
    expect(statusOf({ host: 'mcp.example.com' }, {})).toBe(200);
  });

  it('S10: serve --host 0.0.0.0 --allow-unauthenticated says how a name is added', async () => {
    const served = await serveFile({ mcpServers: {} }, '--host', '0.0.0.0', '--allow-unauthenticated');
    const url = `http://127.0.0.1:${new URL(served.origin).port}/mcp`;
    const request = modern(1, 'tools/list');
    const refused = await ask(url, { ...request, headers: { ...request.headers, host: 'evil.example' } });
    expect([refused.status, refused.json.error?.message]).toEqual([
      403,
      'The host evil.example is not served here; --allow-host (allowedHosts) adds a name',
    ]);
    expect((await ask(url, request)).status).toBe(200);
  });
});
