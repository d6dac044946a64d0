import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
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
    expect(await who(bearer(token))).toEqual([
      401,
      'Bearer error="invalid_token", error_description="The credential is not valid here"',
    ]);
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

  it.each([
    ['http://login.example/keys', 'http://login.example is neither https nor a loopback address'],
    ['ftp://127.0.0.1/keys', 'ftp://127.0.0.1 is neither https nor a loopback address'],
    ['not a URL', 'it is not a URL'],
  ])('is 503 where its keys would come from %s: they could be those of anyone', async (jwks_uri, why) => {
    const { authority, who, warnings, clock } = await stage();
    const token = await authority.token({ aud: RESOURCE });
    authority.publish({ jwks_uri });
    expect(await who(bearer(token))).toEqual([503, undefined]);
    expect(warnings).toEqual([
      `The jwks_uri of ${authority.issuer} cannot be used: ${why}: its tokens are refused until it can be read`,
    ]);
    authority.publish({});
    clock.advance(5000);
    expect(await who(bearer(token))).toBe(`jwt:${authority.issuer}|ada`);
  });

  it('is 503 while it is away, also where its name was given without the slash at its end', async () => {
    const authority = await publishedAuthority();
    authority.publish({ issuer: `${authority.issuer}/` });
    const { who } = await guarded({ authServers: [{ issuer: authority.issuer, resource: RESOURCE }] });
    const token = await authority.token({ aud: RESOURCE, iss: `${authority.issuer}/` });
    authority.fail(500);
    expect(await who(bearer(token))).toEqual([503, undefined]);
  });

  it('is asked for its keys through the proxy that it is asked through', async () => {
    const { authority, clock } = await stage();
    const asked: string[] = [];
    const proxy = createServer();
    // A proxy that leads nowhere: what counts is who asks it.
    proxy.on('connect', (request, socket) => {
      asked.push(String(request.url));
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    onTestFinished(() => {
      vi.unstubAllEnvs();
      proxy.close();
    });
    vi.stubEnv('https_proxy', `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
    authority.publish({ jwks_uri: 'https://keys.example/keys' });
    const { who } = await guarded({
      authServers: [{ issuer: authority.issuer, resource: RESOURCE }],
      clock,
    });
    expect(await who(bearer(await authority.token({ aud: RESOURCE })))).toEqual([503, undefined]);
    expect(asked).toEqual(['keys.example:443']);
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

describe('an authorization server that answers with anything', () => {
  const HOSTILE: Record<string, (response: ServerResponse) => void> = {
    'an answer without end': (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = () => {
        while (!response.destroyed && response.write(' '.repeat(64 * 1024)));
      };
      response.on('drain', more).on('error', () => {});
      more();
    },
    'a redirect to another address of the network': (response) =>
      response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end(),
    'headers without end': (response) =>
      response.writeHead(200, { 'x-a': 'a'.repeat(100_000) }).end('{"keys":[],"active":true}'),
    'something that is not JSON': (response) => response.writeHead(200).end('<html>'),
  };

  it.each(Object.keys(HOSTILE))('lets nobody in with %s, and keeps no caller with a key out', async (how) => {
    const server = createServer((request, response) => {
      request.resume();
      HOSTILE[how]!(response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const authority = await publishedAuthority();
    authority.publish({ jwks_uri: `${origin}/keys`, introspection_endpoint: `${origin}/introspect` });
    const introspection = { clientId: 'gateway', clientSecret: 'secret' };
    const apiKeys = [{ name: 'ci', key: 'a-key-of-more-than-16-characters' }];
    for (const issuer of [origin, authority.issuer]) {
      const authServers = [{ issuer, resource: RESOURCE, introspection }];
      const { who } = await guarded({ authServers, apiKeys });
      const jwt = await authority.token({ aud: RESOURCE, iss: issuer });
      expect(await Promise.all([who(bearer(jwt)), who(bearer('opaque'))])).toEqual([
        [503, undefined],
        [503, undefined],
      ]);
      expect(await who({ 'x-api-key': apiKeys[0]!.key })).toBe('key:ci');
    }
  });
});

describe('a JWT that does not say of which kind it is (G6)', () => {
  const refused = (why: string) => [401, `Bearer error="invalid_token", error_description="${why}"`];

  it('is refused unless a claim says that it gives access: it may be an ID token for a client that is an audience', async () => {
    const authority = await publishedAuthority();
    const { who } = await guarded({ authServers: [{ issuer: authority.issuer, audience: 'app-1' }] });
    const idToken = { aud: 'app-1', azp: 'app-1', client_id: undefined, roles: ['admin'], name: 'Ada' };
    expect(await who(bearer(await authority.token(idToken)))).toEqual(
      refused('Nothing in the token says that it is an access token'),
    );
    expect(await who(bearer(await authority.token(idToken, { typ: 'at+jwt' })))).toContain('|ada');
    for (const claim of ['scope', 'scp', 'client_id', 'cid', 'appid', 'azpacr', 'idtyp']) {
      expect(await who(bearer(await authority.token({ ...idToken, [claim]: 'x' })))).toContain('|ada');
    }
  });

  it('is refused where only one type is accepted (--jwt-type)', async () => {
    const authority = await publishedAuthority();
    const server = { issuer: authority.issuer, audience: 'app-1', requireType: 'at+jwt' };
    const { who } = await guarded({ authServers: [server] });
    const why = refused('The token is not of the type that is needed');
    expect(await who(bearer(await authority.token({ aud: 'app-1' })))).toEqual(why);
    expect(await who(bearer(await authority.token({ aud: 'app-1' }, { typ: 'JWT' })))).toEqual(why);
    const typed = await authority.token({ aud: 'app-1' }, { typ: 'application/AT+JWT' });
    expect(await who(bearer(typed))).toContain('|ada');
  });
});

it('the same subject at two issuers is two callers', async () => {
  const [one, two] = [await publishedAuthority(), await publishedAuthority()];
  const servers = [one, two].map(({ issuer }) => ({ issuer, audience: 'app-1' }));
  const { who } = await guarded({ authServers: servers });
  const tokens = [await one.token({ aud: 'app-1' }), await two.token({ aud: 'app-1' })];
  const callers = [await who(bearer(tokens[0]!)), await who(bearer(tokens[1]!))];
  expect(callers).toEqual([`jwt:${one.issuer}|ada`, `jwt:${two.issuer}|ada`]);
  // A token that names the other issuer is verified with the keys of that one.
  const foreign = await two.token({ aud: 'app-1', iss: one.issuer });
  expect(await who(bearer(foreign))).toEqual([401, expect.stringContaining('cannot be verified')]);
});

it('G1: the verdict has scopes, the client, the end and the claims', async () => {
  const authority = await publishedAuthority();
  const { authenticate } = createAuthenticate({
    authServers: [{ issuer: authority.issuer, resource: RESOURCE }],
  });
  const exp = Math.floor(Date.now() / 1000) + 300;
  for (const [claim, id] of Object.entries({ client_id: 'a', azp: 'b', cid: 'c', appid: 'd' })) {
    const token = await authority.token({
      aud: RESOURCE,
      exp,
      scp: ['one', 'two'],
      client_id: undefined,
      [claim]: id,
    });
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
