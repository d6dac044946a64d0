import { describe, expect, it } from 'vitest';
import { type Ask, ask, modern } from '../../../sdk/test/support/http-server.js';
import { openGateway } from '../support/open-gateway.js';
import { openFar, withTools } from '../support/upstream.js';

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

async function opened(resource: string | undefined, more: object = {}) {
  const far = await openFar(withTools('one'));
  const protectedResource = {
    authorizationServers: ['https://login.example'],
    ...(resource !== undefined && { resource }),
  };
  const endpoint = { authenticate: () => undefined, protectedResource, ...more };
  const gateway = await openGateway([far.unit('a'), far.unit('b')], { endpoint });
  return {
    ...gateway,
    /** What the challenge at a path names, and what the metadata says that is served at `at`. */
    async told(path: string, at: string, headers: Ask['headers'] = {}) {
      const again = modern(1, 'tools/list', {}, { headers: headers as Record<string, string> });
      const { status, headers: sent } = await ask(gateway.at(path), again);
      expect(status).toBe(401);
      const url = /resource_metadata="([^"]*)"/.exec(sent['www-authenticate'] ?? '')?.[1];
      const metadata = await ask(gateway.at(at), { method: 'GET', headers });
      return [url, metadata.status === 200 ? JSON.parse(metadata.text).resource : metadata.status];
    },
  };
}

describe('G7: behind a proxy that takes a part of the path away', () => {
  it('the metadata is at the path that clients know, and here', async () => {
    const { told } = await opened('https://gw.example/tools');
    const expected = [
      'https://gw.example/.well-known/oauth-protected-resource/tools/mcp/a',
      'https://gw.example/tools/mcp/a',
    ];
    expect(await told('/mcp/a', `${WELL_KNOWN}/tools/mcp/a`)).toEqual(expected);
    expect(await told('/mcp/a', `${WELL_KNOWN}/mcp/a`)).toEqual(expected);
    // S11: a server that does not exist looks the same.
    expect(await told('/mcp/zzz', `${WELL_KNOWN}/tools/mcp/zzz`)).toEqual(
      expected.map((each) => each.replace(/a$/, 'zzz')),
    );
  });

  it('a public URL that ends in the path of the address is that address', async () => {
    const { told } = await opened('https://gw.example/tools/mcp');
    expect(await told('/mcp', `${WELL_KNOWN}/tools/mcp`)).toEqual([
      'https://gw.example/.well-known/oauth-protected-resource/tools/mcp',
      'https://gw.example/tools/mcp',
    ]);
    expect(await told('/mcp/a', `${WELL_KNOWN}/tools/mcp/a`)).toEqual([
      'https://gw.example/.well-known/oauth-protected-resource/tools/mcp/a',
      'https://gw.example/tools/mcp/a',
    ]);
  });
});

describe('G7: X-Forwarded-Proto and X-Forwarded-Host', () => {
  const forwarded = {
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'public.example',
  };

  it('are not believed from anybody', async () => {
    const { told, origin } = await opened(undefined);
    expect(await told('/mcp/a', `${WELL_KNOWN}/mcp/a`, forwarded)).toEqual([
      `${origin}${WELL_KNOWN}/mcp/a`,
      `${origin}/mcp/a`,
    ]);
  });

  it.each([['loopback'], ['127.0.0.1'], ['127.0.0.0/8']])(
    'are believed from --trust-proxy %s',
    async (address) => {
      const { told } = await opened(undefined, { trustProxy: ['10.0.0.1', address] });
      expect(await told('/mcp/a', `${WELL_KNOWN}/mcp/a`, forwarded)).toEqual([
        'https://public.example/.well-known/oauth-protected-resource/mcp/a',
        'https://public.example/mcp/a',
      ]);
    },
  );

  it.each([
    [undefined, 'no-store'],
    ['https://gw.example/mcp', undefined],
  ])('are not kept for others by a cache in front (resource: %s)', async (resource, expected) => {
    const gateway = await opened(resource, { trustProxy: ['loopback'] });
    const { status, headers } = await ask(gateway.at(`${WELL_KNOWN}/mcp/a`), {
      method: 'GET',
      headers: forwarded,
    });
    expect([status, headers['cache-control']]).toEqual([200, expected]);
  });

  it('cannot write into the challenge', async () => {
    const { told, origin } = await opened(undefined, { trustProxy: ['loopback'] });
    const odd = { 'x-forwarded-host': 'a", error="x' };
    expect(await told('/mcp/a', `${WELL_KNOWN}/mcp/a`, odd)).toEqual([
      `${origin}${WELL_KNOWN}/mcp/a`,
      `${origin}/mcp/a`,
    ]);
  });

  it('are refused as an option where the address is none', async () => {
    await expect(opened(undefined, { trustProxy: ['proxy.example'] })).rejects.toThrow(
      'trustProxy takes IP addresses, networks such as 10.0.0.0/8, and loopback; got "proxy.example"',
    );
  });
});
