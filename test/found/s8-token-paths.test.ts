import { isMeantFor } from '@isthmus/gateway/internal/auth/audience.js';
import { createAuthenticate } from '@isthmus/gateway/internal/auth/create-authenticate.js';
import { kindProblem } from '@isthmus/gateway/internal/auth/jwt.js';
import { describe, expect, it } from 'vitest';
import { bearer, openAuthority } from '../../packages/gateway/test/support/auth.js';
import { type OpenOptions, openGateway } from '../../packages/gateway/test/support/open-gateway.js';
import { openFar, withTools } from '../../packages/gateway/test/support/upstream.js';
import { ask, modern } from '../../packages/sdk/test/support/http-server.js';

const GATEWAY = 'https://gw.example';
const PATHS = ['/mcp', '/mcp/a', '/servers/a/mcp', '/mcp/b', '/servers/b/mcp'];

async function opened(audience: readonly string[], options: OpenOptions = {}) {
  const authority = await openAuthority();
  const jwt = { jwksUrl: authority.jwksUrl, audience };
  const { authenticate } = createAuthenticate({ jwt });
  const [a, b] = [await openFar(withTools('one')), await openFar(withTools('one'))];
  const stateless = { stateless: true };
  const { at } = await openGateway([a.unit('a', stateless), b.unit('b', stateless)], {
    ...options,
    endpoint: { authenticate, ...options.endpoint },
  });
  const open = async (claims: Record<string, unknown>, path: string) =>
    ask(at(path), modern(1, 'tools/list', {}, { headers: bearer(await authority.token(claims)) }));
  return {
    /** The status at each path. */
    async statuses(aud: unknown) {
      const all = await Promise.all(PATHS.map(async (path) => (await open({ aud }, path)).status));
      return Object.fromEntries(PATHS.map((path, index) => [path, all[index]]));
    },
    open,
  };
}

const AUDIENCES = [GATEWAY, `${GATEWAY}/mcp`, `${GATEWAY}/mcp/a`, `${GATEWAY}/mcp/b`, 'weather-gateway'];
const ALL = { '/mcp': 200, '/mcp/a': 200, '/servers/a/mcp': 200, '/mcp/b': 200, '/servers/b/mcp': 200 };
const ONLY_A = { '/mcp': 401, '/mcp/a': 200, '/servers/a/mcp': 200, '/mcp/b': 401, '/servers/b/mcp': 401 };

describe('S8: a token whose audience is a URL of the gateway', () => {
  it('S8: opens that path and what is below it, and nothing else (AUTH-030)', async () => {
    const { statuses, open } = await opened(AUDIENCES);
    expect(await statuses(`${GATEWAY}/mcp/a`)).toEqual(ONLY_A);
    expect(await statuses([`${GATEWAY}/mcp/a`, 'https://other.example'])).toEqual(ONLY_A);
    expect(await statuses([`${GATEWAY}/mcp/a`, `${GATEWAY}/mcp/b`])).toEqual({ ...ALL, '/mcp': 401 });
    expect(await statuses(`${GATEWAY}/mcp`)).toEqual(ALL);
    const { headers } = await open({ aud: `${GATEWAY}/mcp/a` }, '/mcp/b');
    expect(headers['www-authenticate']).toBe(
      'Bearer error="invalid_token", error_description="The token is for another path of this server"',
    );
  });

  it('S8: opens everything where it is a name, or the root of the gateway', async () => {
    const { statuses } = await opened(AUDIENCES);
    expect(await statuses('weather-gateway')).toEqual(ALL);
    expect(await statuses(GATEWAY)).toEqual(ALL);
  });

  it('S8: is compared with the address behind a proxy where that is given', async () => {
    const { statuses } = await opened([`${GATEWAY}/tools/mcp/a`], {
      endpoint: {
        protectedResource: { authorizationServers: ['https://login.example'], resource: `${GATEWAY}/tools` },
      },
    });
    expect(await statuses(`${GATEWAY}/tools/mcp/a`)).toEqual(ONLY_A);
  });

  it('S8: does not open a path that only begins with the same letters, or is written otherwise', () => {
    const place = (own: string) => ({ own: [own], roots: ['/mcp', '/servers', '/api/mcp'] });
    expect(isMeantFor(['https://x/mcp/a'], place('/mcp/ab'))).toBe(false);
    expect(isMeantFor(['https://x/mcp/a/'], place('/mcp/a'))).toBe(true);
    expect(isMeantFor(['https://x/mcp/c++'], place('/mcp/c%2B%2B'))).toBe(true);
    expect(isMeantFor(['https://x/mcp/a/../b'], place('/mcp/a'))).toBe(false);
    expect(isMeantFor(['https://x/mcp/a'], place('/api/mcp'))).toBe(false);
    expect(isMeantFor(['https://api.example/v1'], place('/mcp/a'))).toBe(true);
    expect(isMeantFor([], place('/mcp/a'))).toBe(false);
  });
});

describe('S8: a token that is no access token', () => {
  it.each([
    ['an ID token with a nonce', { typ: 'JWT' }, { nonce: 'n' }, false],
    ['an ID token with at_hash', {}, { at_hash: 'h' }, false],
    ['an ID token that says so', {}, { typ: 'ID' }, false],
    ['a logout token', { typ: 'logout+jwt' }, {}, false],
    ['a DPoP proof', { typ: 'dpop+jwt' }, {}, false],
    ['an access token (RFC 9068)', { typ: 'at+jwt' }, { nonce: 'n' }, true],
    ['the same, written in full', { typ: 'application/AT+JWT' }, {}, true],
    ['a plain JWT', { typ: 'JWT' }, {}, true],
    ['one without a kind', {}, {}, true],
    ['one that calls itself a bearer token', { typ: 'JWT' }, { typ: 'Bearer', nonce: 'n' }, true],
  ])('S8: %s', (_what, header, payload, isGood) => {
    expect(kindProblem(header, payload) === undefined).toBe(isGood);
  });

  it('S8: is refused with 401, and told why', async () => {
    const { open } = await opened([GATEWAY]);
    const { status, headers } = await open({ aud: GATEWAY, nonce: 'n-0S6' }, '/mcp');
    expect([status, headers['www-authenticate']]).toEqual([
      401,
      'Bearer error="invalid_token", error_description="The token is an ID token; an access token is needed"',
    ]);
  });
});
