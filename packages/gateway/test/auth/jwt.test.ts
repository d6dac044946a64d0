import { createSecretKey } from 'node:crypto';
import { exportSPKI, importJWK, type CryptoKey as JoseKey, SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { createAuthenticate } from '../../src/auth/create-authenticate.js';
import type { JwtOptions } from '../../src/auth/jwt.js';
import { AUDIENCE, type Authority, bearer, guarded, ISSUER, openAuthority } from '../support/auth.js';

const jwtOf = ({ jwksUrl }: Authority): JwtOptions => ({ jwksUrl, audience: AUDIENCE, issuer: ISSUER });
const NOW = Math.floor(Date.now() / 1000);

describe('a token of an authorization server', () => {
  it('says who it is', async () => {
    const authority = await openAuthority();
    const { who, warnings } = await guarded({ jwt: jwtOf(authority) });
    expect(await who(bearer(await authority.token()))).toBe('jwt:https://login.example.com|ada');
    expect(await who(bearer(await authority.token({ sub: 'a|b' })))).toBe(
      'jwt:https://login.example.com|a|b',
    );
    expect(await who(bearer(await authority.token({ aud: ['other', AUDIENCE] })))).toBe(
      'jwt:https://login.example.com|ada',
    );
    expect(authority.asked()).toBe(1);
    expect(warnings).toEqual([]);
  });

  it('is for one of several audiences, of whoever has the keys, and named by a claim of your choice', async () => {
    const authority = await openAuthority();
    const jwt = { jwksUrl: authority.jwksUrl, audience: ['one', 'two'], principalClaim: 'email' };
    const { who } = await guarded({ jwt });
    const token = await authority.token({ aud: 'two', iss: 'https://a|b', email: 'ada@example.com' });
    // The issuer cannot move the border to the subject.
    expect(await who(bearer(token))).toBe('jwt:https://a%7Cb|ada@example.com');
    expect(await who(bearer(await authority.token({ aud: 'three', email: 'x' })))).toEqual([
      401,
      'Bearer error="invalid_token", error_description="The claim aud does not fit"',
    ]);
  });

  it.each([
    ['for another server', { aud: 'https://other.example.com' }, 'The claim aud does not fit'],
    ['for nobody in particular', { aud: undefined }, 'The claim aud does not fit'],
    ['of another issuer', { iss: 'https://evil.example.com' }, 'The claim iss does not fit'],
    ['that has expired', { exp: NOW - 60 }, 'The token has expired'],
    ['that never expires', { exp: undefined }, 'The claim exp does not fit'],
    ['of the future', { nbf: NOW + 120 }, 'The claim nbf does not fit'],
    ['of nobody', { sub: undefined }, 'The token has no subject (sub)'],
    ['of a name that is none', { sub: 'ada\r\nx-admin: 1' }, 'The token has no subject (sub)'],
    ['of something odd', { sub: 7 }, 'The token has no subject (sub)'],
  ])('%s is refused', async (_what, claims, why) => {
    const authority = await openAuthority();
    const { who } = await guarded({ jwt: jwtOf(authority) });
    expect(await who(bearer(await authority.token(claims)))).toEqual([
      401,
      `Bearer error="invalid_token", error_description="${why}"`,
    ]);
  });

  it('may be a little late, as clocks are', async () => {
    const authority = await openAuthority();
    const token = await authority.token({ exp: NOW - 20 });
    const lenient = await guarded({ jwt: jwtOf(authority) });
    expect(await lenient.who(bearer(token))).toBe('jwt:https://login.example.com|ada');
    const strict = await guarded({ jwt: { ...jwtOf(authority), clockTolerance: 0 } });
    expect(await strict.who(bearer(token))).toEqual([
      401,
      'Bearer error="invalid_token", error_description="The token has expired"',
    ]);
  });

  const CANNOT = [401, 'Bearer error="invalid_token", error_description="The token cannot be verified"'];

  it('without a signature is nothing, and nobody is asked for keys', async () => {
    const authority = await openAuthority();
    const { who } = await guarded({ jwt: jwtOf(authority) });
    const claims = { iss: ISSUER, aud: AUDIENCE, sub: 'ada', exp: NOW + 300 };
    const unsigned = new UnsecuredJWT(claims).encode();
    expect(await who(bearer(unsigned))).toEqual(CANNOT);
    const [, payload] = (await authority.token()).split('.');
    for (const alg of ['none', 'NONE', '']) {
      const header = Buffer.from(JSON.stringify({ alg, kid: 'one' })).toString('base64url');
      expect(await who(bearer(`${header}.${payload}.`))).toEqual(CANNOT);
    }
    expect(authority.asked()).toBe(0);
  });

  it('signed with the public key, as if it were a shared secret, is nothing', async () => {
    const authority = await openAuthority();
    const { who } = await guarded({ jwt: jwtOf(authority) });
    const key = (await importJWK(authority.publicKey, 'ES256', { extractable: true })) as JoseKey;
    const secrets = [await exportSPKI(key), JSON.stringify(authority.publicKey)];
    for (const secret of secrets) {
      const forged = await new SignJWT({ iss: ISSUER, aud: AUDIENCE, sub: 'ada', exp: NOW + 300 })
        .setProtectedHeader({ alg: 'HS256', kid: 'one' })
        .sign(createSecretKey(Buffer.from(secret)));
      expect(await who(bearer(forged))).toEqual(CANNOT);
    }
  });

  it('that was changed, or signed by somebody else under a known name, is nothing', async () => {
    const authority = await openAuthority();
    const other = await openAuthority();
    const { who } = await guarded({ jwt: jwtOf(authority) });
    expect(await who(bearer(await other.token()))).toEqual(CANNOT);
    const [header, , signature] = (await authority.token()).split('.');
    const [, payload] = (await other.token({ sub: 'root' })).split('.');
    expect(await who(bearer(`${header}.${payload}.${signature}`))).toEqual(CANNOT);
  });

  it.each(['a.b.c', '..', 'e30.e30.e30', 'a.b', 'a.b.c.d.e', '%.%.%'])('%s is none', async (text) => {
    const authority = await openAuthority();
    const { who } = await guarded({ jwt: jwtOf(authority) });
    expect(await who(bearer(text))).toEqual([401, expect.stringContaining('error="invalid_token"')]);
    expect(authority.asked()).toBe(0);
  });
});

describe('scopes', () => {
  it('that are missing are told, with 403', async () => {
    const authority = await openAuthority();
    const jwt = { ...jwtOf(authority), requiredScopes: ['mcp:read', 'mcp:write'] };
    const { who } = await guarded({ jwt });
    const short = [403, 'Bearer error="insufficient_scope", scope="mcp:read mcp:write"'];
    expect(await who({})).toEqual([401, 'Bearer realm="mcp", scope="mcp:read mcp:write"']);
    for (const scope of [undefined, '', 'mcp:read', 'mcp:read mcp:writes', 7]) {
      expect(await who(bearer(await authority.token({ scope })))).toEqual(short);
    }
  });

  it.each([
    [{ scope: 'x mcp:write mcp:read' }],
    [{ scope: ['mcp:write', 'mcp:read'] }],
    [{ scp: 'mcp:read mcp:write' }],
    [{ scp: ['mcp:read', 'mcp:write'] }],
  ])('are found in %j', async (claims) => {
    const authority = await openAuthority();
    const jwt = { ...jwtOf(authority), requiredScopes: ['mcp:read', 'mcp:write'] };
    const { who } = await guarded({ jwt });
    expect(await who(bearer(await authority.token(claims)))).toBe('jwt:https://login.example.com|ada');
  });
});

describe('the claim with the scopes of a token without scope and scp', () => {
  it.each([
    [{ permissions: ['mcp:read', 'mcp:write'] }, ['mcp:read', 'mcp:write']],
    [{ permissions: 'mcp:read mcp:write' }, ['mcp:read', 'mcp:write']],
    [{ permissions: ['mcp:read', 7, '', null] }, ['mcp:read']],
    [{ permissions: { 'mcp:read': true } }, []],
    [{}, []],
    // What the client may do counts, and not what the owner may do.
    [{ permissions: ['mcp:read', 'mcp:write'], scope: 'mcp:read' }, ['mcp:read']],
    [{ permissions: ['mcp:read', 'mcp:write'], scope: '' }, []],
    [{ permissions: ['mcp:write'], scp: ['mcp:read'] }, ['mcp:read']],
    [{ roles: ['mcp:write'] }, []],
  ])('%j has the scopes %j', async (claims, scopes) => {
    const authority = await openAuthority();
    const given = { scope: undefined, ...claims };
    const authorization = `Bearer ${await authority.token(given)}`;
    const { authenticate } = createAuthenticate({ jwt: { ...jwtOf(authority), scopeClaim: 'permissions' } });
    const header = (name: string) => (name === 'authorization' ? authorization : undefined);
    expect(await authenticate({ method: 'POST', target: '/mcp', header })).toMatchObject({ scopes });
  });
});

describe('several ways to tell who asks', () => {
  it('stand beside each other: the first that knows the caller wins', async () => {
    const authority = await openAuthority();
    const key = 'a.key.of-32-characters-with-dots';
    const { who } = await guarded({ apiKeys: [{ name: 'bob', key }], jwt: jwtOf(authority) });
    // It looks like a token, and is a key.
    expect(await who(bearer(key))).toBe('key:bob');
    expect(await who(bearer(await authority.token()))).toBe('jwt:https://login.example.com|ada');
    const wrong = 'Bearer error="invalid_token", error_description="The credential is not valid here"';
    expect(await who(bearer('neither'))).toEqual([401, wrong]);
    // Tokens of others belong into Authorization.
    expect(await who({ 'x-api-key': await authority.token() })).toEqual([401, wrong]);
    expect(await who({ 'x-api-key': 'stale', ...bearer(await authority.token()) })).toBe(
      'jwt:https://login.example.com|ada',
    );
  });
});

it.each([
  [{ jwksUrl: 'nowhere', audience: 'a' }, 'jwt.jwksUrl must be an https address, got nowhere'],
  [{ jwksUrl: 'file:///keys', audience: 'a' }, 'jwt.jwksUrl must be an https address, got file:///keys'],
  [
    { jwksUrl: 'https://a/keys', audience: [] },
    'jwt.audience is needed: tokens for other servers must not be accepted here',
  ],
  [
    { jwksUrl: 'https://a/keys', audience: 'a', clockTolerance: -1 },
    'jwt.clockTolerance is a number of seconds, got -1',
  ],
  [
    { jwksUrl: 'https://a/keys', audience: 'a', requiredScopes: ['two words'] },
    'jwt.requiredScopes: "two words" is not a scope',
  ],
  [
    // AUTH-S-010: it would be in challenges.
    { jwksUrl: 'https://a/keys', audience: 'a', requiredScopes: ['offline_access'] },
    'jwt.requiredScopes: offline_access is about refresh tokens, and opens nothing here: leave it out',
  ],
])('options that make no sense are refused at once: %j', (jwt, message) => {
  expect(() => createAuthenticate({ jwt })).toThrow(
    expect.objectContaining({ code: 'INVALID_OPTION', message }),
  );
});
