import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { createAuthenticate } from '../../src/auth/create-authenticate.js';
import { bearer, guarded } from '../support/auth.js';
import { publishedAuthority } from '../support/published-authority.js';

const RESOURCE = 'https://gw.example/mcp';

async function stage(more: object = {}) {
  const authority = await publishedAuthority();
  const clock = new FakeClock();
  const auth = { authServers: [{ issuer: authority.issuer, resource: RESOURCE, ...more }], clock };
  return { authority, clock, ...(await guarded(auth)) };
}

describe('an authorization server by its address alone', () => {
  it('is asked for its metadata and its keys, once each', async () => {
    const { authority, who } = await stage();
    const token = await authority.token({ aud: RESOURCE });
    const principal = `jwt:${authority.issuer}|ada`;
    expect([await who(bearer(token)), await who(bearer(token))]).toEqual([principal, principal]);
    expect(authority.log).toEqual(['GET /.well-known/oauth-authorization-server', 'GET /keys']);
  });

  it('AUTH-S-005: accepts tokens for the resource, and for no other', async () => {
    const { authority, who } = await stage();
    for (const aud of ['https://gw.example/other', 'https://gw.example.evil/mcp', 'mcp', undefined]) {
      expect(await who(bearer(await authority.token(aud === undefined ? {} : { aud })))).toEqual([
        401,
        'Bearer error="invalid_token", error_description="The claim aud does not fit"',
      ]);
    }
    expect(await who(bearer(await authority.token({ aud: ['x', `${RESOURCE}/`] })))).toBe(
      `jwt:${authority.issuer}|ada`,
    );
  });

  it('accepts only its own issuer, also where another one has signed with its key', async () => {
    const { authority, who } = await stage();
    const token = await authority.token({ aud: RESOURCE, iss: 'https://other.example' });
    expect(await who(bearer(token))).toEqual([401, 'Bearer error="invalid_token"']);
  });

  it('refuses ID tokens (G6)', async () => {
    const { authority, who } = await stage();
    const [status] = (await who(bearer(await authority.token({ aud: RESOURCE, nonce: 'n' })))) as unknown as [
      number,
    ];
    expect(status).toBe(401);
  });

  it('does not believe metadata that names another issuer (AUTH-009)', async () => {
    const { authority, who } = await stage();
    authority.publish({ issuer: 'https://evil.example' });
    const [status] = (await who(bearer(await authority.token({ aud: RESOURCE })))) as unknown as [number];
    expect(status).toBe(503);
  });

  it('is 503 while it is away, is asked at most every 5 s, and comes back', async () => {
    const { authority, who, clock, warnings } = await stage();
    authority.fail(500);
    const token = await authority.token({ aud: RESOURCE });
    expect(await who(bearer(token))).toEqual([503, undefined]);
    expect(await who(bearer(token))).toEqual([503, undefined]);
    expect(authority.log.length).toBe(1);
    authority.fail(undefined);
    clock.advance(5001);
    expect(await who(bearer(token))).toBe(`jwt:${authority.issuer}|ada`);
    expect(warnings.at(-1)).toBe(`${authority.issuer} can be read again`);
  });

  it('keeps what it knows during an outage', async () => {
    const { authority, who, clock } = await stage();
    const token = await authority.token({ aud: RESOURCE, exp: Math.floor(Date.now() / 1000) + 3600 });
    expect(await who(bearer(token))).toBe(`jwt:${authority.issuer}|ada`);
    authority.fail(500);
    clock.advance(601_000);
    // The keys are kept for ten minutes of real time.
    expect(await who(bearer(token))).toBe(`jwt:${authority.issuer}|ada`);
  });

  it('needs an audience', () => {
    expect(() => createAuthenticate({ authServers: [{ issuer: 'https://a.example' }] })).toThrow(
      'an authorization server needs an audience or a resource: tokens for other servers must not be accepted here',
    );
  });
});

it('G1: the verdict has scopes, the client, the end and the claims', async () => {
  const authority = await publishedAuthority();
  const { authenticate } = createAuthenticate({
    authServers: [{ issuer: authority.issuer, resource: RESOURCE }],
  });
  const exp = Math.floor(Date.now() / 1000) + 300;
  for (const [claim, id] of Object.entries({ client_id: 'a', azp: 'b', cid: 'c', appid: 'd' })) {
    const token = await authority.token({ aud: RESOURCE, exp, scp: ['one', 'two'], [claim]: id });
    const verdict = await authenticate({
      method: 'POST',
      target: '/mcp',
      header: (name) => (name === 'authorization' ? `Bearer ${token}` : undefined),
    });
    expect(verdict).toMatchObject({
      principal: `jwt:${authority.issuer}|ada`,
      scopes: ['one', 'two'],
      clientId: id,
      expiresAt: exp * 1000,
      claims: { sub: 'ada', aud: RESOURCE },
    });
  }
});
