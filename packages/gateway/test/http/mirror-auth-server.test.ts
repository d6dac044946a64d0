import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { createAuthenticate } from '../../src/auth/create-authenticate.js';
import { AuthServerMirror } from '../../src/http/mirror-auth-server.js';
import { publishedAuthority } from '../support/published-authority.js';
import { openHouse, tellsAll } from '../support/secured-gateway.js';

const PATH = '/.well-known/oauth-authorization-server';

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

  it('are told to come back while it is away, and it is asked once in 5 s, however many ask', async () => {
    const authority = await publishedAuthority();
    const clock = new FakeClock();
    const mirror = new AuthServerMirror(authority.issuer, clock);
    const get = () =>
      new Promise<[number, unknown]>((resolve) => {
        const respond = (status: number, headers: Record<string, string>) =>
          resolve([status, headers['retry-after'] ?? headers['location']]);
        mirror.answer(PATH, { method: 'GET', respond } as never);
      });
    authority.fail(500);
    for (let at = 0; at < 20; at += 1) expect(await get()).toEqual([503, '5']);
    // At both of its addresses.
    expect(authority.log).toHaveLength(2);
    authority.fail(undefined);
    expect(await get()).toEqual([503, '5']);
    clock.advance(5000);
    expect(await get()).toEqual([302, `${authority.issuer}${PATH}`]);
  });

  it('find nothing unless it is asked for', async () => {
    const { get } = await mirrored(false);
    expect((await get('/.well-known/oauth-authorization-server')).status).toBe(401);
  });
});
