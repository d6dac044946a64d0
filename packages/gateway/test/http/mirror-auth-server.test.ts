import { describe, expect, it } from 'vitest';
import { createAuthenticate } from '../../src/auth/create-authenticate.js';
import { publishedAuthority } from '../support/published-authority.js';
import { openHouse, tellsAll } from '../support/secured-gateway.js';

async function mirrored(mirror: boolean) {
  const authority = await publishedAuthority();
  const { issuer } = authority;
  const { authenticate } = createAuthenticate({ authServers: [{ issuer, audience: 'app' }] });
  const house = await openHouse([tellsAll('a')], {
    endpoint: { authenticate, protectedResource: { authorizationServers: [issuer] } },
    ...(mirror && { mirrorAuthServer: issuer }),
  });
  const get = (path: string) => fetch(`${house.origin}${path}`, { redirect: 'manual' });
  return { authority, house, get };
}

describe('clients of 2025-03-26, which look for the authorization server at the gateway (G9)', () => {
  it('are sent to its metadata, whose issuer is its own', async () => {
    const { authority, house, get } = await mirrored(true);
    for (const path of [
      '/.well-known/oauth-authorization-server',
      '/.well-known/oauth-authorization-server/mcp',
    ]) {
      const { status, headers } = await get(path);
      expect([status, headers.get('location'), headers.get('access-control-allow-origin')]).toEqual([
        302,
        `${authority.issuer}/.well-known/oauth-authorization-server`,
        '*',
      ]);
    }
    const followed = await fetch(`${house.origin}/.well-known/oauth-authorization-server`);
    expect(((await followed.json()) as { issuer: string }).issuer).toBe(authority.issuer);
    // It was looked for once, and the client read it once.
    expect(authority.log.filter((line) => line.includes('/.well-known/'))).toHaveLength(2);
  });

  it('are told to come back while it is away', async () => {
    const { authority, get } = await mirrored(true);
    authority.fail(500);
    const { status, headers } = await get('/.well-known/oauth-authorization-server');
    expect([status, headers.get('retry-after')]).toEqual([503, '5']);
    authority.fail(undefined);
    expect((await get('/.well-known/oauth-authorization-server')).status).toBe(302);
  });

  it('find nothing unless it is asked for', async () => {
    const { get } = await mirrored(false);
    expect((await get('/.well-known/oauth-authorization-server')).status).toBe(401);
  });
});
